# SPDX-License-Identifier: BSD-3-Clause
"""Programs that have no MPI when they start: they load it later, or start a program that has it."""

import importlib.util
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness import BUILD, COMMAND, EMULATED, check_measured, steelyard_command

HERE = BUILD / "tests" / "end_to_end"
HOST = HERE / "plugin_host.plain.gcc"
SHORT = ("--kernel=sleep", "--steps=3", "--work=4")
NODE = "package:1 core:8 pu:1"


def run(mpi, *program, ranks=2, options=(), **changes):
    words = ["-n", str(ranks), str(COMMAND), "run", f"--record={mpi.record_file}", *options, *map(str, program)]
    return mpi.launch(words, **(EMULATED | changes))


def plugin(mpi):
    return str(HERE / f"plugin.{mpi.flavour}.gcc")


def other(mpi):
    return "mpich" if mpi.flavour == "openmpi" else "openmpi"


def test_a_plug_in_loads_mpi_for_itself(mpi):
    result = run(mpi, HOST, plugin(mpi), "--kernel=sleep", "--steps=40", "--work=40", "--imbalance=80",
                 options=(f"--emulate={NODE}",), OMP_NUM_THREADS="4")
    check_measured(result)
    record = result.record
    assert len(record["ranks"]) == 2 and record["intercepted"] == ["OpenMP regions", "MPI (C)"], record["intercepted"]
    assert result.moves(), record["decisions"]
    assert result.timeline.query("rank == 0")["threads"].max() > 4, "the team itself grew"


def test_another_mpi_than_that_of_the_launcher_is_let_alone(mpi):
    result = run(mpi, HOST, plugin(mpi), *SHORT, options=(f"--mpi={other(mpi)}",))
    assert result.status == 0 and "unbalanced: steps 3" in result.out, result.explain()
    assert not result.header_lines and not result.summaries
    (line,) = result.said
    assert "nothing is balanced; start it with the mpirun of that library, or name it by --mpi=" in line


def test_no_mpi_at_all_is_said_once(mpi):
    result = run(mpi, "bash", "-c", "ls / | awk '{ n++ } END { print (n > 0) }'; bash -c 'exit 3'")
    assert result.status == 3 and result.out.split() == ["1", "1"], result.explain()
    (line,) = result.said
    assert "initialised no MPI: nothing was balanced" in line


def test_it_is_said_of_a_program_that_closes_standard_error(mpi):
    result = run(mpi, "ls", "/")
    assert result.status == 0, result.explain()
    (line,) = result.said
    assert line == "`ls /` initialised no MPI: nothing was balanced"


def test_a_process_in_the_background_keeps_no_reader_waiting(mpi, tmp_path):
    """It is a copy of its parent, and has closed what it knows of. (MPICH's mpirun waits without Steelyard, too.)"""
    os.mkfifo(tmp_path / "pipe")
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/bash\n(read line < $1) < /dev/null > /dev/null 2>&1 &\n")
    script.chmod(0o755)
    result = steelyard_command("run", f"--mpi={mpi.flavour}", str(script), str(tmp_path / "pipe"))
    (line,) = result.said
    assert result.status == 0 and "initialised no MPI" in line, result.explain()
    (tmp_path / "pipe").write_text("\n")


def test_a_script_that_calls_mpirun_is_told_where_to_start_it(mpi, tmp_path):
    """Open MPI's mpirun does not run inside a rank, and here neither mpirun starts an MPI program."""
    script = tmp_path / "job.sh"
    script.write_text(f"#!/bin/sh\n{mpi.mpirun} -n 2 true\nexit 0\n")
    script.chmod(0o755)
    (line,) = run(mpi, script).said
    assert f"`{script}` itself starts ranks by mpirun" in line and "start it without mpirun" in line


@pytest.mark.parametrize("command", ['"$0" "$@"; exec bash -c :', '"$COMMAND" run "$0" "$@"; true',
                                     '"$COMMAND" run nice "$0" "$@"; true'])
def test_mpi_in_a_child_is_known_at_the_end(mpi, command):
    """Also if another program replaces the one that has started the child, and if the child is `steelyard run`."""
    result = run(mpi, "bash", "-c", command, mpi.program("unbalanced.gcc"), *SHORT, COMMAND=str(COMMAND))
    check_measured(result)
    assert not any("nothing was balanced" in line for line in result.said), result.explain()


@pytest.mark.parametrize("wrapper", ["env LD_PRELOAD=libm.so.6", "env -u LD_PRELOAD", "script",
                                     "sh -c 'unset LD_PRELOAD; exec \"$0\" \"$@\"'",
                                     "bash -c 'LD_PRELOAD=libm.so.6 exec \"$0\" \"$@\"'"])
def test_a_dropped_preload_is_said_once(mpi, tmp_path, wrapper):
    words = shlex.split(wrapper)
    if wrapper == "script":
        script = tmp_path / "job.sh"
        script.write_text('#!/bin/sh\nexport LD_PRELOAD=libm.so.6\nexec "$@"\n')
        script.chmod(0o755)
        words = [script]
    result = run(mpi, *words, mpi.program("unbalanced.gcc"), *SHORT)
    assert result.status == 0 and "unbalanced: steps 3" in result.out, result.explain()
    assert not result.header_lines and not result.summaries
    (line,) = result.said
    assert "Steelyard's library" in line and "LD_PRELOAD" in line and "nothing is balanced" in line


