# SPDX-License-Identifier: BSD-3-Clause
"""Programs that limit their threads themselves. Each is run where more threads would help its first rank a lot; none
may ever see more than it has provided for."""

import re

import pytest

from harness import EMULATED, FLAVOURS, LAUNCHERS, Mpi, check_measured

COMPILERS = ["clang", "gcc"]
NODE = ("--emulate=core:8 pu:1",)
CORES = 8


# Where the program only calls OpenMP's functions, its compiler makes no difference.
one_compiler = pytest.mark.parametrize("constrained", ["clang"], indirect=True)


@pytest.fixture(params=COMPILERS)
def constrained(request, tmp_path):
    """Runs constrained.c HOW; returns the result, largest teams, sizes of data, and strays, as the program saw them. No
    iteration may be lost, whatever it does. This is between us and OpenMP: each compiler has one MPI, not each."""
    installed = [flavour for flavour in FLAVOURS if flavour in LAUNCHERS]
    mpi = Mpi(installed[COMPILERS.index(request.param) % len(installed)], tmp_path)

    def run(how, *options):
        result = mpi.run(4, f"constrained.{request.param}", how, options=(*NODE, *options), **EMULATED)
        check_measured(result)
        lines = re.findall(r"^constrained: (\w+) ([\d ]+)$", result.out, re.MULTILINE)
        seen = {what: [int(number) for number in numbers.split()] for what, numbers in lines}
        assert seen["lost"] == [0], result.explain()
        told, after = seen["after"]
        assert told == after, "MPI_Finalize ends the program's time with us, not its regions"
        return result, seen["teams"], seen["sizes"], seen["strays"][0]

    return run


def test_a_free_program_gets_more(constrained):
    result, teams, _, strays = constrained("free")
    assert result.moves() and teams[0] > 2 and strays == 0, "the others below can only fail where this one moves"
    assert sum(result.threads_at_end) <= CORES


# gcc's code of a static loop asks for thread IDs. That is proved to be the compiler's own, once: what is known of the
# program's code outlasts each dlclose() of other code.
@pytest.mark.parametrize("how", ["static", "plugins"])
def test_a_static_loop_gets_more(constrained, how):
    result, teams, _, strays = constrained(how)
    assert result.moves() and teams[0] > 2 and strays == 0, result.summary
    assert "query thread IDs" not in result.summary, result.summary


def test_a_static_loop_keeps_its_count_if_told_to(constrained, request):
    result, teams, _, _ = constrained("static", "--thread-ids=keep")
    keeps = request.node.callspec.params["constrained"] == "gcc"
    assert (teams == [2] * 4) == keeps and bool(result.moves()) != keeps, result.summary


@pytest.mark.parametrize("lending", ["on", "off"])
def test_num_threads_clause(constrained, lending):
    result, teams, _, _ = constrained("clause", f"--lending={lending}")
    assert teams == [3] * 4
    assert not result.moves(), result.moves()
    assert all("num_threads(3)" in rank["fixed_reason"] for rank in result.record["ranks"])
    assert "num_threads(3)" in result.summary


def test_one_thread_by_clause(constrained):
    result, teams, _, _ = constrained("clause-one")
    assert teams == [1] * 4 and not result.moves(), result.moves()
    assert all("num_threads(1) or an if clause" in rank["fixed_reason"] for rank in result.record["ranks"])


@one_compiler
def test_omp_set_num_threads(constrained):
    result, teams, _, _ = constrained("set")
    assert teams == [3] * 4
    assert not result.moves()
    assert all("omp_set_num_threads(3)" in rank["fixed_reason"] for rank in result.record["ranks"])
    assert "omp_set_num_threads(3)" in result.summary


@one_compiler
def test_omp_set_num_threads_after_cores_have_moved(constrained):
    _, teams, _, _ = constrained("set-late")
    assert teams == [3] * 4


# By its number a thread may find its data, or its part of the work, in what the program made for as many threads as it
# was told of: more would write past the end, fewer would leave out work.
@pytest.mark.parametrize("numbers", ["keep", "auto"])
@pytest.mark.parametrize("how", ["max", "divide", "once", "lazy"])
def test_regions_that_ask_for_thread_numbers_keep_their_count(constrained, how, numbers):
    result, teams, sizes, strays = constrained(how, f"--thread-ids={numbers}")
    assert teams == sizes == [2] * 4 and strays == 0, (teams, sizes)
    assert not result.moves(), result.moves()
    assert "query thread IDs" in result.summary and "=resize" not in result.summary, result.summary


