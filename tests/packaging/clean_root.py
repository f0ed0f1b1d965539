# SPDX-License-Identifier: BSD-3-Clause
"""clean_root.py make|remove ROOT PACKAGE: installs the Debian package, by dpkg, into a root that has nothing in it but
what the package depends on, copied from this machine's packages; looks at what came there; and, in the end, whether all
of it goes. Neither network nor root's rights are needed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ADMIN = "var/lib/dpkg"
MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")  # links to usr/..., where this machine has them so


class Wrong(Exception):
    """Says what."""


def said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Wrong(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def dpkg(root: Path, *words: str) -> str:
    # All files, whatever this machine leaves out of packages (containers do without man pages). There is no shell in
    # the root, so that the package's scripts run outside and are told where it is.
    return said("dpkg", f"--root={root}", "--force-not-root", "--force-script-chrootless", "--path-include=/*",
                f"--log={root}.log", *words)


def alternatives(relation: str) -> list[list[str]]:
    """Of a field like Depends: names, less versions and architectures."""
    return [[re.split(r"[\s(:\[]", name.strip())[0]
             for name in part.split("|")] for part in relation.split(",") if part.strip()]


class Installed:
    """The packages of this machine."""

    def __init__(self):
        form = "${db:Status-Status}\t${binary:Package}\t${Package}\t${Provides}\t${Pre-Depends}\t${Depends}\n"
        self.depends: dict[str, str] = {}
        self.called: dict[str, str] = {}  # by name, virtual ones as well
        rows = [line.split("\t") for line in said("dpkg-query", "-W", "-f", form).splitlines()]
        for state, package, name, provides, before, depends in rows:
            if state == "installed":
                self.depends[package] = f"{before},{depends}"
                for (virtual,) in alternatives(provides):
                    self.called.setdefault(virtual, package)
        for state, package, name, *_ in rows:
            if state == "installed":
                self.called[name] = package

    def closure(self, relation: str) -> set[str]:
        found: set[str] = set()
        todo = [relation]
        while todo:
            for names in alternatives(todo.pop()):
                package = next((self.called[name] for name in names if name in self.called), None)
                if package is None:
                    print(f"clean root: skipped: no package {' or '.join(names)} is installed here")
                    sys.exit(77)
                if package not in found:
                    found.add(package)
                    todo.append(self.depends[package])
        return found


def copy(root: Path, path: str) -> None:
    source, target = Path(path), root / path.lstrip("/")
    if source.is_dir() and not source.is_symlink():
        target.mkdir(parents=True, exist_ok=True)
    elif os.path.lexists(source) and not os.path.lexists(target):  # not what this machine leaves out
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)


def fill(root: Path, packages: set[str]) -> None:
    admin = root / ADMIN
    for folder in ("info", "updates", "triggers"):
        (admin / folder).mkdir(parents=True)
    for name in MERGED:
        if (Path("/") / name).is_symlink():
            (root / name).symlink_to(f"usr/{name}")
            (root / "usr" / name).mkdir(parents=True, exist_ok=True)
    with open(admin / "status", "w") as status:
        for package in sorted(packages):
            files = said("dpkg-query", "-L", package)
            (admin / "info" / f"{package}.list").write_text(files)
            for path in files.splitlines():
                if path.startswith("/"):
                    copy(root, path)
            status.write(said("dpkg-query", "-s", package) + "\n")


def snapshot(root: Path) -> dict[str, str]:
    """What lies where, but for dpkg's own books."""
    found = {}
    for folder, folders, files in os.walk(root):
        at = Path(folder)
        if at == root / ADMIN:
            folders.clear()
            continue
        for name in folders + files:
            path = at / name
            what = os.readlink(path) if path.is_symlink() else "" if path.is_dir() else str(path.stat().st_size)
            found["/" + str(path.relative_to(root))] = what
    return found


def dynamic(path: Path, tag: str) -> list[str]:
    return re.findall(rf"\({tag}\).*\[(.*)\]", said("readelf", "-dW", str(path)))


