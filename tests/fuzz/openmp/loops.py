# SPDX-License-Identifier: BSD-3-Clause
"""Worksharing loops: combined, in regions, orphaned, several in a region, collapsed, simd.

Text of a loop has `~` where the number of the loop in its construct goes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from .construct import fill, kind
from .shapes import Schedule, Shape, random_schedule, random_shape, random_threads


@dataclass(frozen=True)
class Extra:
    """A clause of a loop, and what stands before the region, in the iteration, and after the region."""

    clause: str = ""
    before: str = ""
    inside: str = ""
    after: str = ""


def _reduction(rng: random.Random, count: int) -> Extra:
    terms = [k * 7 + 3 for k in range(count)]
    exclusive, inclusive = 77, 1
    for term in terms:
        exclusive ^= term
        inclusive |= term
    operator, start, total, step = rng.choice(
        [
            ("+", 5, 5 + sum(terms), "red~ += k * 7 + 3;"),
            ("max", 4, max([4, *terms]), "if (k * 7 + 3 > red~) red~ = k * 7 + 3;"),
            ("min", 9, min([9, *terms]), "if (k * 7 + 3 < red~) red~ = k * 7 + 3;"),
            ("^", 77, exclusive, "red~ ^= k * 7 + 3;"),
            ("|", 1, inclusive, "red~ |= k * 7 + 3;"),
            ("&&", 1, 1, "red~ = red~ && k >= 0;"),
        ]
    )
    return Extra(
        f" reduction({operator}:red~)",
        f"long red~ = {start};\n",
        step,
        f'equal("a reduction", red~, {total});\nnote(red~);\n',
    )


def _lastprivate(rng: random.Random, count: int) -> Extra:
    after = f'equal("a lastprivate variable", last~, {(count - 1) * 5 + 2});\nnote(last~);\n' if count else ""
    return Extra(" lastprivate(last~)", "long last~ = -1;\n", "last~ = k * 5 + 2;", after)


def _firstprivate(rng: random.Random, count: int) -> Extra:
    return Extra(" firstprivate(first~)", "long first~ = 41;\n", 'equal("a firstprivate variable", first~, 41);')


def _linear(rng: random.Random, count: int) -> Extra:
    return Extra(" linear(line~ : 3)", "long line~ = 11;\n",
                 'equal("a linear variable", line~, 11 + 3 * k); line~ += 3;')


def _ordered(rng: random.Random, count: int) -> Extra:
    # Not every iteration needs an ordered region.
    condition, wanted = rng.choice([("1", count), ("k % 2 == 0", (count + 1) // 2)])
    inside = (
        f"if ({condition}) {{\n#pragma omp ordered\n"
        '{ expect(k > prior~, "order", k, prior~); prior~ = k; ++regions~; }\n}'
    )
    return Extra(
        " ordered", "long prior~ = -1, regions~ = 0;\n", inside, f'equal("ordered regions", regions~, {wanted});\n'
    )


EXTRAS = (_reduction, _lastprivate, _firstprivate, _linear, _ordered)


def random_extra(rng: random.Random, count: int, ordered: bool = True) -> Extra:
    """A clause, or none."""
    if rng.random() < 0.4:
        return Extra()
    return rng.choice(EXTRAS if ordered else EXTRAS[:-1])(rng, count)


def _kept(extra: Extra, schedule: Schedule) -> Extra:
    """libomp 19 by itself loses lastprivate values of dynamic loops: `lastprivate of a dynamic loop` is for gcc."""
    return Extra() if "lastprivate" in extra.clause and schedule.kind in ("dynamic", "runtime") else extra


def checks(schedule: Schedule, times: int = 1) -> str:
    """What is true of tally `t~` after a loop that was executed so many times by this schedule."""
    text = f"check_times(t~, {times});\n"
    if times == 1 and schedule.chunk and schedule.kind == "dynamic":
        text += f"check_chunks(t~, {schedule.chunk});\n"
    if times == 1 and schedule.chunk and schedule.kind == "guided":
        text += f"check_least_chunks(t~, {schedule.chunk});\n"
    return text


def repeated(rng: random.Random, text: str) -> str:
    """Several executions: strategies are compared from the third one on."""
    return fill(
        "for (int repeat = 0; repeat < $repeats; ++repeat) {\n$text}\n", repeats=rng.choice([1, 2, 3, 4, 6]), text=text
    )


def iteration(rng: random.Random, shape: Shape, inside: str = "") -> str:
    """The loop, which counts its iterations in `t~`."""
    return fill(
        """$header {
  const long k = $index;
  $inside
  hit(t~, k);
  work(k, $pattern);
}
""",
        header=shape.header("i~"),
        index=shape.index("i~"),
        inside=inside,
        pattern=rng.randint(0, 6),
    )


def numbered(text: str, number: int) -> str:
    return text.replace("~", str(number))


@kind("combined loop", weight=8)
def combined(rng: random.Random) -> tuple[str, str]:
    shape = random_shape(rng)
    extra = random_extra(rng, shape.count)
    schedule = random_schedule(rng, ordered="ordered" in extra.clause)
    extra = _kept(extra, schedule)
    clauses = rng.choice(["", f" num_threads({random_threads(rng)})", f" num_threads({random_threads(rng)})"])
    clauses += rng.choice(["", "", "", " if(0)", " if(parallel: 1)", " proc_bind(spread)", " proc_bind(close)"])
    text = fill(
        """Tally* t~ = new_tally($count);
