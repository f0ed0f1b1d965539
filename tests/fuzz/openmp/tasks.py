# SPDX-License-Identifier: BSD-3-Clause
"""Explicit tasks: trees, dependences, taskloop, groups, reductions, detached ones."""

from __future__ import annotations

import random

from .construct import fill, kind
from .loops import repeated
from .shapes import random_schedule, random_threads


def _in_single(rng: random.Random, before: str, inside: str, after: str) -> str:
    """A region in which one thread makes tasks; a loop follows."""
    schedule = random_schedule(rng).clause
    loop = (
        f"#pragma omp for{schedule}\nfor (int i = 0; i < 40; ++i) add(&iterations, 1);\n" if rng.random() < 0.5 else ""
    )
    single = rng.choice(["single", "single", "master"])
    text = (
        f"int iterations = 0;\n{before}#pragma omp parallel "
        f"num_threads({random_threads(rng)})\n{{\n#pragma omp {single}\n{{\n{inside}}}\n{loop}}}\nequal(\"iterations "
        f"after tasks\", iterations, {40 if loop else 0});\n{after}"
    )
    return repeated(rng, text)


@kind("task tree", weight=3)
def tree(rng: random.Random) -> tuple[str, str]:
    clause = rng.choice(["", " untied", " mergeable", " if(n > 4)", " final(n < 5)", " priority(n)"])
    declarations = fill(
        """static long __attribute__((noinline)) fibonacci@(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
#pragma omp task shared(a)$clause
  a = fibonacci@(n - 1);
#pragma omp task shared(b)
  b = fibonacci@(n - 2);
#pragma omp taskwait
  return a + b;
}
""",
        clause=clause,
    )
    n = rng.randint(1, 9)
    values = [0, 1]
    while len(values) <= n:
        values.append(values[-1] + values[-2])
    return declarations, _in_single(
        rng, "long result = 0;\n", f"result = fibonacci@({n});\n",
        f'equal("a task tree", result, {values[n]});\nnote(result);\n'
    )


@kind("task dependences", weight=2)
def dependences(rng: random.Random) -> tuple[str, str]:
    number = rng.randint(1, 40)
    inside = fill(
        """for (int n = 0; n < $number; ++n) {
#pragma omp task depend(inout : chain) firstprivate(n) shared(chain)
{ chain = chain * 3 + n; work(n, $pattern); }
#pragma omp task depend(in : chain) depend(out : copies[n]) firstprivate(n) shared(chain, copies)
copies[n] = chain;
}
""",
        number=number,
        pattern=rng.randint(0, 6),
    )
    after = fill(
        """unsigned wanted = 1;
for (int n = 0; n < $number; ++n) {
  wanted = wanted * 3 + n;
  equal("a chain of tasks", copies[n], wanted);
}
""",
        number=number,
    )
    return "", _in_single(rng, f"unsigned chain = 1, copies[{number}];\n", inside, after)


@kind("taskloop", weight=3)
def taskloop(rng: random.Random) -> tuple[str, str]:
    count = rng.randint(1, 200)
    clause = rng.choice(["", f" grainsize({rng.randint(1, 30)})", f" num_tasks({rng.randint(1, 20)})", " nogroup",
                         " untied"])
    reduction = rng.random() < 0.4 and "nogroup" not in clause
    inside = fill(
        """#pragma omp taskloop$clause$reduction shared(hits)
for (int i = $first; $relation; $step) {
  add(&hits[i], 1);
  $sum
  work(i, $pattern);
}
""",
        clause=clause,
        reduction=" reduction(+ : sum)" if reduction else "",
        first=(0 if (up := rng.random() < 0.5) else count - 1),
        relation=f"i < {count}" if up else "i >= 0",
        step="++i" if up else "--i",
        sum="sum += i;" if reduction else "",
        pattern=rng.randint(0, 6),
    )
    after = f'for (int i = 0; i < {count}; ++i) equal("executions of a taskloop\'s iteration", hits[i], 1);\n'
    if reduction:
        after += f'equal("reduction of a taskloop", sum, {count * (count - 1) // 2});\n'
    return "", _in_single(rng, f"long sum = 0;\nint hits[{count}];\nmemset(hits, 0, sizeof hits);\n(void)sum;\n",
                          inside, after)


