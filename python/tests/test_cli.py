# SPDX-License-Identifier: BSD-3-Clause
"""`python3 -m steelyard`, as `steelyard report` runs it."""

import json
import os
import pty
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import synthetic
from steelyard import __main__ as entry
from steelyard import cli

PACKAGE = Path(cli.__file__).parent


def steelyard(*words, **options):
    return subprocess.run([sys.executable, PACKAGE, *words], capture_output=True, text=True, **options)


def test_writes_all_that_is_asked_for(example, tmp_path):
    pytest.importorskip("perfetto")
    wanted = {"--html": "a.html", "--perfetto": "a.pftrace", "--paraver": "a.prv", "--talp": "a.json"}
    done = steelyard(example, *(f"{option}={file}" for option, file in wanted.items()), cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == ""
    assert {*wanted.values(), "a.pcf", "a.row"} == set(os.listdir(tmp_path))
    assert len(done.stdout.splitlines()) == 6 and "steelyard: wrote a.html (" in done.stdout


def limited(size):
    """Files of this process are at most that many bytes long, as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("option, limit", [("--html", 4096), ("--paraver", 64), ("--talp", 64)])
@pytest.mark.parametrize("before", [None, "an older page"])
def test_a_full_disk_leaves_no_part_of_a_file(example, tmp_path, option, limit, before):
    if before is not None:
        (tmp_path / "out").write_text(before)
    done = steelyard(example, f"{option}=out", cwd=tmp_path, preexec_fn=limited(limit))
    assert done.returncode == 1 and "cannot write out: File too large; name a file elsewhere" in done.stderr
    assert os.listdir(tmp_path) == ([] if before is None else ["out"])
    assert before is None or (tmp_path / "out").read_text() == before


def test_a_link_stays_and_a_pipe_is_written_to(example, tmp_path):
    (tmp_path / "link.json").symlink_to("file.json")
    assert steelyard(example, "--talp=link.json", cwd=tmp_path).returncode == 0
    assert (tmp_path / "link.json").is_symlink() and json.loads((tmp_path / "file.json").read_text())
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "real.prv").touch(0o600)
    (tmp_path / "link.prv").symlink_to("elsewhere/real.prv")
    assert steelyard(example, "--paraver=link.prv", cwd=tmp_path).returncode == 0
    assert (tmp_path / "link.prv").is_symlink() and (tmp_path / "link.pcf").is_file()
    assert (tmp_path / "elsewhere" / "real.prv").stat().st_mode & 0o777 == 0o600
    assert json.loads(steelyard(example, "--talp=/dev/stderr").stderr)


def test_compares(example, older, tmp_path):
    done = steelyard(example, older)
    assert done.returncode == 0 and done.stdout.startswith("No statistically significant difference.")
    assert steelyard(example, older, "--html", tmp_path / "both.html").returncode == 0
    assert (tmp_path / "both.html").stat().st_size < 60_000


def test_a_reader_that_has_read_enough_is_no_error(example, older):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, PACKAGE, example, older]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def test_texts_of_a_record_do_not_control_the_terminal(example, older, tmp_path):
    record = json.loads(Path(example).read_text())
    record["command"] = ["./a\x1b[2J\x9bpp"]
    record["remarks"] = ["rank 1 \x1b]0;title\x07"]
    evil = tmp_path / "evil\x1b[2J.json"
    evil.write_text(json.dumps(record))
    alone, both = steelyard(evil), steelyard(evil, older)
    assert alone.returncode == 0 and "rank 1 ?]0;title?" in alone.stdout
    assert both.returncode == 0 and "different commands: ./a?[2J?pp and" in both.stdout and "evil?[2J" in both.stdout
    for done in (alone, both, steelyard(tmp_path / "no\x1b[2Jne.json")):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", done.stdout + done.stderr)


@pytest.mark.parametrize(
    "words, status, said",
    [
        (["none.json"], 1, "cannot read the run record none.json: No such file or directory; `steelyard run` writes"),
        (["EXAMPLE", "--html=/nowhere/a.html"], 1, "cannot write /nowhere/a.html: No such file or directory; name"),
        (["EXAMPLE", "--html=/dev/full"], 1, "steelyard: cannot write /dev/full: No space left"),
        (["EXAMPLE", "EXAMPLE", "--talp=x"], 2, "two records can only be compared"),
        (["EXAMPLE", "EXAMPLE", "EXAMPLE"], 2, "two records can only be compared"),
        ([str(PACKAGE / "cli.py")], 1, "cli.py:\n  not JSON, or cut off"),
    ],
)
def test_says_what_is_wrong(example, tmp_path, words, status, said):
    done = steelyard(*(str(example) if word == "EXAMPLE" else word for word in words), cwd=tmp_path)
    assert (
        done.returncode == status
        and said in done.stderr
        and "Traceback" not in done.stderr
        and not os.listdir(tmp_path)
    )


def test_a_missing_package_is_named_with_a_way_to_get_it(example, tmp_path):
    (tmp_path / "jinja2.py").write_text("raise ModuleNotFoundError('No module named jinja2', name='jinja2')\n")
    done = steelyard(example, "--html", tmp_path / "a.html", env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode == entry.MISSING and "the Python package jinja2 is missing" in done.stderr
    assert "install" in done.stderr.splitlines()[1] and "jinja2" in done.stderr.splitlines()[1]
    assert "perfetto" in entry.explain("perfetto.protos")
    declared = re.search(r'^dependencies = \[(.*)\]$', (PACKAGE.parent / "pyproject.toml").read_text(), re.M).group(1)
    assert set(re.findall(r'"([a-z0-9]+)', declared)) == set(entry.DEBIAN), "what the package says it needs"


def test_the_other_files_are_written_if_perfetto_is_missing(example, tmp_path):
    (tmp_path / "perfetto.py").write_text("raise ModuleNotFoundError('No module named perfetto', name='perfetto')\n")
    files = ["--perfetto=a.pftrace", "--html=a.html", "--talp=a.json"]
    without = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = steelyard(entry.SEARCHED, example, *files, cwd=tmp_path, env=without)
    assert done.returncode == entry.MISSING and "the Python package perfetto is missing" in done.stderr
    assert re.findall("wrote ([a-z.]+)", done.stdout) == ["a.html", "a.json"]
    assert not (tmp_path / "a.pftrace").exists()
    alone = steelyard(entry.SEARCHED, example, files[0], cwd=tmp_path, env=without)
    assert alone.returncode == entry.MISSING and alone.stdout == ""


def python_of(folder, words):
    """A folder with a python3 that is this one with these words before its own."""
    folder.mkdir()
    python = folder / "python3"
    used = folder.parent / "used"
    python.write_text(f'#!/bin/sh\necho {folder.name} >> {used}\nexec {sys.executable} {words} "$@"\n')
    python.chmod(0o755)
    return str(folder)


def test_another_python_that_has_the_packages_is_found(example, tmp_path):
    bare, full = python_of(tmp_path / "bare", "-S -E"), python_of(tmp_path / "full", "")
    places = {**os.environ, "PATH": f"{bare}:{full}:{os.environ['PATH']}"}
    command = ["python3", PACKAGE, example, "--html=a.html"]
    done = subprocess.run(command, env=places, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "" and "wrote a.html" in done.stdout
    assert (tmp_path / "used").read_text().split() == ["bare", "bare", "full", "full"], "run, asked, asked, run"
    which = subprocess.run(["python3", PACKAGE, entry.WHICH], env=places, capture_output=True, text=True)
    assert which.returncode == 0 and which.stdout == f"{full}/python3\n"


def test_where_a_python_is_looked_for(monkeypatch):
    asked = []
    monkeypatch.setattr(entry, "has_packages", lambda python, _: asked.append(python))
    monkeypatch.setenv("PATH", "/a:/b")
    monkeypatch.setenv("HOME", "/home/user")
    assert entry.find_python(["jinja2"]) is None
    source = str(PACKAGE.parents[1] / ".venv/bin/python3")
    assert asked == ["/a/python3", "/b/python3", source, "/home/user/.steelyard/bin/python3", "/usr/bin/python3"]


@pytest.mark.parametrize("virtual", [False, True])
def test_a_virtual_environment_gets_its_packages_from_pip(virtual, monkeypatch):
    """Though its interpreter is the system's, which apt serves."""
    monkeypatch.setattr(sys, "executable", "/usr/bin/env")
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    monkeypatch.setattr(sys, "prefix", "/home/user/venv" if virtual else "/usr")
    monkeypatch.setattr(entry.shutil, "which", lambda _: "/usr/bin/apt-get")
    told = entry.explain("jinja2")
    assert ("/usr/bin/env -m pip install jinja2" in told) == virtual and ("apt-get install" in told) != virtual


@pytest.mark.parametrize("compared", [False, True])
def test_progress_on_a_terminal_only(tmp_path, compared):
    pytest.importorskip("rich")
    record = tmp_path / "run.json"
    record.write_text(json.dumps(synthetic.record(64, 20)))
    script = (
        f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); from steelyard import cli; cli.LARGE = 1000;"
        " sys.exit(cli.main())"
    )
    command = [sys.executable, "-c", script, *[str(record)] * (1 + compared), "--html", str(tmp_path / "a.html")]
    quiet = subprocess.run(command, capture_output=True, text=True)
    assert quiet.returncode == 0 and quiet.stderr == ""

    terminal, inside = pty.openpty()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=inside, env={**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    )
    os.close(inside)
    said = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        said += part
    os.close(terminal)
    assert process.wait() == 0
    assert all(word in said.decode() for word in ("reading", "comparing" if compared else "drawing", "left"))
