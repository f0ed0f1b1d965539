# SPDX-License-Identifier: BSD-3-Clause
"""`python3 -m steelyard`: what `steelyard report` calls. If a package is missing, it runs in another Python that has
all packages. If there is none, it says which package is missing, and how to install it.

Python 3.6 can read this file."""

import os
import shutil
import subprocess
import sys
from typing import List, Optional

DEBIAN = {
    "jinja2": "python3-jinja2",
    "jsonschema": "python3-jsonschema",
    "numpy": "python3-numpy",
    "pandas": "python3-pandas",
    "rich": "python3-rich",
}
TRACES = "perfetto"  # the package that only --perfetto needs
OLDEST = (3, 9)  # version of Python, as in pyproject.toml
MISSING = 3  # exit status
SEARCHED = "--searched"  # first argument of the Python that was found
WHICH = "--which-python"  # prints the Python that has the packages; status 1 if there is none
FOLDER = os.path.dirname(os.path.abspath(__file__))


def has_packages(python: str, modules: List[str]) -> bool:
    """Whether this interpreter can run the package. It imports nothing, which takes 20 ms instead of 0.5 s."""
    found = f"sys.version_info >= {OLDEST} and all(map(util.find_spec, {modules}))"
    script = f"import sys, importlib.util as util; sys.exit(not ({found}))"
    try:
        return subprocess.call([python, "-c", script], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0
    except OSError:  # it is not there, or cannot be run
        return False


def find_python(modules: List[str]) -> Optional[str]:
    """The first Python with the modules: in PATH, in .venv of a source tree, where explain() puts it, the system's."""
    places = os.environ.get("PATH", os.defpath).split(os.pathsep)
    source = os.path.dirname(os.path.dirname(FOLDER))
    places += [os.path.join(source, ".venv", "bin"), os.path.expanduser("~/.steelyard/bin"), "/usr/bin"]
    pythons = dict.fromkeys(os.path.join(place, "python3") for place in places)
    return next((python for python in pythons if has_packages(python, modules)), None)


def explain(module: str) -> str:
    """What to do about a module that cannot be imported."""
    module = module.partition(".")[0]
    systems = os.path.realpath(sys.executable).startswith("/usr/bin/")
    packages = " ".join(sorted({*DEBIAN, module}))
    if sys.prefix != sys.base_prefix:  # a virtual environment, which does not see the system's packages
        how = f"    {sys.executable} -m pip install {packages}"
    elif systems and module in DEBIAN and shutil.which("apt-get"):
        how = f"    sudo apt-get install -y {' '.join(sorted(DEBIAN.values()))}"
    else:
        how = f"    python3 -m venv ~/.steelyard && ~/.steelyard/bin/pip install {packages}"
    return f"the Python package {module} is missing in {sys.executable}; this installs it:\n{how}"


def main() -> int:
    searches = not __package__ and sys.argv[1:2] != [SEARCHED]
    if sys.argv[1:] == [WHICH]:
        python = find_python(sorted(DEBIAN))
        print(python or "")
        return 0 if python else 1
    if not searches and not __package__:
        del sys.argv[1]
    try:
        if sys.version_info < OLDEST:
            raise ModuleNotFoundError(name=sorted(DEBIAN)[0])
        from steelyard.cli import main as run

        return run()
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("steelyard"):
            raise
        python = find_python(sorted({*DEBIAN, missing.name.partition(".")[0]})) if searches else None
        if python:
            os.execv(python, [python, FOLDER, SEARCHED, *sys.argv[1:]])
        if missing.name.partition(".")[0] == TRACES:
            status = run(without_perfetto=True)
            if status != 0:
                return status
        print(f"steelyard: {explain(missing.name)}", file=sys.stderr)
        return MISSING


if not __package__:  # run by the name of its folder
    sys.path[0] = os.path.dirname(FOLDER)

if __name__ == "__main__":
    sys.exit(main())