t~->monotonic = $monotonic;
$before$variables#pragma omp parallel for$schedule$clauses$extra
$loop$checks${after}drop_tally(t~);
""",
        count=shape.count,
        monotonic=schedule.monotonic,
        before=extra.before,
        variables=shape.before("i~"),
        schedule=schedule.clause,
        clauses=clauses,
        extra=extra.clause,
        loop=iteration(rng, shape, extra.inside),
        checks=checks(schedule),
        after=extra.after,
    )
    return "", repeated(rng, numbered(text, 0))


@kind("loops in a region", weight=8)
def in_region(rng: random.Random) -> tuple[str, str]:
    """One to four loops, some with nowait, sometimes repeated inside of the region."""
    loops, before, after = "", "", ""
    again = rng.choice([1, 1, 2, 5])
    threads = random_threads(rng)
    for i in range(rng.randint(1, 4)):
        shape = random_shape(rng, most=150)
        extra = random_extra(rng, shape.count) if again == 1 else Extra()
        schedule = random_schedule(rng, ordered="ordered" in extra.clause)
        extra = _kept(extra, schedule)
        nowait = rng.choice(["", " nowait"])
        monotonic = schedule.monotonic if again == 1 else "0"
        before += numbered(
            f"Tally* t~ = new_tally({shape.count});\nt~->monotonic = {monotonic};\n{extra.before}{shape.before('i~')}",
            i
        )
        loops += numbered(f"#pragma omp "
                          f"for{schedule.clause}{extra.clause}{nowait}\n{iteration(rng, shape, extra.inside)}", i)
        after += numbered(f"{checks(schedule, again)}{extra.after}drop_tally(t~);\n", i)
    if again > 1:
        loops = f"for (int again = 0; again < {again}; ++again) {{\n{loops}}}\n"
    text = fill(
        """const int promised = count_is_promised();
$before#pragma omp parallel num_threads($threads)
{
check_team(promised, $threads);
$loops}
$after""",
        before=before,
        threads=threads,
        loops=loops,
        after=after,
    )
    return "", repeated(rng, text)


@kind("orphaned loop", weight=5)
def orphaned(rng: random.Random) -> tuple[str, str]:
    """A loop in a function that regions of several sizes call, and code outside of any."""
    shape = random_shape(rng, most=150)
    schedule = random_schedule(rng)
    nowait = rng.choice(["", " nowait"])
    declarations = fill(
        """static void __attribute__((noinline)) orphan@(Tally* t~) {
$variables#pragma omp for$schedule$nowait
$loop}
""",
        variables=shape.before("i~"),
        schedule=schedule.clause,
        nowait=nowait,
        loop=iteration(rng, shape),
    )
    calls = ""
    for threads in [random_threads(rng) for _ in range(rng.randint(1, 4))]:
        calls += f"#pragma omp parallel num_threads({threads})\n{{\n"
        calls += rng.choice(["orphan@(t~);\n", "orphan@(t~);\n",
                             "#pragma omp barrier\norphan@(t~);\n#pragma omp barrier\n"])
        calls += (
            f"}}\n{checks(schedule)}memset(t~->hits, 0, sizeof(int) * t~->count);\nmemset(t~->thread, 0, sizeof"
            " t~->thread);\n"
        )
    if rng.random() < 0.5:
        calls += f"orphan@(t~);\n{checks(schedule)}"
    text = f"Tally* t~ = new_tally({shape.count});\nt~->monotonic = {schedule.monotonic};\n{calls}drop_tally(t~);\n"
    return numbered(declarations, 0), repeated(rng, numbered(text, 0))


@kind("collapsed loop", weight=4)
def collapsed(rng: random.Random) -> tuple[str, str]:
    depth = rng.choice([2, 2, 3])
    shapes = [random_shape(rng, most=(24 if depth == 2 else 8), least=rng.choice([0, 1, 4])) for _ in range(depth)]
    count = 1
    index = "0L"
    for i, shape in enumerate(shapes):
        count *= shape.count
        index = f"({index} * {shape.count} + {shape.index(f'i{i}')})"
    schedule = random_schedule(rng)
    extra = random_extra(rng, count, ordered=False)
    while "linear" in extra.clause or "lastprivate" in extra.clause:  # libomp 19 loses some values of the latter
        extra = random_extra(rng, count, ordered=False)
    text = fill(
        """Tally* t~ = new_tally($count);
