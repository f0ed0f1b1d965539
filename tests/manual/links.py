# SPDX-License-Identifier: BSD-3-Clause
"""links.py [--fresh] CACHE: links of the manual and of the sources to other places, all at once. Only an answer that a
page is not there fails; a site that does not answer in time, or refuses, may do so tomorrow. Ends with 77
(skipped) where no place could be asked. What was found is kept in CACHE for a week."""

from __future__ import annotations

import argparse
import json
import re
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from manual import PAGES, ROOT

WEEK = 7 * 24 * 3600
PATIENCE = 5  # s, for all
GONE = (404, 410)
SKIPPED = 77


def links() -> dict[str, str]:
    """Each link, with a file that has it."""
    files = [*PAGES, ROOT / "CHANGELOG.md", ROOT / "tools" / "setup.sh"]
    for folder in ("include", "fortran", "packaging/spack"):
        files += [path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".h", ".hpp", ".f90", ".py")]
    found: dict[str, str] = {}
    for file in files:
        for link in re.findall(r"https?://[^\s<>\"'`)\]]+", file.read_text()):
            found.setdefault(link.rstrip(".,;:"), str(file.relative_to(ROOT)))
    return found


def status(link: str) -> tuple[int, str]:
    """What the place answers, and the kind of page; 0 and the reason where there is no answer; 404 for what is no
    address."""
    try:
        request = urllib.request.Request(link, headers={"User-Agent": "Mozilla/5.0 (check of links)",
                                                        "Accept": "text/html,*/*"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as page:
            return page.status, page.headers.get_content_type()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.headers.get_content_type()
    except ValueError:
        return 404, "no address"
    except OSError as problem:  # urllib's own are, too
        return 0, str(getattr(problem, "reason", problem))


def look(link: str) -> tuple[str, str]:
    """here, gone, or unknown; and why."""
    code, kind = status(link)
    if kind == "no address":
        return "gone", kind
    if code in GONE:
        # A mirror or a proxy may stand where the site is thought to be: a site has a page at its root.
        root = urllib.parse.urlunsplit((*urllib.parse.urlsplit(link)[:2], "/", "", ""))
        if status(root) == (200, "text/html"):
            return "gone", f"answer {code}"
        return "unknown", f"answer {code} of something that is not that site"
    return ("here", f"answer {code}") if 200 <= code < 300 else ("unknown", f"answer {code}" if code else kind)


def look_at_all(asked: list[str]) -> dict[str, tuple[str, str]]:
    """All at the same time, and not longer than that. A name server may take longer than any time limit."""
    found = {link: ("unknown", f"no answer in {PATIENCE} s") for link in asked}
    lock = threading.Lock()

    def ask(link: str) -> None:
        what = look(link)
        with lock:
            found[link] = what

    threads = [threading.Thread(target=ask, args=(link,), daemon=True) for link in asked]
    for thread in threads:
        thread.start()
    end = time.monotonic() + PATIENCE
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    with lock:
        return dict(found)


def remembered(cache: Path) -> dict[str, float]:
    """When each link was seen last, in this week."""
    try:
        seen = json.loads(cache.read_text())
        return {link: when for link, when in seen.items() if time.time() - when < WEEK}
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


def check(wanted: dict[str, str], cache: Path, fresh: bool) -> int:
    seen = {} if fresh else remembered(cache)
    found = look_at_all([link for link in wanted if link not in seen])
    for link, (what, why) in sorted(found.items()):
        print(f"{what:8} {link} ({wanted[link]}): {why}")
    now = time.time()
    seen |= {link: now for link, (what, _) in found.items() if what == "here"}
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text(json.dumps(seen, indent=1))
    gone = [link for link, (what, _) in found.items() if what == "gone"]
    if gone:
        print(f"links: {len(gone)} of {len(wanted)} lead nowhere: those that are gone above; mend them, or take them "
              "out")
        return 1
    known = sum(link in seen for link in wanted)
    if wanted and known == 0:
        print("links: skipped: no place could be asked: is there a network?")
        return SKIPPED
    print(f"links: {known} of {len(wanted)} are there, {len(wanted) - len(found)} of them seen in the last week")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--fresh", action="store_true", help="forget what was found before")
    given = parser.parse_args()
    return check(links(), given.cache, given.fresh)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.exit(code)