@pytest.mark.parametrize("wrapper, function", [((), "execv"), ((), "execle"), ((), "execlp"), ((), "fexecve"),
                                               ((), "execveat"), ((), "execveat_directory"), (("env",), "execl")])
def test_a_program_that_executes_itself(mpi, wrapper, function):
    program = HERE / f"executes_itself.{mpi.flavour}.gcc"
    result = run(mpi, *wrapper, program, function)
    assert result.status == 0 and result.out.split() == ["ranks", "2"], result.explain()
    if wrapper:
        assert len(result.record["ranks"]) == 2 and not any("before MPI_Init" in line for line in result.said)
        return
    assert not result.header_lines and not result.summaries
    (line,) = result.said
    assert "before MPI_Init" in line and f"`steelyard run env {program}`" in line


@pytest.mark.parametrize("function", ["execv", "execvp"])
def test_a_tool_sees_the_function_that_the_program_calls(mpi, function):
    program = HERE / f"executes_itself.{mpi.flavour}.gcc"
    result = run(mpi, program, function, ranks=1, LD_PRELOAD=str(HERE / "exec_tool.plain.gcc"))
    assert result.status == 0 and f"the tool sees {function} by {program.name}\n" in result.err, result.explain()


def test_a_program_that_ends_by__exit(mpi):
    """A signal handler may call it, which has interrupted malloc()."""
    result = run(mpi, "env", HERE / f"executes_itself.{mpi.flavour}.gcc", "_exit", ranks=1)
    assert result.status == 0, result.explain()
    (line,) = result.said
    assert "did not initialise it through Steelyard" in line


@pytest.mark.parametrize("wrapper", [(), ("env",)], ids=["alone", "env"])
@pytest.mark.parametrize("missing", ["no-such-program", "./no-such-program", "/"])
def test_a_program_that_cannot_be_executed_replaces_none(mpi, wrapper, missing):
    result = run(mpi, *wrapper, HERE / f"executes_itself.{mpi.flavour}.gcc", "execvp", missing)
    check_measured(result)
    assert result.out.split() == ["ranks", "2"] and not any("before MPI_Init" in line for line in result.said)


def test_a_preload_before_the_command_is_kept(mpi):
    result = run(mpi, mpi.program("unbalanced.gcc"), *SHORT, LD_PRELOAD="libm.so.6")
    check_measured(result)


@pytest.mark.parametrize("wrapper", ["env A=b", "taskset -c 0-1", "time", "nice -n 1", "sh -c 'exec \"$0\" \"$@\"'",
                                     "sh -c 'ls / >&2; \"$0\" \"$@\"'", "numactl --localalloc",
                                     "gdb -batch -ex run --args", "perf record -o /dev/null"])
def test_wrappers_are_followed(mpi, wrapper):
    words = shlex.split(wrapper)
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    result = run(mpi, *words, mpi.program("unbalanced.gcc"), *SHORT)
    check_measured(result)
    assert len(result.record["ranks"]) == 2
    # perf and gdb have thread-local data of their own.
    assert all(rank["fixed_reason"] == "" for rank in result.record["ranks"]), result.explain()


@pytest.mark.parametrize("interpreter", ["/bin/bash", "/usr/bin/env bash", "/bin/sh"])
def test_scripts_are_followed(mpi, tmp_path, interpreter):
    script = tmp_path / "job.sh"
    program = mpi.program("unbalanced.gcc")
    script.write_text(f"#!{interpreter}\nls / | awk 'END {{ print NR }}'\nexport OMP_NUM_THREADS=1\n"
                      f"{program} {' '.join(SHORT)}\necho after\n")
    script.chmod(0o755)
    result = run(mpi, script)
    check_measured(result)
    assert result.out.count("after") == 2, result.explain()
    assert [rank["threads_at_start"] for rank in result.record["ranks"]] == [1, 1]


def test_threadprivate_data_of_a_followed_program_are_kept(mpi):
    result = run(mpi, "env", "A=b", mpi.program("threadprivate.gcc"), options=(f"--emulate={NODE}",))
    assert result.status == 0, result.explain()
    assert all("thread-local data" in rank["fixed_reason"] for rank in result.record["ranks"]), result.explain()


@pytest.mark.parametrize("scope", ["handle", "global"])
@pytest.mark.parametrize("name", ["its own", "libvendor.so"])
def test_functions_that_are_looked_up(mpi, tmp_path, scope, name):
    """Through the library's own handle, the program passes Steelyard by, and Steelyard says so."""
    libraries = subprocess.check_output(["ldd", mpi.program("unbalanced.gcc")], text=True)
    library = re.search(r"\blibmpi(?:ch)?\.so\S* => (\S+)", libraries)[1]
    if name != "its own":
        (tmp_path / name).symlink_to(library)
        library = tmp_path / name
    result = run(mpi, HERE / "looked_up.plain.gcc", library, scope)
    assert result.status == 0, result.explain()
    if scope == "global":
        check_measured(result)
        assert len(result.record["ranks"]) == 2
    else:
        (said,) = result.said
        assert "did not initialise it through Steelyard: nothing was balanced" in said and "dlsym()" in said
        assert not result.record_file.exists()