# On two threads: 4 ms with one thread, 6 ms by thread IDs, 8 ms free. The fixed time is more than half.
def test_the_reason_is_that_of_most_time_not_of_the_first_region(constrained):
    result, _, _, strays = constrained("causes", "--lending=off", "--loops=off")
    reason = "regions that query thread IDs kept their thread count"
    assert result.record["ranks"][0]["fixed_reason"] == reason and strays == 0, result.explain()
    assert reason in result.summary and "share out no work" not in result.summary, result.summary


@pytest.mark.parametrize("constrained", ["gcc"], indirect=True)
def test_a_region_that_is_to_ask_keeps_its_count(constrained):
    result, teams, _, strays = constrained("late")
    assert teams == [2] * 4 and strays == 0, (teams, strays)


def test_a_region_whose_tasks_ask_keeps_its_count(constrained):
    result, _, _, strays = constrained("tasks")
    assert strays == 0 and result.threads_at_end == [2] * 4 and not result.moves(), result.summary


# OpenMP runtimes take a region of one thread for none. A region inside of it would get a team, which it has not where
# the outer region has its two threads.
def test_a_region_that_shrinks_to_one_thread_makes_no_team_inside(constrained):
    result, teams, _, strays = constrained("nested", "--lending=off")
    assert result.moves() and teams[0] > 2, result.summary
    assert strays == 0


@one_compiler
def test_the_other_regions_of_such_a_program_are_free(constrained):
    result, teams, _, _ = constrained("mixed")
    assert teams[0] > 2, result.explain()
    (remark,) = [remark for remark in result.record["remarks"] if "query thread IDs" in remark]
    assert f"`steelyard doctor --verbose {result.record['command'][0]}` names the source lines" in remark
    (region,) = result.record["kept_regions"]
    assert (
        region["function"] in ("divided_step", "main") and region["function"] in remark
    ), "clang puts the one in the other"
    assert region["ranks"] == 4 and 0 < region["time"] < sum(rank["totals_ns"]["region_wall"]
                                                             for rank in result.record["ranks"]) / 1e9


@one_compiler
def test_thread_numbers_that_the_user_lets_be_resized(constrained):
    result, teams, _, _ = constrained("once", "--thread-ids=resize")
    assert result.moves() and teams[0] > 2
    result, teams, _, _ = constrained("once", "--thread-ids=resize", "--max-threads=4")
    assert result.moves() and 2 < teams[0] <= 4


@one_compiler
def test_omp_set_num_threads_of_omp_get_max_threads_is_no_limit(constrained):
    result, teams, _, _ = constrained("set-max")
    assert result.moves() and 2 < teams[0] <= CORES


@one_compiler
def test_a_count_that_is_put_back(constrained):
    result, teams, _, _ = constrained("restore")
    assert min(teams) >= 2, "as many as at start, at least"
    assert result.moves() and teams[0] > 2


def test_a_clause_of_omp_get_max_threads_says_nothing(constrained):
    result, teams, _, _ = constrained("clause-max", "--lending=off")
    assert result.moves() and 2 < teams[0] <= CORES
    assert sum(result.threads_at_end) <= CORES


@one_compiler
@pytest.mark.parametrize("options", [(), ("--observe",), ("--cores=off",)])
def test_the_program_s_own_larger_number_is_shown(constrained, options):
    _, teams, sizes, strays = constrained("set-more", *options)
    assert strays == 0, (teams, sizes)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_threadprivate_data(mpi, compiler):
    result = mpi.run(4, f"threadprivate.{compiler}", options=NODE, **EMULATED)
    check_measured(result)
    assert result.out == "threadprivate: strays 0\n"
    assert result.threads_at_end == [2] * 4 and not result.moves()
    assert any("thread-local data" in remark for remark in result.record["remarks"]), result.record["remarks"]
    assert "thread-local data" in result.summary and "=resize" not in result.summary, result.summary
