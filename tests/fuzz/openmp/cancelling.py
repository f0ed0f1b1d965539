# SPDX-License-Identifier: BSD-3-Clause
"""Cancellation of loops, regions, sections and taskgroups. Without OMP_CANCELLATION=true all run to their end.

libomp 19 hangs or aborts once loops that ask it for chunks were cancelled, or were not reached by all threads. So such
loops are for gcc with libgomp alone.
"""

from __future__ import annotations

import random

from .construct import fill, kind
from .loops import iteration, numbered, repeated
from .shapes import random_schedule, random_shape, random_threads

CHECK = "if (omp_get_cancellation() && $may) check_at_most_once(t~); else check_times(t~, 1);\n"


STATIC = ("none", "static")
ASKING = ("static", "dynamic", "dynamic", "guided", "runtime", "runtime", "auto")


def _loop(rng: random.Random, number: int, cancelled: bool, kinds: tuple[str, ...]) -> tuple[str, str, str]:
    """Before, loop and check of a loop that may be cancelled; if so, with a schedule of `kinds`."""
    shape = random_shape(rng, most=200, least=1)
    schedule = random_schedule(rng, kinds=kinds if cancelled else ())
    at = rng.randrange(shape.count)
    inside = ""
    if cancelled:
        condition = rng.choice([f"k == {at}", f"k >= {at}", f"k % {rng.randint(1, 30)} == 0"])
        inside = f"if ({condition}) {{\n#pragma omp cancel for\n}}\n"
        if rng.random() < 0.6:
            inside += f"#pragma omp cancellation point for\n"
    before = f"Tally* t~ = new_tally({shape.count});\n{shape.before('i~')}"
    nowait = "" if cancelled else rng.choice(["", " nowait"])
    loop = f"#pragma omp for{schedule.clause}{nowait}\n{iteration(rng, shape, inside)}"
    check = fill(CHECK, may=int(cancelled)) + "drop_tally(t~);\n"
    return numbered(before, number), numbered(loop, number), numbered(check, number)


def _combined(rng: random.Random, kinds: tuple[str, ...]) -> tuple[str, str]:
    before, loop, check = _loop(rng, 0, True, kinds)
    loop = loop.replace("#pragma omp for", f"#pragma omp parallel for num_threads({random_threads(rng)})", 1)
    return "", repeated(rng, before + loop + check)


@kind("cancelled static loop", weight=2)
def static_loop(rng: random.Random) -> tuple[str, str]:
    return _combined(rng, STATIC)


@kind("cancelled loop", weight=5, families=("gcc",), libomp_lacks=True)
def asking_loop(rng: random.Random) -> tuple[str, str]:
    return _combined(rng, ASKING)


def _in_region(rng: random.Random, kinds: tuple[str, ...]) -> tuple[str, str]:
    """Loops, some of which are cancelled; those after them are complete."""
    before, loops, check = "", "", ""
    for i in range(rng.randint(2, 4)):
        texts = _loop(rng, i, rng.random() < 0.6, kinds)
        before, loops, check = before + texts[0], loops + texts[1], check + texts[2]
    text = f"{before}#pragma omp parallel num_threads({random_threads(rng)})\n{{\n{loops}}}\n{check}"
    return "", repeated(rng, text)


@kind("cancelled static loops in a region", weight=2)
def static_loops(rng: random.Random) -> tuple[str, str]:
    return _in_region(rng, STATIC)


@kind("cancelled loops in a region", weight=5, families=("gcc",), libomp_lacks=True)
def asking_loops(rng: random.Random) -> tuple[str, str]:
    return _in_region(rng, ASKING)


