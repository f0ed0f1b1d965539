# SPDX-License-Identifier: BSD-3-Clause
"""What threads of a team share: sections, single, critical, atomic, locks, masked, threadprivate, barriers, scope."""

from __future__ import annotations

import random

from .construct import fill, kind
from .loops import repeated
from .shapes import random_schedule, random_threads


def _region(rng: random.Random, before: str, inside: str, after: str) -> tuple[str, str]:
    text = f"{before}#pragma omp parallel num_threads({random_threads(rng)})\n{{\n{inside}}}\n{after}"
    return "", repeated(rng, text)


def _loop(rng: random.Random, count: int) -> str:
    """A loop beside the rest, so that worksharing constructs of several sorts follow each other."""
    nowait = rng.choice(["", " nowait"])
    return (
        f"#pragma omp for{random_schedule(rng).clause}{nowait}\nfor (int i = 0; i < {count}; ++i) add(&iterations,"
        " 1);\n"
    )


@kind("sections", weight=3)
def sections(rng: random.Random) -> tuple[str, str]:
    number = rng.randint(1, 7)
    bodies = "".join(f"#pragma omp section\n{{ add(&done[{i}], 1); last = {i}; work({i}, {rng.randint(0, 6)}); }}\n"
                     for i in range(number))
    nowait = rng.choice(["", " nowait"])
    before = f"int done[{number}], last = -1, iterations = 0;\nmemset(done, 0, sizeof done);\n"
    inside = f"{_loop(rng, 20)}#pragma omp sections lastprivate(last){nowait}\n{{\n{bodies}}}\n{_loop(rng, 30)}"
    after = (
        f'for (int i = 0; i < {number}; ++i) equal("executions of a section", done[i], 1);\n'
        f'equal("lastprivate of sections", last, {number - 1});\nequal("iterations beside sections", iterations, 50);\n'
    )
    return _region(rng, before, inside, after)


@kind("single", weight=3)
def single(rng: random.Random) -> tuple[str, str]:
    number = rng.randint(1, 9)
    inside = fill(
        """for (int n = 0; n < $number; ++n) {
#pragma omp single nowait
add(&singles, 1);
${loop}int mine = -1;
#pragma omp single copyprivate(mine)
mine = n * 3 + 1;
equal("a copyprivate variable", mine, n * 3 + 1);
}
""",
        number=number,
        loop=_loop(rng, 15),
    )
    after = (
        f'equal("executions of single", singles, {number});\nequal("iterations beside single", iterations,'
        f' {15 * number});\n'
    )
    return _region(rng, "int singles = 0, iterations = 0;\n", inside, after)


@kind("critical", weight=2)
def critical(rng: random.Random) -> tuple[str, str]:
    count, name = rng.randint(1, 100), rng.choice(["", "(one@)", "(one@) hint(omp_sync_hint_contended)"])
    inside = fill(
        """#pragma omp for$schedule
for (int i = 0; i < $count; ++i) {
  #pragma omp critical $name
  { const long old = sum; work(i, $pattern); sum = old + i; }
  #pragma omp critical (other@)
  other = other + 1;
}
#pragma omp critical $name
++threads;
""",
        schedule=random_schedule(rng).clause,
        count=count,
        name=name,
        pattern=rng.choice([0, 1, 3]),
    )
    after = (
        f'equal("sum under critical", sum, {count * (count - 1) // 2});\nequal("count under critical", other,'
        f' {count});\nexpect(threads > 0, "threads", threads, 1);\n'
    )
    return _region(rng, "long sum = 0, other = 0, threads = 0;\n", inside, after)


@kind("atomic", weight=2)
def atomic(rng: random.Random) -> tuple[str, str]:
    count = rng.randint(1, 200)
    order = rng.choice(["", " seq_cst", " acq_rel", " relaxed"])
    inside = fill(
        """#pragma omp for$schedule
for (int i = 0; i < $count; ++i) {
  #pragma omp atomic update$order
  sum += i;
  long mine;
  #pragma omp atomic capture
  mine = next++;
  seen[mine] = 1;
  #pragma omp atomic
  product *= i % 2 ? 3.0 : 1 / 3.0;
  #pragma omp atomic read
  mine = sum;
}
""",
        schedule=random_schedule(rng).clause,
        count=count,
        order=order if order != " acq_rel" else "",
    )
    after = (
        f'equal("atomic sum", sum, {count * (count - 1) // 2});\n'
        f'for (int i = 0; i < {count}; ++i) equal("atomic capture", seen[i], 1);\n'
        f'expect(product > {0.3 if count % 2 else 0.9} && product < 1.1, "atomic product", (long)(product * 1000), '
        '1000);\n'
    )
    return _region(rng, f"long sum = 0, next = 0;\ndouble product = 1;\nchar seen[{count}];\nmemset(seen, 0, sizeof "
                        "seen);\n", inside, after)


