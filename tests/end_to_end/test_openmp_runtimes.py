# SPDX-License-Identifier: BSD-3-Clause
"""The OpenMP runtime of a program: its own, or LLVM's instead of GNU's, under Debian's name for it and under
upstream's."""

import re
from pathlib import Path

import pytest

from harness import BUILD, COMMAND, EMULATED, check_measured, run_without_mpi, steelyard_command

SHORT = ("--steps=3", "--work=4")
DEBIANS, UPSTREAMS = b"libomp.so.5\0", b"libomp.so\0\0\0"


def renamed(original: Path, copy: Path) -> Path:
    """A copy with upstream's name instead of Debian's: what the library calls itself, or what the program asks for."""
    content = original.read_bytes()
    assert DEBIANS in content
    copy.parent.mkdir(exist_ok=True)
    copy.write_bytes(content.replace(DEBIANS, UPSTREAMS))
    copy.chmod(0o755)
    return copy


@pytest.fixture
def upstream(mpi, tmp_path):
    """The runtime of this machine under upstream's name, in a folder of its own."""
    for line in steelyard_command("doctor", "--openmp=llvm", str(mpi.program("unbalanced.gcc"))).out.splitlines():
        if line.startswith("ok") and "OpenMP:" in line and "instead of GNU's" in line:
            found = Path(line.split("OpenMP: ")[1].split(" instead of")[0])
            break
    else:
        pytest.skip("LLVM's OpenMP runtime is not here")
    if found.name != "libomp.so.5":
        pytest.skip("this machine's has upstream's name")
    return renamed(found, tmp_path / "upstream" / "libomp.so")


def test_takes_gnu_s_place_under_upstream_s_name(mpi, upstream):
    result = mpi.run(
        2, "unbalanced.gcc", *SHORT, options=("--verbose", "--openmp=llvm"), LD_LIBRARY_PATH=str(upstream.parent)
    )
    check_measured(result)
    assert any("LD_PRELOAD=" in line and f":{upstream}" in line for line in result.said), result.explain()
    assert all(rank["openmp"] for rank in result.record["ranks"]), result.explain()


def constrained(mpi, how):
    """Results and thread counts of constrained.c with LLVM's runtime, where more threads would help rank 0 a lot."""
    options = ("--openmp=llvm", "--emulate=core:8 pu:1")
    result = mpi.run(4, "constrained.gcc", how, options=options, **EMULATED)
    check_measured(result)
    assert "constrained: strays 0\nconstrained: lost 0\n" in result.out, result.explain()
    teams = next(line for line in result.out.splitlines() if line.startswith("constrained: teams "))
    return result, [int(word) for word in teams.split()[2:]]


def test_static_loops_of_gcc_get_more_threads_under_llvm_s_runtime_as_the_doctor_says(mpi):
    result, teams = constrained(mpi, "static")
    assert result.moves() and teams[0] > 2, result.explain()
    assert "query thread IDs" not in result.summary, result.summary
    said = steelyard_command("doctor", "--openmp=llvm", str(mpi.program("constrained.gcc"))).out
    assert "thread-ID queries are proved" in said, said


def test_other_queries_of_gcc_s_code_keep_the_count_under_llvm_s_runtime(mpi):
    result, teams = constrained(mpi, "divide")
    assert teams == [2] * 4 and not result.moves(), result.explain()
    assert "query thread IDs" in result.summary, result.summary


def test_refuses_functions_that_llvm_s_runtime_lacks(tmp_path):
    """GNU's runtime would serve these beside LLVM's: a task of `target nowait` never ran."""
    refused = run_without_mpi("target.gcc", tmp_path, options=("--openmp=llvm",))
    assert refused.status != 0, refused.explain()
    assert "GOMP_target_ext(), which" in refused.err, refused.explain()
    assert run_without_mpi("target.gcc", tmp_path).status == 0


def test_a_program_that_asks_for_upstream_s_name(mpi, upstream, tmp_path):
    program = renamed(mpi.program("unbalanced.clang"), tmp_path / "app")
    words = ["-n", "2", str(COMMAND), "run", f"--record={mpi.record_file}", str(program), *SHORT]
    result = mpi.launch(words, LD_LIBRARY_PATH=str(upstream.parent))
    check_measured(result)
    assert all(rank["openmp"] for rank in result.record["ranks"]), result.explain()


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_runtime_that_comes_after_mpi_init_keeps_its_threads(mpi, compiler):
    """Its rank was given one core, and a team of one thread would make it slower than without Steelyard."""
    library = BUILD / "tests" / "end_to_end" / f"python_work.plain.{compiler}"
    result = mpi.run(2, "late_openmp.gcc", str(library), "12", options=("--emulate=package:1 core:8 pu:1",),
                     OMP_NUM_THREADS="3")
    assert sorted(result.out.splitlines()) == ["rank 0: teams of 3 to 3", "rank 1: teams of 3 to 3"], result.explain()
    for rank in result.record["ranks"]:
        assert "with 3 threads, was loaded after MPI_Init" in rank["fixed_reason"], rank["fixed_reason"]


@pytest.mark.parametrize(("value", "ranks"), [("", 1), ("", 2), ("0us", 2), ("1s", 2), ("200ms", 2)])
def test_a_length_of_spinning_that_the_user_gives_llvm_s_runtime_holds(mpi, value, ranks):
    def seen(result) -> list[str]:
        return re.findall(r"KMP_BLOCKTIME='?(\w+)", result.err)

    variables = {"OMP_DISPLAY_ENV": "verbose", "OMP_NUM_THREADS": "1"} | ({"KMP_BLOCKTIME": value} if value else {})
    words = mpi.job(ranks, "constrained.clang", "free", "1")
    native = mpi.launch(words, **variables)
    result = mpi.run(ranks, "constrained.clang", "free", "1", options=("--blocktime=auto",), **variables)
    as_natively = bool(value) or ranks == 1  # no other rank needs the cores of a lone one
    assert seen(result) and (seen(result) == seen(native)) == as_natively, result.explain() + native.explain()
    assert result.record["options"]["blocktime"] == ("auto" if as_natively else "100"), "what is in use"
    assert result.record["options"]["blocktime-auto"] == "on"
