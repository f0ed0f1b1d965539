# SPDX-License-Identifier: BSD-3-Clause
"""Iterations of unmodified programs' loops: each exactly once, with Steelyard or without."""

import json
import subprocess
from itertools import product
from pathlib import Path

import pytest

from harness import BUILD, COMMAND, Mpi, Result, check_measured, environment, run_without_mpi, steelyard_command

STRATEGIES = ("auto", "static", "guided", "factoring", "steal", "adaptive", "tuned", "slack", "staggered", "combined",
              *("hybrid" + "".join(chosen) for chosen in product(("", "+tuned"), ("", "+slack"), ("", "+staggered"))))
SHORT = {"tuned": "hybrid+tuned", "slack": "hybrid+tuned+slack", "staggered": "hybrid+staggered",
         "combined": "hybrid+tuned+slack+staggered"}
COMPILERS = ("iterations.clang", "iterations.gcc")
TWO = "2"  # the most threads, where the whole would take too long


@pytest.fixture
def openmpi(tmp_path):
    return Mpi("openmpi", tmp_path)


def check(result: Result) -> None:
    assert result.status == 0 and result.out.startswith("all once"), result.explain()


def strategies_of(result: Result) -> set[str]:
    return {loop["strategy"] for loop in result.record["loops"]}


@pytest.mark.parametrize("program", [*COMPILERS, "do_loops.gfortran"])
def test_each_exactly_once(openmpi, program):
    result = openmpi.run(1, program, options=("--loops=auto",))
    check(result)
    check_measured(result)
    assert result.header_lines[0].endswith("loops auto"), result.explain()
    loops = result.record["loops"]
    assert loops and all(loop["site"].startswith(program.split(".")[0]) for loop in loops)
    assert strategies_of(result) - {"runtime"}


