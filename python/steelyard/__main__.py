# SPDX-License-Identifier: BSD-3-Clause
"""`python3 -m steelyard`: what `steelyard report` calls. Where a package is missing, it says which, and how it is
installed."""

import os
import shutil
import sys

DEBIAN = {
    "jinja2": "python3-jinja2",
    "jsonschema": "python3-jsonschema",
    "numpy": "python3-numpy",
    "pandas": "python3-pandas",
    "rich": "python3-rich",
}
MISSING = 3  # exit status


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
        install = f"~/.steelyard/bin/pip install {packages}"
        how = f"    python3 -m venv ~/.steelyard && {install}\n    export PATH=~/.steelyard/bin:$PATH"
    return f"the Python package {module} is missing in {sys.executable}; this installs it:\n{how}"


def main() -> int:
    try:
        from steelyard.cli import main as run

        return run()
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("steelyard"):
            raise
        print(f"steelyard: {explain(missing.name)}", file=sys.stderr)
        return MISSING


if not __package__:  # run by the name of its folder
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

if __name__ == "__main__":
    sys.exit(main())
