#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tidy.py BUILD JOBS [SECONDS]: clang-tidy over every C++ source of src/, tests excepted. Any warning is an error.

A source that was found clean is read again only if it has changed, or a header of the project that it includes, its
compile command, .clang-tidy, or clang-tidy itself: BUILD/tidy keeps a mark for each. Without that folder all sources
are read. The latest commit's come first. After SECONDS the rest is left out, which is no error. The log says how many
sources were read and left out; a source that no compile command is known for is an error."""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import re
import subprocess
import sys
import time
from pathlib import Path

TIDY = "clang-tidy-19"
ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)


def git(*words: str) -> list[str]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.split("\n")


def sources() -> list[Path]:
    """In the order of their latest commits, the newest first; those with changes that are not committed before them."""
    age: dict[str, int] = {}
    for name in git("log", "--format=", "--name-only", "--", "src"):
        age.setdefault(name, len(age))
    changed = {line[3:] for line in git("status", "--porcelain", "--", "src")}
    names = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("src/**/*.cpp")]
    wanted = [name for name in names if not re.search(r"_(test|benchmark)\.cpp$", name)]
    return [ROOT / name for name in sorted(wanted, key=lambda name: (name not in changed, age.get(name, -1), name))]


def commands(build: Path, wanted: list[Path]) -> dict[Path, dict]:
    """How each source is compiled, without gcc's precompiled headers, so that a header that it leaves out is noticed. A
    source of several targets is read once, and not as SimGrid's ranks see it: SimGrid's headers draw warnings of their
    own. A source that this build leaves out is read as a source beside it is compiled."""
    entries = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if "/smpi/" not in entry["command"]:
            entry["command"] = re.sub(r" -Winvalid-pch| -include \S*cmake_pch\.hxx", "", entry["command"])
            entries[Path(entry["file"]).resolve()] = entry
    found = {}
    for path in wanted:
        beside = [other for other in wanted if other in entries and other.parent == path.parent]
        if path in entries:
            found[path] = entries[path]
        elif beside:
            command = entries[min(beside)]["command"].replace(str(min(beside)), str(path))
            found[path] = entries[min(beside)] | {"file": str(path), "command": command}
    return found


def key(path: Path, command: str, settings: bytes) -> str:
    """A digest of everything in the project that the findings depend on."""
    texts: dict[str, bytes] = {}
    todo = [path]
    while todo:
        file = todo.pop()
        name = file.relative_to(ROOT).as_posix()
        if name not in texts and file.is_file():
            texts[name] = file.read_bytes()
            for included in INCLUDE.findall(texts[name].decode()):
                todo += [ROOT / "src" / included, ROOT / "include" / included]
    digest = hashlib.sha256(settings + command.replace(str(ROOT), "").encode())
    for name in sorted(texts):
        digest.update(name.encode() + b"\0" + texts[name])
    return digest.hexdigest()


def main() -> int:
    build, jobs = Path(sys.argv[1]).resolve(), int(sys.argv[2])
    end = time.monotonic() + float(sys.argv[3]) if len(sys.argv) > 3 else None
    marks = build / "tidy"
    marks.mkdir(exist_ok=True)
    wanted = sources()
    compiled = commands(build, wanted)
    (marks / "compile_commands.json").write_text(json.dumps(list(compiled.values())))
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    settings = version + (ROOT / ".clang-tidy").read_bytes()
    keys = {path: key(path, entry["command"], settings) for path, entry in compiled.items()}
    for mark in marks.glob("*.clean"):
        if mark.stem not in keys.values():
            mark.unlink()
    todo = [path for path in compiled if not (marks / f"{keys[path]}.clean").exists()]

    def is_clean(path: Path) -> bool | None:
        """None if the time was over before clang-tidy had read it."""
        left = end - time.monotonic() if end else None
        if left is not None and left <= 0:
            return None
        words = [TIDY, "-p", str(marks), "--quiet", "--warnings-as-errors=*", str(path)]
        try:
            result = subprocess.run(words, capture_output=True, text=True, timeout=left)
        except subprocess.TimeoutExpired:
            return None
        if result.returncode == 0:
            (marks / f"{keys[path]}.clean").touch()
            return True
        said = re.sub(r"^\d+ warnings?.* generated.*\n", "", result.stdout + result.stderr, flags=re.M)
        print(f"{path.relative_to(ROOT)}: status {result.returncode}\n{said}", end="", flush=True)
        return False

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(is_clean, todo))
    unknown = [path for path in wanted if path not in compiled]
    for path in unknown:
        print(f"{path.relative_to(ROOT)}: not read: neither it nor a source beside it is in {build.name}")
    bad, late = found.count(False), found.count(None)
    print(
        f"tidy: {len(wanted)} sources: {len(todo) - late} read, {bad} of them with findings; "
        f"{len(compiled) - len(todo)} unchanged since they were found clean; {len(unknown)} without a compile command"
        + (f"; {late} left out: no time was left of {sys.argv[3]} s" if late else "")
    )
    return 1 if bad or unknown else 0


if __name__ == "__main__":
    sys.exit(main())