@kind("cancelled region", weight=5, families=("gcc",), libomp_lacks=True)
def region(rng: random.Random) -> tuple[str, str]:
    """cancel parallel inside and outside of loops; then a region that must be complete."""
    number = rng.randint(2, 8)
    schedule = random_schedule(rng, kinds=ASKING).clause
    where = rng.choice(
        [
            # One thread cancels before, between or in loops; others notice it at barriers.
            "if (omp_get_thread_num() == $who) {\n#pragma omp cancel parallel\n}\n#pragma omp barrier\n$loop",
            "#pragma omp for$schedule\nfor (int i = 0; i < 90; ++i) add(&done[i], 1), work(i, $pattern);\n"
            "if (omp_get_thread_num() == $who) {\n#pragma omp cancel parallel\n}\n"
            "#pragma omp cancellation point parallel\n$loop",
            "for (int n = 0; n < $number; ++n) {\nwork(n, $pattern);\n"
            "if (n == 1 && omp_get_thread_num() == $who) {\n#pragma omp cancel parallel\n}\n"
            "#pragma omp cancellation point parallel\n}\n",
        ]
    )
    loop = "#pragma omp for$schedule\nfor (int i = 90; i < 180; ++i) {\nadd(&done[i], 1);\nwork(i, $pattern);\n}\n"
    text = """int done[180], again = 0;
memset(done, 0, sizeof done);
#pragma omp parallel num_threads($threads)
{
$where
}
for (int i = 0; i < 180; ++i) at_most("executions in a cancelled region", done[i], 1);
#pragma omp parallel for$schedule num_threads($threads)
for (int i = 0; i < 100; ++i) add(&again, 1);
equal("iterations after a cancelled region", again, 100);
"""
    text = fill(
        text.replace("$where", where.replace("$loop", loop)),
        threads=random_threads(rng),
        who=rng.choice([0, 0, 1, 2]),
        number=number,
        schedule=schedule,
        pattern=rng.randint(0, 6),
    )
    return "", repeated(rng, text)


@kind("cancelled sections", weight=2, libomp_lacks=True)
def cancelled_sections(rng: random.Random) -> tuple[str, str]:
    number = rng.randint(2, 6)
    cancels = rng.randrange(number)
    sections = ""
    for i in range(number):
        cancel = "#pragma omp cancel sections\n" if i == cancels else "#pragma omp cancellation point sections\n"
        sections += f"#pragma omp section\n{{\nadd(&done[{i}], 1);\nwork({i}, {rng.randint(0, 6)});\n{cancel}}}\n"
    text = fill(
        """int done[$number], after = 0;
memset(done, 0, sizeof done);
#pragma omp parallel num_threads($threads)
{
#pragma omp sections
{
$sections}
#pragma omp for$schedule
for (int i = 0; i < 60; ++i) add(&after, 1);
}
for (int i = 0; i < $number; ++i)
  if (omp_get_cancellation()) at_most("executions of a cancelled section", done[i], 1);
  else equal("executions of a section", done[i], 1);
equal("iterations after cancelled sections", after, 60);
""",
        number=number,
        threads=random_threads(rng),
        sections=sections,
        schedule=random_schedule(rng).clause,
    )
    return "", repeated(rng, text)


@kind("cancelled taskgroup", weight=2)
def cancelled_taskgroup(rng: random.Random) -> tuple[str, str]:
    number = rng.randint(1, 40)
    text = fill(
        """int done = 0, other = 0;
#pragma omp parallel num_threads($threads)
{
#pragma omp single
{
#pragma omp taskgroup
{
for (int i = 0; i < $number; ++i)
#pragma omp task firstprivate(i) shared(done)
{
  add(&done, 1);
  work(i, $pattern);
  if (i == $number / 2) {
    #pragma omp cancel taskgroup
  }
  #pragma omp cancellation point taskgroup
}
}
#pragma omp task shared(other)
add(&other, 1);
}
#pragma omp for$schedule
for (int i = 0; i < 50; ++i) add(&other, 1);
}
if (omp_get_cancellation()) at_most("tasks of a cancelled group", done, $number);
else equal("tasks of a group", done, $number);
equal("tasks and iterations after a cancelled group", other, 51);
""",
        number=number,
        threads=random_threads(rng),
        pattern=rng.randint(0, 6),
        schedule=random_schedule(rng).clause,
    )
    return "", repeated(rng, text)
