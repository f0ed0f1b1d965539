# SPDX-License-Identifier: BSD-3-Clause
"""Every command of the manual is run as it stands there, in the order of its page, in an empty folder with a program
called app; those that cannot be run here are checked as far as that goes."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from manual import PAGES, ROOT, Block, all_blocks, blocks

BUILD = Path(os.environ.get("STEELYARD_BUILD", ROOT / "build"))
LAUNCHERS = dict(pair.split("=", 1) for pair in os.environ.get("STEELYARD_MPIRUN", "openmpi=mpirun.openmpi").split(":"))
FLAVOUR = next(iter(LAUNCHERS))
# What is behind a `make` is tested elsewhere, or takes long: the target must be there.
MAKE = re.compile(r"^make\b.*$", re.M)
RUNS_FOR_EVER = re.compile(r"^steelyard top(?= *(#.*)?$)", re.M)


def runs(block: Block) -> bool:
    return block.language in ("sh", "python") and not block.note.startswith("syntax")


RUN_PAGES = [page for page in PAGES if any(runs(block) for block in blocks(page))]


@pytest.fixture(scope="session")
def tools(tmp_path_factory) -> Path:
    """A folder of commands: those of one MPI under their usual names, and the build's steelyard. Eight ranks are
    three."""
    folder = tmp_path_factory.mktemp("tools")
    environment = " ".join(line for line in (ROOT / "tools" / "mpi.env").read_text().split("\n")
                           if re.match("[A-Z]", line))
    scripts = {
        "mpirun": f'words=()\nfor word; do [ "$word" != 8 ] || word=3; words+=("$word"); done\n'
                  f'exec env {environment} {LAUNCHERS[FLAVOUR]} "${{words[@]}}"',
        "mpicc": f'exec mpicc.{FLAVOUR} "$@"',
        "steelyard": f'exec {BUILD}/bin/steelyard "$@"',
        "make": f'exec /usr/bin/env make -C {ROOT} -n SETUP=no "$@" >/dev/null',
    }
    for name, text in scripts.items():
        (folder / name).write_text(f"#!/bin/bash\n{text.replace('/usr/bin/env make', '/usr/bin/make')}\n")
        (folder / name).chmod(0o755)
    subprocess.run([f"mpicc.{FLAVOUR}", "-fopenmp", "-O1", str(Path(__file__).with_name("app.c")), "-o",
                    str(folder / "app")], check=True)
    return folder


def script(page: Path) -> str:
    """The blocks of a page as one bash script, so that what one exports holds for the next; the output of each in a
    file."""
    out = ["set -euo pipefail"]
    for block in blocks(page):
        if block.note.startswith("file:"):
            name = block.note.removeprefix("file:").strip()
            out.append(f"cat > {name} <<'END_OF_BLOCK'\n{block.text}END_OF_BLOCK")
        elif not runs(block):
            continue
        elif block.language == "python":
            out.append(f"echo '{block}' > at; python3 - > out.{block.line} 2>&1 "
                       f"<<'END_OF_BLOCK'\n{block.text}END_OF_BLOCK")
        else:
            text = RUNS_FOR_EVER.sub("steelyard top --once", block.text)
            out.append(f"echo '{block}' > at\n{{\n{text}}} > out.{block.line} 2>&1")
    return "\n".join(out) + "\n"


def labels(text: str) -> list[str]:
    """The first word of each line that has one: what a line of output is about."""
    words = [line.split()[0] for line in text.split("\n") if line.split()]
    return [word for word in words if re.fullmatch(r"[A-Za-z]+:?", word)]


@pytest.fixture(scope="session")
def record(tools, tmp_path_factory) -> Path:
    """For pages that begin with a record of an earlier run."""
    folder = tmp_path_factory.mktemp("record")
    result = run(tools, folder, f"mpirun -n 2 steelyard run {tools}/app")
    assert result.returncode == 0, result.stderr
    return folder / "steelyard-run.json"


def run(tools: Path, folder: Path, text: str) -> subprocess.CompletedProcess:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("STEELYARD_") and k != "LD_PRELOAD"}
    python = os.pathsep.join([str(Path(os.sys.executable).parent), kept["PATH"]])
    environment = kept | {"PATH": f"{tools}:{python}", "OMP_NUM_THREADS": "2", "HOME": str(folder), "MANPATH": "",
                          "PYTHONPATH": str(ROOT / "python")}
    return subprocess.run(["bash", "-c", text], cwd=folder, env=environment, text=True, capture_output=True,
                          stdin=subprocess.DEVNULL,
                          timeout=240)


@pytest.mark.parametrize("page", RUN_PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_page(page, tools, record, tmp_path):
    (tmp_path / "app").symlink_to(tools / "app")
    for name in ("steelyard-run.json", "run.json"):
        (tmp_path / name).write_text(record.read_text())
    result = run(tools, tmp_path, script(page))
    at = (tmp_path / "at").read_text().strip()
    printed = tmp_path / f"out.{at.rpartition(':')[2]}"
    assert result.returncode == 0, f"{at}: exit status {result.returncode}\n{printed.read_text()}{result.stderr}"
    before = None
    for block in blocks(page):
        if block.note == "output":
            assert before is not None, f"{block} shows what no command has printed"
            seen = set(labels((tmp_path / f"out.{before.line}").read_text())) | {"gain", "lent", "waiting", "WARNING"}
            shown = labels(block.text)
            assert shown, f"{block} shows nothing"
            assert set(shown) <= seen, f"{block} shows lines that are not printed: {set(shown) - seen}"
        if runs(block):
            before = block


SYNTAX = [block for block in all_blocks() if block.note.startswith("syntax")]


@pytest.mark.parametrize("block", SYNTAX, ids=str)
def test_syntax(block):
    assert block.note.removeprefix("syntax").strip(": "), f"{block}: say why it is not run"
    check_script(block.text, str(block))


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "slurm").glob("*.sh")), ids=lambda path: path.name)
def test_job_scripts(path):
    text = path.read_text()
    check_script(text, path.name)
    assert "srun" in text and "steelyard run" in text and "#SBATCH" in text and os.access(path, os.X_OK)


def check_script(text: str, name: str):
    result = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True)
    assert result.returncode == 0, f"{name}: {result.stderr}"
    for options in re.findall(r"steelyard (?:run|doctor) ((?:--\S+ )*)", text):
        for option in options.split():
            assert option.split("=")[0][2:] in options_known(), f"{name}: there is no option {option}"


def options_known() -> set[str]:
    text = subprocess.run([BUILD / "bin" / "steelyard", "options"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^  --([a-z0-9-]+)=", text, re.M))


def test_options_in_the_text():
    """`--option=value` in running text: of steelyard run, or known to be another program's."""
    others = {"bind-to", "map-by", "mpi", "cpu-bind", "cpus-per-task", "ntasks", "ntasks-per-node", "exclusive", "hint",
              "jobid", "overlap", "shm-size", "cpus",
              "quo", "libomp", "lb4omp", "dlb", "report-bindings", "threads-per-core", "signal", "nodes", "showme",
              "enable-recovery", "titus",
              "only", "list", "bare", "rounds", "full", "html", "json", "paraver", "perfetto", "talp", "once", "input",
              "set", "shrink", "grow",
              "man", "help", "prometheus", "output",
              "no-badge", "trace-children", "containall", "pid", "ipc", "build-arg",
              # tests/fuzz and tests/conformance
              "compilers", "ipc", "jobs", "libgomp", "limit", "llvm", "modes", "repeats", "seed", "suites",
              "validation", "vv"}
    known = options_known() | others
    for page in PAGES:
        for option in re.findall(r"`[^`\n]*?--([a-z][a-z0-9-]+)[^`\n]*`", page.read_text()):
            assert option in known, f"{page.relative_to(ROOT)}: --{option}"


