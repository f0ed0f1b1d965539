# SPDX-License-Identifier: BSD-3-Clause
"""links.py against a site of its own: nothing but an honest "not there" may fail."""

import http.server
import json
import threading
import time

import pytest

import links


class Site(http.server.BaseHTTPRequestHandler):
    """Answers /NUMBER with that status. Its root is a page, but on a mirror."""

    page = True

    def do_GET(self):
        if self.path == "/slow":
            time.sleep(3)
        if self.path == "/moved":
            self.send_response(301)
            self.send_header("Location", "/200")
        elif self.path == "/":
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8" if self.page else "text/plain")
        else:
            self.send_response(int(self.path[1:]) if self.path[1:].isdigit() else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def site(monkeypatch):
    monkeypatch.setattr(Site, "page", True)
    monkeypatch.setattr(links, "PATIENCE", 1)
    monkeypatch.setenv("no_proxy", "*")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def checked(site, tmp_path, *paths, fresh=False):
    return links.check({f"{site}/{path}": "page.md" for path in paths}, tmp_path / "deep" / "links.json", fresh)


@pytest.mark.parametrize("path", ["404", "410"])
def test_what_is_gone_is_named(site, tmp_path, capsys, path):
    assert checked(site, tmp_path, "200", path) == 1
    assert f"gone     {site}/{path} (page.md): answer {path}\n" in capsys.readouterr().out


@pytest.mark.parametrize("path", ["401", "403", "429", "500", "503", "slow"])
def test_what_may_be_there_tomorrow_does_not_fail(site, tmp_path, capsys, path):
    began = time.monotonic()
    assert checked(site, tmp_path, "200", "moved", path) == 0
    assert time.monotonic() - began < 2.5, "it waited for a slow one"
    said = capsys.readouterr().out
    assert f"unknown  {site}/{path}" in said and f"here     {site}/moved" in said and "links: 2 of 3 are there" in said


def test_what_is_no_address_is_gone(tmp_path, capsys):
    assert links.check({"http://[bad/": "page.md"}, tmp_path / "links.json", False) == 1
    assert "gone     http://[bad/ (page.md): no address" in capsys.readouterr().out


def test_a_mirror_is_not_believed(site, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Site, "page", False)
    assert checked(site, tmp_path, "404") == links.SKIPPED
    assert "not that site" in capsys.readouterr().out


def test_without_a_network_it_is_skipped(tmp_path, capsys):
    began = time.monotonic()
    wanted = {"http://no-such-host.invalid/": "page.md", "http://127.0.0.1:9/": "page.md"}
    assert links.check(wanted, tmp_path / "links.json", False) == links.SKIPPED
    assert time.monotonic() - began < links.PATIENCE + 1
    assert "skipped" in capsys.readouterr().out


def test_what_was_seen_is_not_asked_again_for_a_week(site, tmp_path, capsys):
    cache = tmp_path / "deep" / "links.json"
    assert checked(site, tmp_path, "200") == 0
    cache.write_text(json.dumps(dict.fromkeys([f"{site}/404"], time.time() - 3600)))
    assert checked(site, tmp_path, "404") == 0
    assert checked(site, tmp_path, "404", fresh=True) == 1
    cache.write_text(json.dumps({f"{site}/404": time.time() - links.WEEK - 60}))
    assert checked(site, tmp_path, "404") == 1
    for broken in ("", "[1]", '{"a": "b"}'):
        cache.write_text(broken)
        assert checked(site, tmp_path, "200") == 0


def test_links_are_found():
    found = links.links()
    assert {"https://semver.org", "https://apt.llvm.org", "https://pypi.org/project/talp-pages/"} <= set(found)
    assert found["https://semver.org"] == "CHANGELOG.md"