def owners(file: str, root: Path | None = None) -> set[str]:
    """The packages that have a file of this name."""
    command = ["dpkg", f"--root={root}"] if root else ["dpkg"]
    done = subprocess.run([*command, "-S", f"*/{file}"], capture_output=True, text=True)
    return {name.split(":")[0] for line in done.stdout.splitlines() for name in line.rpartition(": ")[0].split(", ")}


def check_libraries(root: Path, package: str, files: list[str]) -> None:
    """Each library that is linked comes from a package that ours names in Depends. None is an MPI library: the preload
    libraries find the program's own."""
    needs = {name for names in alternatives(said("dpkg-deb", "--field", package,
                                                 "Depends")) for name in names} | {"steelyard"}
    looked_at = 0
    for file in files:
        path = root / file.lstrip("/")
        if path.is_symlink() or not path.is_file() or path.open("rb").read(4) != b"\x7fELF":
            continue
        looked_at += 1
        for way in dynamic(path, "RPATH") + dynamic(path, "RUNPATH"):
            if any(not part.startswith("$ORIGIN") for part in way.split(":")):
                raise Wrong(f"{file} looks for libraries in {way}: not in a place of its own")
        for library in dynamic(path, "NEEDED"):
            if re.match(r"libmpi|libmpich|libpmpi", library) is not None:
                raise Wrong(f"{file} is linked with {library}: it would bring an MPI into programs that have another")
            found = owners(library, root)
            if not found & needs:
                raise Wrong(f"{file} needs {library} of {' or '.join(found) or 'no package there'}, which the package "
                            f"does not name in Depends: {', '.join(sorted(needs))}")
    if looked_at < 4:
        raise Wrong(f"only {looked_at} programs and libraries are in it: {files}")


def make(root: Path, package: str) -> None:
    shutil.rmtree(root, ignore_errors=True)
    fill(root, Installed().closure(said("dpkg-deb", "--field", package, "Depends")))
    before = snapshot(root)
    Path(f"{root}.before").write_text(json.dumps(before))
    # No --force-depends: what it depends on is there, in the versions that it asks for, or this fails.
    dpkg(root, "--install", package)
    if "\nStatus: install ok installed\n" not in dpkg(root, "--status", "steelyard"):
        raise Wrong(dpkg(root, "--status", "steelyard"))
    if damaged := dpkg(root, "--verify", "steelyard"):
        raise Wrong(f"dpkg --verify: {damaged}")
    files = [path for path in dpkg(root, "--listfiles", "steelyard").splitlines() if path != "/."]
    came = {path for path, what in snapshot(root).items() if before.get(path) != what}
    if strangers := came - set(files):
        raise Wrong(f"not of its list: {strangers}")
    if missing := [path for path in files if not os.path.lexists(root / path.lstrip("/"))]:
        raise Wrong(f"of its list, and not there: {missing}")
    if outside := [path for path in files if not re.match(r"/(usr|etc)(/|$)", path)]:
        raise Wrong(f"outside of /usr and /etc: {outside}")
    if owned := [line for line in said("dpkg-deb", "--contents",
                                       package).splitlines() if " root/root " not in line
                 or (line[8] == "w" and line[0] != "l")]:
        raise Wrong(f"not root's, or anybody's to write: {owned}")
    check_libraries(root, package, files)
    print(f"clean root: {len(files)} files and folders beside {dpkg(root, '--get-selections').count('install') - 1} "
          "packages")


def remove(root: Path, package: str) -> None:
    dpkg(root, "--remove", "steelyard")
    before, after = json.loads(Path(f"{root}.before").read_text()), snapshot(root)
    if left := {path for path, what in after.items() if before.get(path) != what}:
        raise Wrong(f"left behind: {left}")
    # no package owns an empty folder
    if lost := {path for path, what in before.items() if what != "" and path not in after}:
        raise Wrong(f"taken away with it: {lost}")
    shutil.rmtree(root)


if __name__ == "__main__":
    try:
        {"make": make, "remove": remove}[sys.argv[1]](Path(sys.argv[2]).absolute(), sys.argv[3])
    except Wrong as what:
        sys.exit(f"clean root: {what}")