def as_julia(folder: Path, program: str) -> Path:
    """Programs that do what Julia does, under its name."""
    if not (BUILD / "lib" / "steelyard" / "libsteelyard-lookups.so").exists():
        pytest.skip("not on this machine")
    (folder / "julia").symlink_to(HERE / program)
    return folder / "julia"


@pytest.mark.parametrize("expected", ["its own", "its own under Cray's name", "its own behind env", "another"])
def test_functions_that_julia_looks_up(mpi, tmp_path, expected):
    """They are Steelyard's, unless these are for another MPI."""
    libraries = subprocess.check_output(["ldd", mpi.program("unbalanced.gcc")], text=True)
    library = re.search(r"\blibmpi(?:ch)?\.so\S* => (\S+)", libraries)[1]
    if "Cray" in expected:
        link = tmp_path / "libmpi_gnu_123.so.12"
        link.symlink_to(library)
        library = link
    family = other(mpi) if expected == "another" else mpi.flavour
    wrapper = ["env", "A=b"] if "env" in expected else []
    julia = as_julia(tmp_path, "looked_up.plain.gcc")
    result = run(mpi, *wrapper, julia, library, "handle", options=(f"--mpi={family}",))
    assert result.status == 0, result.explain()
    if expected != "another":
        check_measured(result)
        assert len(result.record["ranks"]) == 2
    else:
        assert "did not initialise it through Steelyard: nothing was balanced" in " ".join(result.said)
        assert not result.record_file.exists()


def test_julia_s_other_lookups_take_their_usual_course(mpi, tmp_path):
    """Steelyard finds GNU's OpenMP runtime by RTLD_NEXT, whose meaning depends on the caller."""
    result = run(mpi, as_julia(tmp_path, "plugin_host.plain.gcc"), plugin(mpi), *SHORT)
    check_measured(result)
    assert result.record["intercepted"] == ["OpenMP regions", "MPI (C)"], result.record["intercepted"]


def python_environment(mpi, folder: Path):
    """mpi4py chooses its extension by these. Debian's MPICH has not the name that all others have."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    variables = {"MPI4PY_MPIABI": mpi.flavour}
    if mpi.flavour == "mpich":
        libraries = sorted(Path("/usr/lib").glob("*/libmpich.so.12"))
        if not libraries:
            pytest.skip("no libmpich.so.12 where Debian has it")
        (folder / "libmpi.so.12").symlink_to(libraries[0])
        variables["LD_LIBRARY_PATH"] = str(folder)
    return variables


def test_python(mpi, tmp_path):
    script = Path(__file__).parent / "programs" / "python_work.py"
    result = run(mpi, sys.executable, script, HERE / "python_work.plain.gcc", "60", options=(f"--emulate={NODE}",),
                 OMP_NUM_THREADS="4", **python_environment(mpi, tmp_path))
    check_measured(result)
    assert "units 80" in result.out
    record = result.record
    assert len(record["ranks"]) == 2 and record["ranks"][1]["totals_ns"]["mpi"] > 0
    assert result.moves(), record["decisions"]
    assert result.timeline.query("rank == 0")["threads"].max() > 4, "the team itself grew"
    assert result.timeline.query("rank == 1")["threads"].min() < 4, result.summary


@pytest.mark.parametrize("way", ["multiple", "serialized", "step"])
def test_python_whose_collectives_are_of_another_communicator(mpi, tmp_path, way):
    script = Path(__file__).parent / "programs" / "python_work.py"
    result = run(mpi, sys.executable, script, HERE / "python_work.plain.gcc", "60", way, options=(f"--emulate={NODE}",),
                 OMP_NUM_THREADS="4", **python_environment(mpi, tmp_path))
    check_measured(result)
    (node,) = result.record["nodes"]
    source = {"multiple": "none", "serialized": "collectives", "step": "steelyard_step"}[way]
    assert node["phase_source"] == source, node
    assert ("collectives count on MPI_COMM_WORLD alone" in node["nothing_moved"]) == (way == "multiple"), node


def test_python_finds_the_default_action_of_sigint(mpi, tmp_path):
    """An interpreter that a program embeds after MPI_Init makes SIGINT a KeyboardInterrupt only then."""
    script = ("import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); from mpi4py import MPI; "
              "print(*[line for line in open('/proc/self/status') if line.startswith('SigCgt')])")
    result = run(mpi, sys.executable, "-c", script, **python_environment(mpi, tmp_path))
    assert result.status == 0 and result.header_lines, result.explain()
    caught = {number for number in (signal.SIGINT, signal.SIGTERM)
              for line in result.out.split("\n") if line and int(line.split()[1], 16) >> (number - 1) & 1}
    assert caught == {signal.SIGTERM}, result.explain()