@pytest.mark.parametrize("compiler", ["clang", "gcc"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_under_each_strategy_and_without_mpi(strategy, compiler, tmp_path):
    result = run_without_mpi(f"iterations.{compiler}", tmp_path, options=(f"--loops={strategy}",))
    check(result)
    check_measured(result)
    assert result.record["mpi"] == "no MPI"
    used = SHORT.get(strategy, strategy)
    assert strategy == "auto" or used in strategies_of(result)
    assert result.record["options"]["loops"] == used and result.header_lines[0].endswith(f"loops {used}")


def test_on_the_other_mpi(tmp_path):
    result = Mpi("mpich", tmp_path).run(2, "iterations.gcc", TWO)
    check(result)
    check_measured(result)
    assert any(loop["ranks"] == 2 for loop in result.record["loops"])


@pytest.mark.parametrize("options", [("--loops=off",), ("--observe",)])
def test_left_alone(openmpi, options, tmp_path):
    learnt = tmp_path / "loops.json"
    result = openmpi.run(1, "iterations.gcc", TWO, options=(*options, f"--loops-learn={learnt}"))
    assert result.record["loops"] == []
    assert ", loops " not in result.header_lines[0]
    assert f"learns in {learnt} (only loops that call steelyard)" in result.header_lines[0], result.explain()
    assert not learnt.exists()


def left(result: Result, why: str) -> int:
    """How many loops were left to the runtime for that."""
    return sum(loop["strategy"] == "runtime" and why in loop["why"] for loop in result.record["loops"])


@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_what_stays_with_the_runtime(compiler, tmp_path):
    result = run_without_mpi(f"iterations.{compiler}", tmp_path, TWO)
    check(result)
    # ordered and doacross; monotonic in one construct and in two, and such a runtime schedule in both
    assert left(result, "depend on each other") == 2, result.explain()
    assert left(result, "ascending order") == 2, result.explain()


@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_runtime_schedules_are_what_the_user_says(compiler, tmp_path):
    shapes = 14  # of SHAPES(runtime): clang leaves out two that have no iterations
    asked = "asks for static parts"
    for schedule, why in {"monotonic:dynamic,4": "ascending order", "monotonic:static": asked, "static,3": asked,
                          "static": asked}.items():
        result = run_without_mpi(f"iterations.{compiler}", tmp_path, TWO, OMP_SCHEDULE=schedule)
        if compiler == "clang":  # under gcc's entry points LLVM's runtime does some of the shapes wrongly by itself
            check(result)
        assert "runtime, kind" not in result.out, result.explain()
        assert left(result, why) >= shapes, f"{schedule}: {result.explain()}"
    for schedule in ("dynamic,64", "guided,7", "auto"):
        result = run_without_mpi(f"iterations.{compiler}", tmp_path, TWO, OMP_SCHEDULE=schedule)
        check(result)
        assert left(result, "") < shapes, f"{schedule}: {result.explain()}"


@pytest.mark.parametrize("compiler", ["clang", "gcc", "gfortran"])
def test_who_asks_for_static_parts_in_mid_run_has_them(compiler, tmp_path):
    result = run_without_mpi(f"run_schedules.{compiler}", tmp_path)
    assert result.out.strip() == "as asked", result.explain()
    # By omp_set_schedule(): two loops of a region, and one whose threads have set it for themselves; in C also three in
    # regions that have dynamic ones, too, and those with chunks, of which clang leaves out the one without iterations;
    # perhaps also the one of which one thread alone says it. Not so: what no thread has set, and what is dynamic, also
    # by turns or monotonic.
    asked, dynamic = {"gfortran": (3, 1), "clang": (9, 5), "gcc": (10, 5)}[compiler]
    assert left(result, "asks for static parts") in (asked, asked + 1), result.explain()
    loops = asked + dynamic + (1 if compiler == "gfortran" else 2)
    assert len(result.record["loops"]) == loops, result.explain()
    result = run_without_mpi(f"run_schedules.{compiler}", tmp_path, OMP_SCHEDULE="static")
    assert result.out.strip() == "as asked", result.explain()
    assert left(result, "asks for static parts") == loops - dynamic, result.explain()


def test_what_was_compiled_for_older_openmp_stays(tmp_path):
    result = run_without_mpi("iterations.clang45", tmp_path, TWO)
    check(result)
    assert left(result, "ascending order") > 6 * 14, result.explain()



# With LLVM's runtime, cancelled loops stop with an error of the runtime itself, or hang.
@pytest.mark.parametrize("program, options, cancellation", [
    ("cancelled.gcc", ("--openmp=keep",), "true"),
    ("cancelled.gcc", ("--openmp=keep",), "false"),
    ("cancelled.clang", (), "false"),
])
def test_cancelled_loops_run_what_they_run_without_steelyard(program, options, cancellation, tmp_path):
    check(run_without_mpi(program, tmp_path, "regions", options=options, OMP_CANCELLATION=cancellation))


def test_loops_that_may_be_cancelled_stay_with_the_runtime(tmp_path):
    result = run_without_mpi("chunks.clang", tmp_path, OMP_CANCELLATION="true")
    assert result.status == 0, result.explain()
    loops = result.record["loops"]
    assert left(result, "OMP_CANCELLATION is true") == len(loops) > 0, result.explain()


@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_a_schedule_with_a_chunk_size_keeps_its_promise(compiler, tmp_path):
    result = run_without_mpi(f"chunks.{compiler}", tmp_path)
    assert result.status == 0, result.explain()
    assert result.out.strip() in ("as promised", "no turns"), result.explain()


def test_what_is_no_file_of_learn_stays_as_it_is(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("not to be lost")
    result = run_without_mpi("iterations.gcc", tmp_path, TWO, options=(f"--loops-learn={notes}",))
    check(result)
    assert notes.read_text() == "not to be lost"
    assert "no file that --loops-learn has written" in result.err, result.explain()


def test_none_is_no_file(tmp_path):
    options = ("--loops-learn=none", "--loops-replay=none", "--config=none", "--emulate=none")
    result = run_without_mpi("iterations.gcc", tmp_path, TWO, options=options)
    check(result)
    assert "learns in" not in result.err and "replays" not in result.err, result.explain()
    assert {result.record["options"][option.split("=")[0][2:]] for option in options} == {"none"}
    assert not list(tmp_path.glob("none*")) and not list(Path.cwd().glob("none*"))


def test_old_variable_without_the_launcher_is_named(tmp_path):
    program = BUILD / "tests/end_to_end/called_loops.plain.gfortran"
    ran = subprocess.run([program], text=True, env=environment(STEELYARD_LEARN=str(tmp_path / "x")),
                         capture_output=True, timeout=60)
    assert ran.returncode == 0 and "STEELYARD_LEARN is now STEELYARD_LOOPS_LEARN" in ran.stderr, ran.stderr


def test_unknown_strategy(openmpi):
    result = openmpi.run(1, "iterations.gcc", options=("--loops=stael",))
    assert result.status == 125
    assert "--loops is 'stael'" in result.err and "did you mean steal?" in result.err
    assert "hybrid[+tuned][+slack][+staggered]" in result.err


def test_learnt_and_repeated(openmpi, tmp_path):
    learnt = tmp_path / "loops.json"
    for option in ("--loops-learn", "--loops-replay"):
        check(run_without_mpi("iterations.gcc", tmp_path, TWO, options=(f"{option}={learnt}",)))
    assert learnt.is_file()
    check(openmpi.run(2, "iterations.gcc", TWO, options=(f"--loops-learn={learnt}",)))
    assert learnt.with_name("loops.json.0").is_file() and learnt.with_name("loops.json.1").is_file()


@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_replay_gives_each_thread_what_the_file_says(compiler, tmp_path):
    learnt = tmp_path / "loops.json"
    first = run_without_mpi(f"iterations.{compiler}", tmp_path, "threads", options=(f"--loops-learn={learnt}",))
    assert f"learns in {learnt}" in first.err, first.explain()
    written = json.loads(learnt.read_text())
    (assignment,) = (a for loop in written["loops"] for a in loop["assignments"])
    assert assignment["iterations"] == len(first.out.strip()), first.explain()
    assignment["threads"] = [[[i, i + 1] for i in range(thread, 40, 2)] for thread in (1, 0)]
    learnt.write_text(json.dumps(written))
    again = run_without_mpi(f"iterations.{compiler}", tmp_path, "threads", options=(f"--loops-replay={learnt}",))
    assert again.out.strip() == "10" * 20, again.explain()


def replayed(program: str, learnt: Path, folder: Path, *arguments: str, **variables: str) -> str:
    """What a replay has to say at its end."""
    result = run_without_mpi(program, folder, *arguments, options=(f"--loops-replay={learnt}",), **variables)
    remarks = [remark for remark in result.record["remarks"] if remark.startswith("--loops-replay ")]
    assert len(remarks) <= 1, result.explain()
    for remark in remarks:
        assert " ".join(result.err.split()).count(remark) == 1, f"in the summary, once: {result.explain()}"
    return remarks[0] if remarks else ""


def test_a_replay_says_what_it_has_not_repeated(tmp_path):
    learnt = tmp_path / "loops.json"
    run_without_mpi("iterations.gcc", tmp_path, "threads", options=(f"--loops-learn={learnt}",))
    written = json.loads(learnt.read_text())
    (loop,) = written["loops"]
    assert replayed("iterations.gcc", learnt, tmp_path, "threads") == ""

    # As of a program that was built anew, or of another one
    loop["key"] += "0"
    learnt.write_text(json.dumps(written))
    said = replayed("iterations.gcc", learnt, tmp_path, "threads")
    assert "repeated nothing, for none of the loops that ran is in its file" in said
    assert f"has 1 loop ({loop['key']}), while this run had 1 loop ({loop['key'][:-1]})" in said

    loop["key"] = loop["key"][:-1]
    del loop["assignments"][0]["threads"][1]
    loop["assignments"][0]["threads"][0] = [[0, 40]]
    learnt.write_text(json.dumps(written))
    assert "not repeat all executions of 1 out of 1 loop" in replayed("iterations.gcc", learnt, tmp_path, "threads")

    loop["assignments"] = []
    learnt.write_text(json.dumps(written))
    assert "has no assignment of any loop" in replayed("iterations.gcc", learnt, tmp_path, "threads")
    assert "its file is not used" in replayed("iterations.gcc", tmp_path / "none.json", tmp_path, "threads")


@pytest.mark.parametrize("options", [(), ("--loops=off",), ("--loops=guided",)])
def test_loops_that_fortran_divides_by_calls(options, tmp_path):
    program = BUILD / "tests/end_to_end/called_loops.plain.gfortran"
    native = subprocess.run([program], text=True, env=environment(), capture_output=True, timeout=60)
    assert native.returncode == 0 and native.stdout.strip() == "all once", native.stdout + native.stderr
    check(run_without_mpi("called_loops.gfortran", tmp_path, options=options))


def test_loops_of_a_runtime_that_is_linked_into_the_program():
    program = BUILD / "tests/end_to_end/hidden_runtime.plain.gcc"
    if not program.exists():
        pytest.skip("there is no libgomp.a here")
    ran = subprocess.run([program], text=True, env=environment(), capture_output=True, timeout=60)
    assert ran.returncode == 0 and ran.stdout.strip() == "all once, 40 of 60 refused", ran.stdout + ran.stderr
    assert ran.stderr.count("has an OpenMP runtime linked statically") == 1, ran.stderr


def test_a_replay_without_the_launcher_says_it_too(tmp_path):
    learnt = tmp_path / "loops.json"
    program = BUILD / "tests/end_to_end/called_loops.plain.gfortran"
    for variable in ("STEELYARD_LOOPS_LEARN", "STEELYARD_LOOPS_REPLAY"):
        ran = subprocess.run([program], text=True, env=environment(**{variable: str(learnt)}), capture_output=True,
                             timeout=60)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    written = json.loads(learnt.read_text())
    for loop in written["loops"]:
        loop["key"] = "elsewhere " + loop["key"]
    learnt.write_text(json.dumps(written))
    ran = subprocess.run([program], text=True, env=environment(STEELYARD_LOOPS_REPLAY=str(learnt)), capture_output=True,
                         timeout=60)
    assert ran.returncode == 0 and ran.stderr.count("--loops-replay repeated nothing") == 1, ran.stderr


def test_doctor():
    said = steelyard_command("doctor", str(BUILD / "tests/end_to_end/iterations.plain.gcc")).out
    assert "their iterations move between threads (--loops=auto)" in said
    assert "the OpenMP runtime divides these" in said