t~->monotonic = $monotonic;
$before$variables#pragma omp parallel for collapse($depth)$schedule num_threads($threads)$extra
$headers {
  const long k = $index;
  $inside
  hit(t~, k);
  work(k, $pattern);
}
$checks${after}drop_tally(t~);
""",
        count=count,
        monotonic=schedule.monotonic,
        before=extra.before,
        variables="".join(shape.before(f"i{i}") for i, shape in enumerate(shapes)),
        depth=depth,
        schedule=schedule.clause,
        threads=random_threads(rng),
        extra=extra.clause,
        headers="\n".join(shape.header(f"i{i}") for i, shape in enumerate(shapes)),
        index=index,
        inside=extra.inside,
        pattern=rng.randint(0, 6),
        checks=checks(schedule),
        after=extra.after,
    )
    return "", repeated(rng, numbered(text, 0))


@kind("lastprivate of a dynamic loop", weight=3, families=("gcc",))
def last_of_dynamic(rng: random.Random) -> tuple[str, str]:
    shape = random_shape(rng)
    schedule = random_schedule(rng, kinds=("dynamic", "runtime"))
    extra = _lastprivate(rng, shape.count)
    text = fill(
        """Tally* t~ = new_tally($count);
$before$variables#pragma omp parallel for$schedule$extra num_threads($threads)
$loop$checks${after}drop_tally(t~);
""",
        count=shape.count,
        before=extra.before,
        variables=shape.before("i~"),
        schedule=schedule.clause,
        extra=extra.clause,
        threads=random_threads(rng),
        loop=iteration(rng, shape, extra.inside),
        checks=checks(schedule),
        after=extra.after,
    )
    return "", repeated(rng, numbered(text, 0))


@kind("triangular loop")
def triangular(rng: random.Random) -> tuple[str, str]:
    """A loop nest whose inner bounds depend on the outer variable."""
    side = rng.randint(1, 24)
    text = fill(
        """Tally* t~ = new_tally($side * $side);
#pragma omp parallel for collapse(2) num_threads($threads)
for (int i = 0; i < $side; ++i)
for (int j = 0; j <= i; ++j) {
  hit(t~, i * $side + j);
  work(j, $pattern);
}
for (int i = 0; i < $side; ++i)
  for (int j = 0; j < $side; ++j) equal("executions in a triangle", t~->hits[i * $side + j], j <= i);
drop_tally(t~);
""",
        side=side,
        threads=random_threads(rng),
        pattern=rng.randint(0, 6),
    )
    return "", repeated(rng, numbered(text, 0))


@kind("simd loop")
def simd(rng: random.Random) -> tuple[str, str]:
    count, threads = rng.randint(0, 300), random_threads(rng)
    schedule = rng.choice(["", "schedule(simd: dynamic, 4)", "schedule(simd: static)", "schedule(dynamic)",
                           "schedule(guided, 8)"])
    text = fill(
        """int values[$count + 1];
long sum = 0;
memset(values, 0, sizeof values);
#pragma omp parallel for simd $schedule reduction(+ : sum) num_threads($threads) safelen(8)
for (int i = 0; i < $count; ++i) {
  values[i] += i + 1;
  sum += values[i];
}
for (int i = 0; i < $count; ++i) equal("a value of a simd loop", values[i], i + 1);
equal("sum of a simd loop", sum, (long)$count * ($count + 1) / 2);
note(sum);
""",
        count=count,
        schedule=schedule,
        threads=threads,
    )
    return "", repeated(rng, text)


@kind("static chunks", weight=3)
def static_chunks(rng: random.Random) -> tuple[str, str]:
    """Which thread runs what in static loops: promised with a chunk size, and from loop to loop of a region."""
    shape, chunk, threads = random_shape(rng), rng.randint(1, 30), random_threads(rng)
    clause = rng.choice(["", " schedule(static)", " schedule(static)"])
    text = fill(
        """Tally* t0 = new_tally($count);
