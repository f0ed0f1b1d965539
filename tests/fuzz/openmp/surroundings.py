# SPDX-License-Identifier: BSD-3-Clause
"""What surrounds regions: teams on the host, allocators, queries, and several initial threads."""

from __future__ import annotations

import random

from .construct import fill, kind
from .loops import iteration, numbered, repeated
from .shapes import random_schedule, random_shape, random_threads


@kind("host teams", weight=2, libomp_lacks=True)
def teams(rng: random.Random) -> tuple[str, str]:
    number, count = rng.randint(1, 4), rng.randint(1, 120)
    directive = rng.choice(
        [
            "teams distribute parallel for",
            f"teams distribute parallel for dist_schedule(static, {rng.randint(1, 20)})",
            f"teams distribute parallel for schedule({rng.choice(['dynamic', 'dynamic, 3', 'guided', 'static, 2'])})",
            "teams distribute",
            "teams distribute parallel for simd",
            "teams loop",
        ]
    )
    clause = f" num_teams({number}) thread_limit({random_threads(rng, 4)})"
    text = fill(
        """int hits[$count];
long sum = 0;
memset(hits, 0, sizeof hits);
#pragma omp $directive$clause reduction(+ : sum)
for (int i = 0; i < $count; ++i) {
  add(&hits[i], 1);
  sum += i;
}
for (int i = 0; i < $count; ++i) equal("executions in teams", hits[i], 1);
equal("reduction of teams", sum, $total);
int begun = 0, most = 0;
#pragma omp teams num_teams($number)
{
add(&begun, 1);
if (omp_get_team_num() == 0) most = omp_get_num_teams();
#pragma omp parallel num_threads(2)
add(&hits[0], 0);
}
equal("teams", begun, most);
at_most("teams", begun, $number);
""",
        count=count,
        number=number,
        directive=directive,
        clause=clause,
        total=count * (count - 1) // 2,
    )
    return "", repeated(rng, text)


@kind("loop construct", weight=2)
def loop_construct(rng: random.Random) -> tuple[str, str]:
    """`loop`, bound to the threads of a region."""
    count = rng.randint(1, 150)
    directive = rng.choice(["parallel loop", "parallel loop bind(parallel)"])
    text = fill(
        """int hits[$count];
long sum = 0;
memset(hits, 0, sizeof hits);
#pragma omp $directive num_threads($threads) reduction(+ : sum)
for (int i = 0; i < $count; ++i) {
  ++hits[i];
  sum += i;
}
for (int i = 0; i < $count; ++i) equal("executions of loop", hits[i], 1);
equal("reduction of loop", sum, $total);
""",
        count=count,
        directive=directive,
        threads=random_threads(rng),
        total=count * (count - 1) // 2,
    )
    return "", repeated(rng, text)


@kind("allocators", weight=2, libomp_lacks=True)
def allocators(rng: random.Random) -> tuple[str, str]:
    size = rng.randint(1, 500)
    text = fill(
        """long sum = 0, scratch = 5;
omp_alloctrait_t traits[1];
traits[0].key = omp_atk_alignment;
traits[0].value = 64;
omp_allocator_handle_t mine = omp_init_allocator(omp_default_mem_space, 1, traits);
char* block = (char*)omp_alloc($size, mine);
expect(block != NULL && (uintptr_t)block % 64 == 0, "alignment of omp_alloc", (long long)(uintptr_t)block % 64, 0);
memset(block, 1, $size);
#pragma omp parallel num_threads($threads)
{
char* own = (char*)omp_alloc($size, omp_default_mem_alloc);
memset(own, 2, $size);
#pragma omp for$schedule
for (int i = 0; i < $size; ++i) {
  #pragma omp atomic
  sum += block[i] + own[i];
}
omp_free(own, omp_default_mem_alloc);
}
equal("sum over omp_alloc", sum, 3L * $size);
#pragma omp parallel num_threads($threads) allocate(omp_default_mem_alloc : scratch) firstprivate(scratch)
{
equal("a variable with an allocate clause", scratch, 5);
scratch = omp_get_thread_num();
}
omp_free(block, mine);
omp_destroy_allocator(mine);
""",
        size=size,
        threads=random_threads(rng),
        schedule=random_schedule(rng).clause,
    )
    return "", repeated(rng, text)