def benchmarks() -> list[tuple[str, str]]:
    """Script and figure of each command in running text, and in the tables whose last column is headed by a script."""
    found = set()
    for page in PAGES:
        script = ""
        for line in page.read_text().split("\n"):
            if not line.startswith("|"):
                script = ""
            elif heading := re.search(r"`bench/(\w+)\.py[^`]*` \|$", line):
                script = heading.group(1)
            for code in re.findall(r"`([^`]+)`", line):
                named = re.match(r"bench/(\w+)\.py", code)
                if of := named.group(1) if named else script:
                    found |= {(of, figure) for figure in re.findall(r"--only ([\w-]+)", code) if figure != "NAME"}
    return sorted(found)


@pytest.mark.parametrize("script", sorted({script for script, _ in benchmarks()}))
def test_benchmarks_are_there(script):
    listed = subprocess.run([os.sys.executable, ROOT / "bench" / f"{script}.py", "--list", "--build", BUILD],
                            capture_output=True, text=True, check=True)
    for of, figure in benchmarks():
        assert of != script or figure in listed.stdout, f"bench/{script}.py has no figure {figure}"


def test_benchmarks_are_found():
    assert {("cores", "minife"), ("phases", "barrier-8"), ("tasks", "model-1000000-10s"),
            ("collectives", "first-32")} <= set(benchmarks())


def test_there_is_enough_to_run():
    assert len(RUN_PAGES) >= 7 and len(SYNTAX) >= 8