@kind("locks", weight=2)
def locks(rng: random.Random) -> tuple[str, str]:
    count = rng.randint(1, 100)
    inside = fill(
        """#pragma omp for$schedule
for (int i = 0; i < $count; ++i) {
  omp_set_lock(&lock);
  sum += i;
  omp_unset_lock(&lock);
  omp_set_nest_lock(&nest);
  equal("depth of a nestable lock", omp_test_nest_lock(&nest), 2);
  twice += 2;
  omp_unset_nest_lock(&nest);
  omp_unset_nest_lock(&nest);
  while (!omp_test_lock(&lock)) sched_yield();
  sum += 1;
  omp_unset_lock(&lock);
}
""",
        schedule=random_schedule(rng).clause,
        count=count,
    )
    before = (
        "omp_lock_t lock;\nomp_nest_lock_t nest;\nlong sum = 0, twice ="
        " 0;\nomp_init_lock(&lock);\nomp_init_nest_lock(&nest);\n"
    )
    after = (
        f'omp_destroy_lock(&lock);\nomp_destroy_nest_lock(&nest);\nequal("sum under a lock", sum, '
        f'{count * (count - 1) // 2 + count});\nequal("sum under a nestable lock", twice, {2 * count});\n'
    )
    return _region(rng, before, inside, after)


@kind("master", weight=2)
def master(rng: random.Random) -> tuple[str, str]:
    number, which = rng.randint(1, 8), rng.choice(["master", "masked", "masked filter(0)"])
    inside = (
        f"for (int n = 0; n < {number}; ++n) {{\n#pragma omp {which}\n{{ add(&times, 1); equal(\"thread of master\","
        f" omp_get_thread_num(), 0); }}\n{_loop(rng, 12)}}}\n"
    )
    after = (
        f'equal("executions of master", times, {number});\nequal("iterations beside master", iterations,'
        f' {12 * number});\n'
    )
    return _region(rng, "int times = 0, iterations = 0;\n", inside, after)


@kind("threadprivate", weight=2)
def threadprivate(rng: random.Random) -> tuple[str, str]:
    count = rng.randint(1, 100)
    declarations = "static long own@ = 3;\n#pragma omp threadprivate(own@)\n"
    threads = random_threads(rng)
    text = fill(
        """long sum = 0;
int team = 0;
own@ = $start;
#pragma omp parallel num_threads($threads) copyin(own@)
{
equal("a copyin variable", own@, $start);
#pragma omp single
team = omp_get_num_threads();
#pragma omp for$schedule
for (int i = 0; i < $count; ++i) own@ += i, work(i, $pattern);
#pragma omp critical
sum += own@;
}
equal("sum of threadprivate variables", sum, $total + team * (long)$start);
""",
        start=rng.randint(0, 99),
        threads=threads,
        schedule=random_schedule(rng).clause,
        count=count,
        pattern=rng.randint(0, 6),
        total=count * (count - 1) // 2,
    )
    return declarations, repeated(rng, text)


@kind("barriers", weight=2)
def barriers(rng: random.Random) -> tuple[str, str]:
    """No thread passes a barrier before all have reached it."""
    number = rng.randint(1, 12)
    inside = fill(
        """const int team = omp_get_num_threads();
for (int n = 0; n < $number; ++n) {
  work(n * 7 + omp_get_thread_num(), $pattern);
  add(&arrived, 1);
  #pragma omp barrier
  expect(get(&arrived) >= (n + 1) * team, "arrivals before a barrier's end", get(&arrived), (n + 1) * team);
  #pragma omp barrier
}
""",
        number=number,
        pattern=rng.randint(0, 6),
    )
    return _region(rng, "int arrived = 0;\n", inside, "note(0);\n")


@kind("flushes")
def flushes(rng: random.Random) -> tuple[str, str]:
    """One thread hands values to another through flush and atomic."""
    count = rng.randint(1, 60)
    text = fill(
        """int data = 0, flag = 0, taken = 0;
#pragma omp parallel num_threads(2)
{
if (omp_get_num_threads() == 2) {
  for (int n = 1; n <= $count; ++n) {
    int now;
    if (omp_get_thread_num() == 0) {
      data = n;
      #pragma omp flush
      #pragma omp atomic write
      flag = n;
      do {
        sched_yield();
        #pragma omp atomic read
        now = taken;
      } while (now != n);
    } else {
      do {
        sched_yield();
        #pragma omp atomic read
        now = flag;
      } while (now != n);
      #pragma omp flush
      equal("data behind a flush", data, n);
      #pragma omp atomic write
      taken = n;
    }
  }
}
}
""",
        count=count,
    )
    return "", text


@kind("scope", weight=2, families=("gcc",), libomp_lacks=True)
def scope(rng: random.Random) -> tuple[str, str]:
    tasks = rng.random() < 0.5
    inside = fill(
        """#pragma omp scope reduction($modifier+ : sum)
{
sum += 2;
$tasks}
#pragma omp single
team = omp_get_num_threads();
$loop""",
        modifier="task, " if tasks else "",
        tasks="#pragma omp task in_reduction(+ : sum)\nsum += 3;\n" if tasks else "",
        loop=_loop(rng, 20),
    )
    after = (
        f'equal("reduction of scope", sum, {5 if tasks else 2} * team);\nequal("iterations after scope", iterations,'
        ' 20);\n'
    )
    return _region(rng, "long sum = 0;\nint iterations = 0, team = 0;\n", inside, after)