@kind("queries", weight=4)
def queries(rng: random.Random) -> tuple[str, str]:
    """What the program is told in and outside of regions, and in nested ones."""
    outer, inner = random_threads(rng), random_threads(rng, 3)
    text = fill(
        """equal("omp_in_parallel outside", omp_in_parallel(), 0);
equal("omp_get_num_threads outside", omp_get_num_threads(), 1);
equal("omp_get_thread_num outside", omp_get_thread_num(), 0);
equal("omp_get_level outside", omp_get_level(), 0);
note(omp_get_max_threads());
note(omp_get_num_procs());
note(omp_get_dynamic());
note(omp_get_cancellation());
note(omp_get_proc_bind());
note(omp_get_max_active_levels() > 1);
note(omp_get_thread_limit());
omp_sched_t kind;
int chunk, threads = 0, sum = 0, promised = count_is_promised();
if (getenv("OMP_SCHEDULE")) omp_get_schedule(&kind, &chunk), note(kind & 0xff), note(chunk);
const int levels = omp_get_max_active_levels();
omp_set_max_active_levels(2);
#pragma omp parallel num_threads($outer)
{
check_team(promised, $outer);
const int me = omp_get_thread_num(), team = omp_get_num_threads();
equal("omp_get_level", omp_get_level(), 1);
equal("omp_in_parallel", omp_in_parallel(), team > 1);
equal("omp_get_active_level", omp_get_active_level(), team > 1);
equal("omp_get_team_size(0)", omp_get_team_size(0), 1);
equal("omp_get_team_size(1)", omp_get_team_size(1), team);
equal("omp_get_ancestor_thread_num(1)", omp_get_ancestor_thread_num(1), me);
expect(me >= 0 && me < team, "thread number", me, team);
add(&threads, 1);
add(&sum, me);
const int inner_promised = count_is_promised();
#pragma omp parallel num_threads($inner)
{
check_team(inner_promised, $inner);
equal("omp_get_level inside", omp_get_level(), 2);
equal("omp_get_ancestor_thread_num(1) inside", omp_get_ancestor_thread_num(1), me);
equal("omp_get_team_size(2)", omp_get_team_size(2), omp_get_num_threads());
equal("omp_get_ancestor_thread_num(2)", omp_get_ancestor_thread_num(2), omp_get_thread_num());
}
#pragma omp barrier
equal("threads that came", get(&threads), team);
equal("sum of thread numbers", get(&sum), team * (team - 1) / 2);
}
omp_set_max_active_levels(levels);
const int usual = omp_get_max_threads();
omp_set_num_threads($outer);
equal("omp_get_max_threads after omp_set_num_threads", omp_get_max_threads(), $outer);
threads = 0;
promised = count_is_promised();
#pragma omp parallel
add(&threads, 1);
if (promised) equal("threads after omp_set_num_threads", threads, $outer);
omp_set_num_threads(usual);
threads = 0;
#pragma omp parallel
add(&threads, 1);
if (promised) equal("threads of a region without a clause", threads, usual);
at_most("threads of a region without a clause", threads, usual);
""",
        outer=outer,
        inner=inner,
    )
    return "", repeated(rng, text)


@kind("initial threads", weight=5)
def initial_threads(rng: random.Random) -> tuple[str, str]:
    """Several threads of the program begin regions at once, each with teams and loops of its own."""
    number, shape, schedule = rng.randint(1, 4), random_shape(rng, most=150), random_schedule(rng)
    nested = rng.random() < 0.25
    body = fill(
        """#pragma omp parallel num_threads($threads)
{
#pragma omp for$schedule
$loop}
check_times(t~, 1);
$nested""",
        threads=random_threads(rng, 4),
        schedule=schedule.clause,
        loop=iteration(rng, shape),
        nested=fill(
            """omp_set_max_active_levels(2);
int inner = 0;
#pragma omp parallel for num_threads(2) schedule(dynamic)
for (int i = 0; i < 6; ++i) {
#pragma omp parallel for num_threads(2) schedule(guided)
for (int j = 0; j < 20; ++j) add(&inner, 1);
}
equal("iterations nested in an initial thread", inner, 120);
"""
        )
        if nested
        else "",
    )
    declarations = fill(
        """static void* initial@(void* unused) {
  for (int n = 0; n < $times; ++n) {
    Tally* t~ = new_tally($count);
    $variables$body
    drop_tally(t~);
  }
  return unused;
}
""",
        times=rng.choice([1, 2, 4, 8]),
        count=shape.count,
        variables=shape.before("i~"),
        body=body,
    )
    text = fill(
        """pthread_t threads[$number];
for (int n = 0; n < $number; ++n) pthread_create(&threads[n], NULL, initial@, NULL);
$mine
for (int n = 0; n < $number; ++n) pthread_join(threads[n], NULL);
""",
        number=number,
        mine=rng.choice(["initial@(NULL);", "initial@(NULL);", ""]),
    )
    return numbered(declarations, 0), repeated(rng, text)
