# SPDX-License-Identifier: BSD-3-Clause
"""Nested regions of every shape, and teams that grow and shrink from region to region."""

from __future__ import annotations

import random

from .construct import fill, kind
from .loops import iteration, numbered, repeated
from .shapes import random_schedule, random_shape, random_threads


def _levels(rng: random.Random, least: int) -> str:
    return (
        "const int levels ="
        f" omp_get_max_active_levels();\nomp_set_max_active_levels({rng.choice([1, least, least, least, 4])});\n"
    )


AGAIN = "omp_set_max_active_levels(levels);\n"


@kind("nested loops", weight=7)
def nested_loops(rng: random.Random) -> tuple[str, str]:
    """An outer parallel loop, in each iteration an inner one: issue 18's first defect in every shape."""
    outer, inner = random_shape(rng, most=24), random_shape(rng, most=rng.choice([20, 240]))
    outer_threads, inner_threads = random_threads(rng, 8), random_threads(rng, 4)
    text = fill(
        """$levels${variables0}Tally* t0 = new_tally($outer);
int* inner = (int*)calloc($outer * $count + 1, sizeof(int));
#pragma omp parallel for num_threads($outer_threads)$schedule0
$header0 {
  const long k0 = $index0;
  hit(t0, k0);
  const int promised = count_is_promised();
  $variables1
  #pragma omp parallel for num_threads($inner_threads)$schedule1$condition
  $header1 {
    const long k1 = $index1;
    if ($condition_free) check_team(promised, $inner_threads);
    add(&inner[k0 * $count + k1], 1);
    work(k1, $pattern);
  }
}
check_times(t0, 1);
for (long k = 0; k < (long)$outer * $count; ++k) equal("executions of a nested loop's iteration", inner[k], 1);
free(inner);
drop_tally(t0);
$again""",
        levels=_levels(rng, 2),
        outer=outer.count,
        count=inner.count,
        variables0=outer.before("i0"),
        variables1=inner.before("i1"),
        outer_threads=outer_threads,
        inner_threads=inner_threads,
        schedule0=random_schedule(rng).clause,
        schedule1=random_schedule(rng).clause,
        header0=outer.header("i0"),
        index0=outer.index("i0"),
        header1=inner.header("i1"),
        index1=inner.index("i1"),
        condition=(condition := rng.choice(["", "", "", " if(k0 % 2 == 0)"])),
        condition_free=int(not condition),
        pattern=rng.choice([0, 0, 0, 1, 3]),
        again=AGAIN,
    )
    return "", repeated(rng, text)


@kind("nested regions", weight=5)
def nested_regions(rng: random.Random) -> tuple[str, str]:
    """Regions in regions, each with loops before and after the inner one."""
    depth = rng.choice([2, 2, 3, 4])
    threads = [random_threads(rng, 4 if depth == 2 else 2) for _ in range(depth)]
    iterations = rng.choice([7, 20, 60])

    def level(number: int) -> str:
        if number == depth:
            return ""
        loop = (
            f"#pragma omp for{{schedule}}{{nowait}}\nfor (int i = 0; i < {iterations}; ++i) add_long(&sums[{number}], "
            f"i), work(i, {rng.choice([0, 1, 3])});\n"
        )

        def one() -> str:
            return loop.format(schedule=random_schedule(rng).clause, nowait=rng.choice(["", " nowait"]))

        before, after = (one() if rng.random() < 0.7 else "" for _ in range(2))
        count = f"add_long(&loops[{number}], omp_get_thread_num() == 0 ? {bool(before) + bool(after)} : 0);\n"
        guard = rng.choice(["", "", "#pragma omp master\n", "#pragma omp single nowait\n"])
        inside = f"{guard}{{\n{level(number + 1)}}}\n"
        return (
            f"{{\nconst int promised = count_is_promised();\n#pragma omp parallel num_threads({threads[number]})\n{{\n"
            f"check_team(promised, {threads[number]});\n"
            f'equal("omp_get_level", omp_get_level() - base, {number + 1});\n{count}{before}{inside}{after}}}\n}}\n'
        )

    text = fill(
        """${levels}long sums[$depth] = {0}, loops[$depth] = {0};
const int base = omp_get_level();
${nest}for (int i = 0; i < $depth; ++i) equal("sum of a nested region's loops", sums[i], loops[i] * $sum);
$again""",
        levels=_levels(rng, depth),
        depth=depth,
        nest=level(0),
        sum=iterations * (iterations - 1) // 2,
        again=AGAIN,
    )
    return "", repeated(rng, text)


