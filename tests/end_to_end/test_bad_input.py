# SPDX-License-Identifier: BSD-3-Clause
"""Mistakes, each answered by a sentence; the program's own status comes through wherever it ran."""

import pytest

from harness import BUILD, COMMAND, FLAVOURS, LAUNCHERS, Mpi, check_measured, steelyard_command

SHORT = ("--steps=3", "--work=4")


def refused(result, *fragments, status=125):
    """One sentence, said once, and the program did not run."""
    assert result.status == status, result.explain()
    assert len(result.said) == 1, result.explain()
    for fragment in fragments:
        assert fragment in result.said[0], result.explain()
    assert not result.out and not result.record_file.is_file()


def test_mistyped_option(mpi):
    refused(mpi.run(3, "unbalanced.gcc", options=("--lendign=off",)), "--lendign", "--lending")


def test_name_that_an_option_had_before(mpi, tmp_path):
    refused(mpi.run(2, "unbalanced.gcc", options=("--thread-numbers=keep",)), "--thread-numbers is now --thread-ids")
    refused(mpi.run(2, "unbalanced.gcc", STEELYARD_VERDICT="off"), "STEELYARD_VERDICT is now STEELYARD_SUMMARY")
    config = tmp_path / "steelyard.toml"
    config.write_text("learn = 'loops.json'\n")
    refused(mpi.run(2, "unbalanced.gcc", options=(f"--config={config}",)), "line 1: learn is now loops-learn")


def test_value_that_an_option_does_not_take(mpi):
    refused(mpi.run(2, "unbalanced.gcc", options=("--lending=maybe",)), "--lending", "'maybe'", "on or off")


def test_config_file_that_is_not_there(mpi):
    refused(mpi.run(2, "unbalanced.gcc", options=("--config=/nowhere/steelyard.toml",)), "/nowhere/steelyard.toml",
            "No such file")


def test_mistyped_variable_is_named_and_the_program_runs(mpi):
    result = mpi.run(2, "unbalanced.gcc", *SHORT, STEELYARD_LENDIGN="off")
    check_measured(result)
    (sentence,) = [line for line in result.said if "STEELYARD_LENDIGN" in line]
    assert "STEELYARD_LENDING" in sentence


def test_variable_with_a_value_that_it_does_not_take(mpi):
    refused(mpi.run(2, "unbalanced.gcc", STEELYARD_SPIN="long"), "STEELYARD_SPIN", "'long'")


def test_record_that_cannot_be_written_is_refused(mpi):
    result = mpi.launch(mpi.measured(2, "exits.gcc", "status", options=("--record=/nowhere/run.json",)))
    refused(result, "--record=/nowhere/run.json", "No such file")


@pytest.mark.parametrize("place, cause", [("/dev/full", "No space left")])
def test_record_that_turns_out_not_to_be_writable(mpi, place, cause):
    result = mpi.launch(mpi.measured(2, "exits.gcc", "status", options=(f"--record={place}",)))
    assert result.status == 3, "the program's own"
    assert len(result.summaries) == 1
    (sentence,) = [line for line in result.said if "cannot be written" in line]
    assert place in sentence and cause in sentence and "--record" in sentence
    assert f"record {place}" not in result.summary, "nothing was written there"


def test_no_record_is_wanted(mpi):
    result = mpi.run(2, "unbalanced.gcc", *SHORT, options=("--record=none", "--summary=off"))
    assert result.status == 0 and not result.record_file.exists()
    assert len(result.header_lines) == 1 and not result.summaries


def test_static_program(mpi):
    static = BUILD / "tests/end_to_end/static"
    refused(mpi.launch(["-n", "2", str(COMMAND), "run", str(static)]), "statically linked", str(static))
    refused(steelyard_command("run", str(static)), "statically linked")


def test_launcher_of_another_mpi(mpi):
    others = [other for other in FLAVOURS if other != mpi.flavour and other in LAUNCHERS]
    if not others:
        pytest.skip("there is one MPI here")
    words = mpi.measured(2, "unbalanced.gcc")
    names = {"openmpi": "Open MPI", "mpich": "MPICH"}
    refused(Mpi(others[0], mpi.record_file.parent).launch(words), names[mpi.flavour], names[others[0]])


def test_program_that_is_not_there(mpi):
    result = mpi.launch(["-n", "2", str(COMMAND), "run", "./no-such-program"])
    refused(result, "./no-such-program", "No such file", status=127)


def test_file_that_is_no_program(mpi, tmp_path):
    text = tmp_path / "text"
    text.write_text("not a program\n")
    refused(mpi.launch(["-n", "2", str(COMMAND), "run", str(text)]), str(text), "Permission denied", status=126)


def test_no_program(mpi):
    refused(mpi.launch(["-n", "2", str(COMMAND), "run", "--observe"]), "no program given")


@pytest.mark.parametrize("words, status", [((), 2), (("--help",), 0), (("run", "--help"), 0), (("top", "--help"), 0),
                                           (("options",), 0), (("--version",), 0)])
def test_help_is_printed_by_one_rank(mpi, words, status):
    alone = steelyard_command(*words)
    assert alone.status == status and len(alone.out) > 20, alone.explain()
    result = mpi.launch(["-n", "3", str(COMMAND), *words])
    assert result.status == status and result.out == alone.out, result.explain()


@pytest.mark.parametrize("script, status", [("true", 0), ("exit 7", 7), ("kill -9 $$", -9)])
def test_program_without_mpi(script, status):
    result = steelyard_command("run", "sh", "-c", script)
    assert result.status == status, result.explain()
    assert len(result.said) == 1 and "sh is a shell: nothing is balanced" in result.said[0], result.explain()


def test_program_without_mpi_under_mpirun(mpi):
    result = mpi.launch(["-n", "3", str(COMMAND), "run", "sh", "-c", "echo here"])
    assert result.status == 0 and result.out == "here\n" * 3
    assert len(result.said) == 1 and "initialised no MPI" in result.said[0], "said once, not by each rank"


def test_steelyard_within_steelyard(mpi):
    head, ranks, *rest = mpi.measured(2, "unbalanced.gcc", *SHORT)
    result = mpi.launch([head, ranks, str(COMMAND), "run", *rest])
    check_measured(result)


def test_mpirun_within_steelyard(mpi):
    program = [mpi.mpirun, *mpi.job(2, "unbalanced.gcc", *SHORT)]
    result = steelyard_command("run", *program)
    assert result.status == 0 and "unbalanced: steps 3" in result.out, result.explain()
    assert not result.header_lines and "steelyard run ./app" in result.err, "it is said how to do it"


def test_without_mpirun(mpi, tmp_path):
    record = tmp_path / "single.json"
    result = steelyard_command("run", f"--record={record}", str(mpi.program("unbalanced.gcc")), *SHORT)
    result.record_file = record
    check_measured(result)
    assert len(result.record["ranks"]) == 1
