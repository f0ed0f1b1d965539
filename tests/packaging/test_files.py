# SPDX-License-Identifier: BSD-3-Clause
"""The recipe for Spack, the module file and the wheel, as far as they can be tried without Spack, modules and an
index."""

import ast
import os
import re
import shutil
import subprocess
import sys
import types
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("STEELYARD_BUILD", ROOT / "build"))
RECIPE = ROOT / "packaging" / "spack" / "packages" / "steelyard" / "package.py"
VERSION = re.search(r"project\(steelyard VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


class Spec:
    """As much of a Spack spec as the recipe asks."""

    def __init__(self, mpi="openmpi", fortran=True):
        self.mpi, self.fortran = mpi, fortran

    def __getitem__(self, name):
        prefix = types.SimpleNamespace(bin="/mpi/bin", lib="/lib")
        return types.SimpleNamespace(name=self.mpi, mpicc="/mpi/bin/mpicc", mpicxx="/mpi/bin/mpicxx",
                                     mpifc="/mpi/bin/mpifort", prefix=prefix)

    def satisfies(self, what):
        return what == "+fortran" and self.fortran


@pytest.fixture
def recipe(monkeypatch):
    """The recipe's class under a Spack that notes its directives."""
    said = []

    def directive(name):
        return lambda *words, **more: said.append((name, words, more))

    class CMakePackage:
        prefix = types.SimpleNamespace(bin=types.SimpleNamespace(steelyard="steelyard"))

        def define(self, name, value):
            return f"-D{name}={'ON' if value is True else 'OFF' if value is False else value}"

    module = types.ModuleType("spack.package")
    for name in ("license", "version", "variant", "depends_on", "conflicts", "generator"):
        setattr(module, name, directive(name))
    module.CMakePackage, module.join_path, module.Executable = CMakePackage, lambda *p: "/".join(p), None
    module.run_after = lambda *_: lambda f: f
    module.on_package_attributes = lambda **_: lambda f: f
    module.__all__ = [name for name in vars(module) if not name.startswith("_")]
    monkeypatch.setitem(sys.modules, "spack", types.ModuleType("spack"))
    monkeypatch.setitem(sys.modules, "spack.package", module)
    space = {}
    exec(compile(RECIPE.read_text(), str(RECIPE), "exec"), space)
    return space["Steelyard"], said


def test_recipe_has_this_version_and_what_the_build_needs(recipe):
    package, said = recipe
    assert ast.get_docstring(ast.parse(RECIPE.read_text()).body[1])
    assert VERSION in [words[0] for name, words, _ in said if name == "version"], f"the recipe lacks version {VERSION}"
    needs = {re.split(r"[@+]", words[0])[0] for name, words, _ in said if name == "depends_on"}
    found = {"CLI11": "cli11", "fmt": "fmt", "nlohmann_json": "nlohmann-json", "toml++": "tomlplusplus",
             "HWLOC": "hwloc", "libcapstone.a": "capstone", "libdw": "elfutils"}
    cmake = "\n".join(path.read_text() for path in [*ROOT.glob("src/*/CMakeLists.txt"), *ROOT.glob("cmake/*.cmake"),
                                                  *ROOT.glob("src/base/*.cpp")])
    for name, spack in found.items():
        assert name in cmake and spack in needs, name
    assert {"mpi", "cmake", "pkgconfig"} <= needs


@pytest.mark.parametrize("mpi, flavour, other", [("openmpi", "openmpi", "mpich"), ("mpich", "mpich", "openmpi"),
                                                  ("mvapich2", "mpich", "openmpi")])
@pytest.mark.parametrize("fortran", [True, False])
def test_recipe_names_what_cmake_reads(recipe, mpi, flavour, other, fortran):
    package = recipe[0]()
    package.spec = Spec(mpi, fortran)
    args = package.cmake_args()
    assert f"-DSTEELYARD_{flavour}_CC=/mpi/bin/mpicc" in args and f"-DSTEELYARD_{other}_CC=OFF" in args
    assert any(f"_{flavour}_FC=" in arg for arg in args) == fortran
    known = "\n".join(path.read_text() for path in [ROOT / "CMakeLists.txt", *ROOT.rglob("cmake/*.cmake"),
                                                    *ROOT.rglob("src/*/CMakeLists.txt")])
    for arg in args:
        name = re.match(r"-D(\w+)=", arg).group(1)
        assert name in known or name.replace(flavour, "${flavour}").replace(other, "${flavour}") in known, name


def test_demo_announces_its_time_first():
    """As the README has it, and before anything is installed or built."""
    (minutes,) = re.findall(r"^make demo .*: under (\d+) minutes$", (ROOT / "README.md").read_text(), re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(rf"echo 'demo: .* under {minutes} minutes'", makefile)
    assert re.search(r"^demo: announce-demo build-demo  ##", makefile, re.MULTILINE)


def test_module_file():
    text = (BUILD / "modulefile").read_text()
    assert VERSION in text and "@" not in text.replace("@PROJECT", "")
    if not shutil.which("tclsh"):
        pytest.skip("no tclsh to run it")
    stub = "".join(f"proc {name} {{args}} {{puts [join [list {name} {{*}}$args]]}}\n"
                   for name in ("module-whatis", "conflict", "prepend-path", "append-path"))
    script = stub + f"set ModulesCurrentModulefile /opt/steelyard/share/modulefiles/steelyard/{VERSION}\n" + text
    result = subprocess.run(["tclsh"], input=script, text=True, capture_output=True)
    assert result.returncode == 0, result.stderr
    assert "prepend-path PATH /opt/steelyard/bin" in result.stdout.split("\n")
    assert "prepend-path CMAKE_PREFIX_PATH /opt/steelyard" in result.stdout.split("\n")
    # Without a place that is empty, `man` would find no other page than ours.
    assert "append-path MANPATH " in result.stdout.split("\n")


def test_wheel(tmp_path):
    source = tmp_path / "checkout" / "python"
    shutil.copytree(ROOT / "python", source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    shutil.copy(ROOT / "CMakeLists.txt", source.parent)
    result = subprocess.run([sys.executable, "-c", "import setuptools, wheel"], capture_output=True)
    if result.returncode != 0:
        pytest.skip("setuptools and wheel are not here, and tests do without the network")
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index", "-w",
                    str(tmp_path), str(source)],
                   check=True)
    (wheel,) = tmp_path.glob("steelyard-*.whl")
    assert wheel.name.startswith(f"steelyard-{VERSION}-")
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    assert {"steelyard/__init__.py", "steelyard/run-record.schema.json", "steelyard/py.typed"} <= set(names)
    (info,) = {name.split("/")[0] for name in names if ".dist-info/" in name}
    assert "\nLicense: BSD-3-Clause\n" in archive.read(f"{info}/METADATA").decode()
    assert [name for name in names if name.endswith("/LICENSE")], f"the wheel has no LICENSE: {names}"


def test_one_version():
    """Said once, in CMakeLists.txt: everything else follows, but for recipe and change log, which list versions, and
    the citation."""
    result = subprocess.run([BUILD / "bin" / "steelyard", "--version"], capture_output=True, text=True)
    assert result.stdout.startswith(f"steelyard {VERSION}\n")
    manual = subprocess.run([BUILD / "bin" / "steelyard", "options", "--man"], capture_output=True, text=True).stdout
    assert f'"Steelyard {VERSION}"' in manual
    assert f"## {VERSION}" in (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()
    assert "version =" not in (ROOT / "python" / "pyproject.toml").read_text()


def test_one_license(recipe):
    """LICENSE holds the text; each package format names it by its SPDX identifier."""
    assert (ROOT / "LICENSE").read_text().startswith("BSD 3-Clause License\n\nCopyright (c) 2026, The Steelyard "
                                                     "authors\n")
    assert [words for name, words, _ in recipe[1] if name == "license"] == [("BSD-3-Clause",)]
    assert "\nlicense: BSD-3-Clause\n" in (ROOT / "CITATION.cff").read_text()
    assert (
        "\nFiles: *\nCopyright: 2026 The Steelyard authors\nLicense: BSD-3-Clause\n" in (
            ROOT / "packaging/debian/copyright"
        ).read_text()
    )
    assert 'module-whatis "License: BSD-3-Clause"' in (BUILD / "modulefile").read_text()
    assert "\nLicense: BSD-3-Clause\n" in (BUILD / "steelyard.pc").read_text()


def test_the_copyright_file_names_what_is_compiled_in(recipe):
    """Header-only libraries and archives, whose licences ask to be handed on with the binaries."""
    text = (ROOT / "packaging/debian/copyright").read_text()
    files = set(re.findall(r"^Files: (.*)$", text, re.M))
    assert {"fmt", "nlohmann-json", "toml++", "CLI11", "capstone"} <= files
    used = {name for name in re.findall(r"^License: (.*)\n(?! )", text, re.M)}
    assert used == set(re.findall(r"^License: (.*)\n (?=\S)", text,
                                  re.M)), "a licence without its text, or a text without use"


def test_the_manual_page_draws_no_warning(tmp_path):
    if not shutil.which("man") or not shutil.which("troff"):
        pytest.skip("man or troff is not here")
    page = tmp_path / "steelyard.1"
    page.write_bytes(subprocess.run([BUILD / "bin" / "steelyard", "options", "--man"], capture_output=True).stdout)
    shown = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True,
                           env={**os.environ, "MANWIDTH": "80"})
    assert shown.stderr == "" and "STEELYARD" in shown.stdout