@kind("nested in a function", weight=3)
def nested_function(rng: random.Random) -> tuple[str, str]:
    """A recursive function whose regions hold loops, called from the iterations of its own loops."""
    depth, schedule = rng.choice([2, 3, 3]), random_schedule(rng).clause
    declarations = fill(
        """static void __attribute__((noinline)) descend@(int depth, long* sum) {
#pragma omp parallel num_threads($threads)
{
#pragma omp for$schedule
for (int i = 0; i < $count; ++i) {
  if (depth > 0 && i % $each == 0) descend@(depth - 1, sum);
  else add_long(sum, 1);
  work(i, $pattern);
}
}
}
""",
        threads=random_threads(rng, 3),
        schedule=schedule,
        count=(count := rng.randint(2, 14)),
        each=(each := rng.randint(1, 4)),
        pattern=rng.choice([0, 1, 3]),
    )
    total, deeper = count, (count + each - 1) // each
    for _ in range(depth):
        total = deeper * total + count - deeper
    text = fill(
        """${levels}long sum = 0;
descend@($depth, &sum);
equal("leaves of a recursion of regions", sum, $total);
$again""",
        levels=_levels(rng, depth),
        depth=depth,
        total=total,
        again=AGAIN,
    )
    return declarations, repeated(rng, text)


@kind("changing teams", weight=5)
def changing_teams(rng: random.Random) -> tuple[str, str]:
    """The same region and loop with another number of threads each time; also by omp_set_num_threads."""
    shape, schedule = random_shape(rng, most=100), random_schedule(rng)
    sizes = [random_threads(rng, 8) for _ in range(rng.randint(3, 7))]
    how = rng.choice(["clause", "call"])
    text = fill(
        """const int sizes[] = {$sizes};
const int usual = omp_get_max_threads();
for (int n = 0; n < $number; ++n) {
  Tally* t~ = new_tally($count);
  t~->monotonic = $monotonic;
  const int promised = count_is_promised();
  $variables
  $set
  #pragma omp parallel$clause
  {
    check_team(promised, sizes[n]);
    #pragma omp for$schedule
    $loop
  }
  check_times(t~, 1);
  drop_tally(t~);
}
omp_set_num_threads(usual);
""",
        sizes=", ".join(map(str, sizes)),
        number=len(sizes),
        count=shape.count,
        monotonic=schedule.monotonic,
        variables=shape.before("i~"),
        set="omp_set_num_threads(sizes[n]);\nequal(\"omp_get_max_threads\", omp_get_max_threads(), sizes[n]);"
        if how == "call" else "",
        clause=" num_threads(sizes[n])" if how == "clause" else "",
        schedule=schedule.clause,
        loop=iteration(rng, shape),
    )
    return "", repeated(rng, numbered(text, 0))


@kind("region without a loop", weight=2)
def bare_region(rng: random.Random) -> tuple[str, str]:
    """A region that divides its work by thread ID, as programs do by hand."""
    threads, count = random_threads(rng, 8), rng.randint(1, 200)
    text = fill(
        """int hits[$count];
memset(hits, 0, sizeof hits);
const int promised = count_is_promised();
#pragma omp parallel num_threads($threads)
{
check_team(promised, $threads);
const int team = omp_get_num_threads(), me = omp_get_thread_num();
for (int i = me; i < $count; i += team) ++hits[i];
#pragma omp barrier
for (int i = $count - 1 - me; i >= 0; i -= team) work(i, $pattern), ++hits[i];
}
for (int i = 0; i < $count; ++i) equal("work divided by thread number", hits[i], 2);
""",
        threads=threads,
        count=count,
        pattern=rng.randint(0, 6),
    )
    return "", repeated(rng, text)