@kind("taskgroup reduction", weight=2)
def group_reduction(rng: random.Random) -> tuple[str, str]:
    number = rng.randint(1, 60)
    inside = fill(
        """#pragma omp taskgroup task_reduction(+ : sum)
for (int n = 0; n < $number; ++n) {
#pragma omp task in_reduction(+ : sum) firstprivate(n)
{ sum += n; work(n, $pattern); }
}
equal("reduction of a taskgroup", sum, $total);
""",
        number=number,
        pattern=rng.randint(0, 6),
        total=number * (number - 1) // 2,
    )
    return "", _in_single(rng, "long sum = 0;\n", inside,
                          f'equal("reduction of a taskgroup", sum, {number * (number - 1) // 2});\n')


@kind("reduction with tasks", weight=1, libomp_lacks=True)
def task_reduction(rng: random.Random) -> tuple[str, str]:
    """reduction(task, +: x) on a region or a loop."""
    count = rng.randint(1, 60)
    on_loop = rng.random() < 0.5
    threads, schedule = random_threads(rng), random_schedule(rng).clause
    if on_loop:
        region = f"#pragma omp parallel num_threads({threads})\n#pragma omp for{schedule} reduction(task, + : sum)\n"
    else:
        region = f"#pragma omp parallel for{schedule} num_threads({threads}) reduction(task, + : sum)\n"
    text = fill(
        """long sum = 0;
${region}for (int i = 0; i < $count; ++i) {
  #pragma omp task in_reduction(+ : sum) firstprivate(i)
  sum += i;
}
equal("reduction of a loop's tasks", sum, $total);
""",
        region=region,
        count=count,
        total=count * (count - 1) // 2,
    )
    return "", repeated(rng, text)


@kind("tasks in a loop", weight=3)
def in_loop(rng: random.Random) -> tuple[str, str]:
    """Each iteration makes tasks, which may run in any thread at any later barrier or wait."""
    count, each = rng.randint(1, 60), rng.randint(1, 4)
    wait = rng.choice(["", "", "#pragma omp taskwait\n", "#pragma omp taskyield\n"])
    text = fill(
        """int done = 0;
#pragma omp parallel num_threads($threads)
{
#pragma omp for$schedule
for (int i = 0; i < $count; ++i) {
  for (int n = 0; n < $each; ++n) {
    #pragma omp task shared(done)
    add(&done, 1), work(i, $pattern);
  }
  $wait
}
equal("tasks after a loop's barrier", get(&done), $total);
}
equal("tasks of a loop", done, $total);
""",
        threads=random_threads(rng),
        schedule=random_schedule(rng).clause,
        count=count,
        each=each,
        pattern=rng.randint(0, 6),
        wait=wait,
        total=count * each,
    )
    return "", repeated(rng, text)


# Not by clang: libomp's own assertion (kmp_barrier.cpp, tt_found_proxy_tasks) ends 2 native runs in 100.
@kind("detached task", weight=2, families=("gcc",), libomp_lacks=True)
def detached(rng: random.Random) -> tuple[str, str]:
    """A task that ends when another task fulfils its event."""
    number = rng.randint(1, 8)
    inside = fill(
        """for (int n = 0; n < $number; ++n) {
omp_event_handle_t event;
#pragma omp task detach(event) shared(begun) depend(out : order[n])
add(&begun, 1);
#pragma omp task firstprivate(event) shared(fulfilled)
{ work(n, $pattern); add(&fulfilled, 1); omp_fulfill_event(event); }
#pragma omp task depend(in : order[n]) shared(fulfilled, ended)
{ expect(get(&fulfilled) > 0, "events before a dependent task", get(&fulfilled), 1); add(&ended, 1); }
}
#pragma omp taskwait
equal("detached tasks", get(&begun), $number);
equal("tasks behind detached ones", get(&ended), $number);
""",
        number=number,
        pattern=rng.randint(0, 6),
    )
    return "", _in_single(rng, f"int begun = 0, fulfilled = 0, ended = 0, order[{number}];\n(void)order;\n", inside, "")


@kind("regions in tasks", weight=2)
def regions(rng: random.Random) -> tuple[str, str]:
    """Tasks that begin regions with loops of their own."""
    number, count = rng.randint(1, 10), rng.randint(1, 60)
    inside = fill(
        """for (int n = 0; n < $number; ++n) {
#pragma omp task shared(done)
{
#pragma omp parallel for$schedule num_threads($threads)
for (int i = 0; i < $count; ++i) add(&done, 1);
}
}
""",
        number=number,
        schedule=random_schedule(rng).clause,
        threads=random_threads(rng, 3),
        count=count,
    )
    before = "int done = 0;\nconst int levels = omp_get_max_active_levels();\nomp_set_max_active_levels(2);\n"
    return "", _in_single(rng, before, inside, f'omp_set_max_active_levels(levels);\nequal("iterations in tasks", '
                                               f'done, {number * count});\n')
