# SPDX-License-Identifier: BSD-3-Clause
"""The generator of OpenMP programs: what it makes compiles and is right natively, and a broken runtime is found."""

from __future__ import annotations

import os
import random
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import confirm  # noqa: E402
from openmp import campaign as openmp_campaign  # noqa: E402
from openmp import compilers, shapes, trial  # noqa: E402
from openmp.construct import FAMILIES, KEEPS_COUNT, KINDS, Construct  # noqa: E402
from openmp.execution import execute  # noqa: E402
from openmp.program import Program, program_of_kind, random_program, random_ranks  # noqa: E402
from openmp.shrink import shrink  # noqa: E402

COMMAND = Path(__file__).parent / "openmp.py"
FOUND = compilers.found(list(FAMILIES))
needs_gcc = pytest.mark.skipif("gcc" not in FOUND, reason="gcc is not installed")

# Loses one chunk of each loop with schedule(dynamic).
BROKEN = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
static __thread int calls;
bool GOMP_loop_nonmonotonic_dynamic_next(long* first, long* last) {
  static bool (*next)(long*, long*);
  if (!next) next = (bool (*)(long*, long*))dlsym(RTLD_NEXT, "GOMP_loop_nonmonotonic_dynamic_next");
  if (calls++ % 5 == 2 && !next(first, last)) return false;
  return next(first, last);
}
"""


def steelyard(directory: Path, script: str) -> Path:
    """A build directory whose `steelyard run` is this shell script: its last argument is the program."""
    command = directory / "bin" / "steelyard"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nfor program; do :; done\n{script}\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    return directory


def running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def campaign(build: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(COMMAND), f"--build={build}", "--compilers=gcc", "--jobs=1", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=280)


def test_shapes_stay_inside_of_their_types() -> None:
    for seed in range(3000):
        shape = shapes.random_shape(random.Random(seed))
        low, high = shapes.LIMITS[shape.type_name]
        values = [shape.first + k * shape.step for k in range(shape.count + 1)]
        assert all(low <= value <= high for value in [*values, shape.bound]), shape
        holds = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "!=": int.__ne__}[shape.relation]
        assert all(holds(value, shape.bound) for value in values[:-1]), shape
        assert not holds(values[-1], shape.bound), shape


def test_a_seed_repeats_its_programs() -> None:
    first, second = (random_program(random.Random("7:3")) for _ in range(2))
    assert first.source() == second.source()
    assert first.source() != random_program(random.Random("7:4")).source()


def test_constructs_keep_their_numbers_when_others_go() -> None:
    program = random_program(random.Random(5), size=10)
    rest = program.only({2, 7})
    assert rest.numbers == [2, 7]
    assert "construct7" in rest.source() and "construct3" not in rest.source()


@pytest.mark.parametrize("family", FOUND)
def test_each_kind_compiles(family: str, tmp_path: Path) -> None:
    """One program for each language, with all kinds."""
    for language in ("c", "c++", "fortran"):
        if not compilers.compiler(family, language):
            continue
        kinds = [k for k in KINDS.values() if language in k.languages and family in k.families]
        constructs = tuple(enumerate(k.construct(random.Random(k.name)) for k in kinds))
        executable, message = compilers.build(Program(language, (family,), constructs, 1), family, tmp_path)
        assert executable, message


def test_regions_of_ranks_can_be_resized_unless_a_check_needs_their_count() -> None:
    free = Construct("free", "#pragma omp parallel for num_threads(3) schedule(static)\n")
    assert free.without_counts().body == "#pragma omp parallel for schedule(static)\n"
    checked = Construct("checked", "#pragma omp parallel num_threads(3)\ncheck_team(promised, 3);\n")
    assert checked.without_counts() == checked
    programs = [random_ranks(random.Random(seed), "openmpi") for seed in range(100)]
    kept = [any(construct.has(KEEPS_COUNT) for _, construct in program.constructs) for program in programs]
    assert 0 < sum(kept) < 30
    assert 30 < sum(program.resizable for program in programs) < 100


@needs_gcc
@pytest.mark.parametrize("name", ["loops in a region", "chain of static loops", "static loop nest", "nested loops",
                                  "cancelled loop", "task tree"])
def test_programs_are_right_natively(name: str, tmp_path: Path) -> None:
    executable, message = compilers.build(program_of_kind(name, random.Random(1)), "gcc", tmp_path)
    assert executable, message
    outcome = execute([str(executable)], {"OMP_NUM_THREADS": "3", "OMP_CANCELLATION": "true"}, tmp_path, 100)
    assert outcome.right, outcome


@needs_gcc
def test_a_wrong_program_says_so(tmp_path: Path) -> None:
    body = 'Tally* t = new_tally(3);\nhit(t, 0), hit(t, 1), hit(t, 1);\ncheck_times(t, 1);\ndrop_tally(t);\n'
    program = Program("c", ("gcc",), ((4, Construct("planted", body)),), 1)
    executable, message = compilers.build(program, "gcc", tmp_path)
    assert executable, message
    outcome = execute([str(executable)], {}, tmp_path, 100)
    assert (outcome.status, outcome.symptom, outcome.culprit) == (1, "wrong", 4)
    assert "iteration: 1, not 3" in outcome.out and "iteration: 2, not 3" in outcome.out


def test_a_program_that_hangs_is_killed_with_what_it_started(tmp_path: Path) -> None:
    outcome = execute(["/bin/sh", "-c", "echo '3 here:'; sleep 987 & echo $!; wait"], {}, tmp_path, 1)
    assert outcome.status is None and outcome.symptom == "hang" and outcome.culprit == 3
    child = int(outcome.out.split()[-1])
    ends = time.monotonic() + 60  # a killed process is gone once it was scheduled
    while running(child):
        assert time.monotonic() < ends
        time.sleep(0.1)


def test_shrinking_keeps_what_the_failure_needs() -> None:
    program = random_program(random.Random(9), size=24)
    small = shrink(program, lambda candidate: {3, 17} <= set(candidate.numbers), 17, 60)
    assert small.numbers == [3, 17]
    assert small.rounds == 1


@needs_gcc
def test_a_broken_runtime_is_found_and_shrunk(tmp_path: Path) -> None:
    source, library = tmp_path / "broken.c", tmp_path / "broken.so"
    source.write_text(BROKEN)
    subprocess.run([compilers.compiler("gcc", "c") or "gcc", "-shared", "-fPIC", str(source), "-o", str(library),
                    "-ldl"], check=True)
    build = steelyard(tmp_path / "build", f'LD_PRELOAD={library} exec "$program"')
    result = campaign(build, "--seed=10", "--seconds=200", "--programs=1", "--size=12", "--shrink-seconds=15")
    assert result.returncode == 1, result.stdout + result.stderr
    assert not result.stdout.splitlines()[-1].endswith(" 0 differences")
    (kept, *_) = sorted((build / "fuzz").glob("openmp-*"))
    names = {file.stem for file in kept.iterdir()}
    assert {"program", "shrunk", "command", "shrunk-command", "output"} <= names
    shrunk, whole = ((next(kept.glob(f"{name}.[cf]*"))).read_text() for name in ("shrunk", "program"))
    assert len(shrunk) < len(whole)


@needs_gcc
def test_what_hangs_is_a_difference(tmp_path: Path) -> None:
    build = steelyard(tmp_path / "build", "sleep 1000")
    result = campaign(build, "--seed=7", "--seconds=8", "--programs=1", "--size=2", "--timeout=2",
                      "--shrink-seconds=1")
    assert result.returncode == 1, result.stdout + result.stderr
    assert "hang" in result.stdout


@needs_gcc
@pytest.mark.parametrize(("fails_in", "differences"), [(6, 0), (7, 1)])
def test_what_fails_natively_in_some_runs_is_no_difference(
    fails_in: int, differences: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the first native run five more confirm a difference: a failure in the last of these drops it."""
    runs = tmp_path / "runs"
    body = (
        f'FILE* f = fopen("{runs}", "a");\nfputc(46, f);\nfseek(f, 0, SEEK_END);\n'
        f'expect(ftell(f) < {fails_in}, "native run", ftell(f), 0);\nfclose(f);\n'
    )
    program = Program("c", ("gcc",), ((0, Construct("planted", body, libomp_lacks=True)),), 1)
    monkeypatch.setattr(openmp_campaign, "random_program", lambda *_: program)
    monkeypatch.setattr(confirm, "NATIVE_MOST", 5)
    build = steelyard(tmp_path / "build", "exit 1")
    options = openmp_campaign.Options(build, "4", 100, 1, ("gcc",), 1, 0, 1, 30, 1)
    counts = openmp_campaign.Campaign(options).run()
    assert counts.differences == differences
    assert (counts.natively_unstable == 0) == bool(differences)