Tally* t1 = new_tally($count);
Tally* t2 = new_tally($count);
int team = 0;
$variables#pragma omp parallel num_threads($threads)
{
#pragma omp single
team = omp_get_num_threads();
#pragma omp for schedule(static, $chunk) nowait
$header hit_by(t0, $index, omp_get_thread_num() + 1);
#pragma omp for$clause nowait
$header hit_by(t1, $index, omp_get_thread_num() + 1);
#pragma omp for$clause
$header hit_by(t2, $index, omp_get_thread_num() + 1);
}
check_times(t0, 1), check_times(t1, 1), check_times(t2, 1);
check_round_robin(t0, $chunk, team);
for (long k = 0; k < $count; ++k) equal("thread of an iteration in the second static loop", t2->owner[k], t1->owner[k]);
drop_tally(t0), drop_tally(t1), drop_tally(t2);
""",
        count=shape.count,
        variables=shape.before("i"),
        threads=threads,
        chunk=chunk,
        clause=clause,
        header=shape.header("i"),
        index=shape.index("i"),
    )
    return "", repeated(rng, text)


@kind("loop over an array section")
def array_reduction(rng: random.Random) -> tuple[str, str]:
    """reduction(+: a[:n]), and a reduction over a region."""
    count, schedule = rng.randint(0, 200), random_schedule(rng).clause
    text = fill(
        """long bins[7] = {0}, wanted[7] = {0}, whole = 0;
#pragma omp parallel num_threads($threads) reduction(+ : whole)
{
#pragma omp for$schedule reduction(+ : bins[:7])
for (int i = 0; i < $count; ++i) {
  bins[i % 7] += i;
  work(i, $pattern);
}
#pragma omp for$schedule nowait
for (int i = 0; i < $count; ++i) whole += i;
}
for (int i = 0; i < $count; ++i) wanted[i % 7] += i;
for (int i = 0; i < 7; ++i) equal("reduction of an array", bins[i], wanted[i]), note(bins[i]);
equal("reduction of a region", whole, (long)$count * ($count - 1) / 2);
""",
        count=count,
        schedule=schedule,
        threads=random_threads(rng),
        pattern=rng.randint(0, 6),
    )
    return "", repeated(rng, text)


@kind("runtime schedules", weight=3)
def runtime_schedules(rng: random.Random) -> tuple[str, str]:
    """omp_set_schedule before loops with schedule(runtime), and what omp_get_schedule answers."""
    text = "omp_sched_t kind0, kind1;\nint chunk0, chunk1;\nomp_get_schedule(&kind0, &chunk0);\n"
    for i in range(rng.randint(1, 3)):
        shape = random_shape(rng, most=150)
        name, chunk = rng.choice(["static", "dynamic", "dynamic", "guided", "auto"]), rng.choice([1, 2, 5, 17])
        schedule = Schedule(" schedule(runtime)", name, chunk if name != "auto" else None, "0")
        team = fill(
            """#pragma omp parallel for schedule(runtime) num_threads($threads)
$loop$checks""",
            threads=random_threads(rng),
            loop=iteration(rng, shape),
            checks=checks(schedule),
        )
        if rng.random() < 0.3:  # the threads of a region have schedules of their own
            team = fill(
                """#pragma omp parallel num_threads($threads)
{
omp_set_schedule(omp_sched_$name, $chunk);
#pragma omp for schedule(runtime)
$loop}
check_times(t~, 1);
""",
                threads=random_threads(rng),
                name=name,
                chunk=chunk,
                loop=iteration(rng, shape),
            )
        text += numbered(
            fill(
                """Tally* t~ = new_tally($count);
omp_set_schedule(omp_sched_$name, $chunk);
omp_get_schedule(&kind1, &chunk1);
equal("kind that omp_get_schedule answers", kind1 & 0xff, omp_sched_$name);
if (omp_sched_$name != omp_sched_auto) equal("chunk that omp_get_schedule answers", chunk1, $chunk);
$variables${team}drop_tally(t~);
""",
                count=shape.count,
                name=name,
                chunk=chunk,
                variables=shape.before("i~"),
                team=team,
            ),
            i,
        )
    return "", repeated(rng, text + "omp_set_schedule(kind0, chunk0);\n")