def campaign_of_one(
    script: str, directory: Path, monkeypatch: pytest.MonkeyPatch, strict: bool = False
) -> tuple[openmp_campaign.Campaign, Path]:
    """A campaign of one program that is right natively. Its `steelyard run` is this script, in which $run counts runs
    from 1.

    @return the campaign after it has run, and the folder that keeps the program if it fails
    """
    program = Program("c", ("gcc",), ((0, Construct("none", "", libomp_lacks=True)),), 1)
    monkeypatch.setattr(openmp_campaign, "random_program", lambda *_: program)
    monkeypatch.setattr(openmp_campaign, "random_options", lambda *_: [()])
    monkeypatch.setattr(openmp_campaign, "ENVIRONMENTS", 1)
    monkeypatch.setattr(confirm, "NATIVE_MOST", 5)
    runs = directory / "runs"
    build = steelyard(directory / "build", f'echo >> {runs}; run=$(wc -l < {runs})\n{script}\nexec "$program"')
    campaign = openmp_campaign.Campaign(openmp_campaign.Options(build, "4", 100, 1, ("gcc",), 1, 0, 1, 30, 1,
                                                                strict=strict))
    campaign.run()
    return campaign, build / "fuzz" / "openmp-4-0-gcc"


CRASH = "{ echo 'cause of the crash' >&2; kill -ABRT $$; }"


@needs_gcc
@pytest.mark.parametrize("strict", [False, True])
def test_a_crash_that_is_not_repeated_is_reported_and_fails_a_strict_campaign(
    strict: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign, kept = campaign_of_one(f"[ $run -ne 1 ] || {CRASH}", tmp_path, monkeypatch, strict)
    assert (campaign.counts.differences, campaign.counts.seen_once, campaign.failed) == (0, 1, strict)
    said = capsys.readouterr().out
    assert "killed by signal 6" in said and "seen once, not repeated" in said and "    cause of the crash" in said
    assert "cause of the crash" in (kept / "output.txt").read_text()
    assert (kept / "command.sh").exists() and not list(kept.glob("shrunk*"))
    assert len((tmp_path / "runs").read_text()) == 1 + confirm.AGAIN_MOST


@needs_gcc
def test_a_crash_that_is_repeated_is_a_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign, kept = campaign_of_one(f"[ $((run % 8)) -ne 1 ] || {CRASH}", tmp_path, monkeypatch)
    assert (campaign.counts.differences, campaign.counts.seen_once, campaign.failed) == (1, 0, True)
    assert "    cause of the crash" in capsys.readouterr().out
    assert list(kept.glob("shrunk.c"))


@needs_gcc
@pytest.mark.parametrize("wrong", ["echo 'ok 1'; exit", "echo; exit", "echo '3 loop: WRONG sum: 1, not 2;'; exit 1"])
def test_a_wrong_result_is_a_difference_even_if_it_is_not_repeated(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign, _ = campaign_of_one(f"[ $run -ne 1 ] || {{ {wrong}; }}", tmp_path, monkeypatch)
    assert (campaign.counts.differences, campaign.counts.seen_once, campaign.failed) == (1, 0, True)
    assert ("WRONG sum" in capsys.readouterr().out) == ("WRONG" in wrong)


@needs_gcc
@pytest.mark.parametrize("message", trial.OWN_ABORTS)
def test_what_libomp_aborts_in_by_itself_is_no_difference(message: str, tmp_path: Path,
                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    campaign, _ = campaign_of_one(f"echo '{message}.' >&2; kill -ABRT $$", tmp_path / "right", monkeypatch)
    assert (campaign.counts.differences, campaign.counts.seen_once, campaign.own_aborts,
            campaign.failed) == (0, 0, 1, False)
    campaign, _ = campaign_of_one(f"echo '3 loop: WRONG;'; echo '{message}.' >&2; kill -ABRT $$", tmp_path / "wrong",
                                  monkeypatch)
    assert (campaign.counts.differences, campaign.own_aborts) == (1, 0)


@needs_gcc
def test_what_is_right_is_no_difference(tmp_path: Path) -> None:
    build = steelyard(tmp_path / "build", 'exec "$program"')
    result = campaign(build, "--seed=5", "--seconds=100", "--programs=1", "--size=4")
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.splitlines()[-1].endswith(" 0 differences")


def test_no_variable_of_the_user_reaches_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "17")
    outcome = execute(["/bin/sh", "-c", "echo ${OMP_NUM_THREADS-none}"], {}, tmp_path, 30)
    assert outcome.out == "none\n" and os.environ["OMP_NUM_THREADS"] == "17"
