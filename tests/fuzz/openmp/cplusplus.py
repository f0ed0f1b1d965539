# SPDX-License-Identifier: BSD-3-Clause
"""What only C++ has: exceptions in regions, iterators, lambdas, templates, reductions of classes, std::thread."""

from __future__ import annotations

import random

from .construct import fill, kind
from .loops import iteration, numbered, repeated
from .shapes import random_schedule, random_shape, random_threads

CPP = ("c++",)


@kind("exceptions", weight=3, languages=CPP)
def exceptions(rng: random.Random) -> tuple[str, str]:
    """Thrown and caught inside of one iteration, through frames of a function."""
    shape, schedule = random_shape(rng, most=120), random_schedule(rng)
    declarations = "static void __attribute__((noinline)) throws@(long k) {\n  if (k % 3 == 0) throw k;\n}\n"
    text = fill(
        """Tally* t~ = new_tally($count);
int caught = 0;
${variables}#pragma omp parallel num_threads($threads)
{
try {
  throws@(0);
} catch (long) {
  add(&caught, 0);
}
#pragma omp for$schedule
$loop}
check_times(t~, 1);
equal("exceptions", caught, ($count + 2) / 3);
drop_tally(t~);
""",
        count=shape.count,
        variables=shape.before("i~"),
        threads=random_threads(rng),
        schedule=schedule.clause,
        loop=iteration(rng, shape, "try { throws@(k); } catch (long seen) { equal(\"an exception\", seen, k); "
                                   "add(&caught, 1); }"),
    )
    return declarations, repeated(rng, numbered(text, 0))


@kind("iterators", weight=2, languages=CPP)
def iterators(rng: random.Random) -> tuple[str, str]:
    count = rng.randint(0, 200)
    header = rng.choice(
        ["for (auto i = values.begin(); i < values.end(); ++i)",
         "for (auto i = values.begin(); i != values.end(); i++)", "for (auto& v : values)"]
    )
    text = fill(
        """std::vector<int> values($count);
#pragma omp parallel for num_threads($threads)$schedule
$header {
  add(&$element, 1);
  work(0, $pattern);
}
for (int value : values) equal("executions of an iterator's iteration", value, 1);
""",
        count=count,
        threads=random_threads(rng),
        schedule=random_schedule(rng).clause,
        header=header,
        element="v" if "auto&" in header else "*i",
        pattern=rng.choice([0, 1, 6]),
    )
    return "", repeated(rng, text)


@kind("template loops", weight=3, languages=CPP)
def templates(rng: random.Random) -> tuple[str, str]:
    """Loops in a template and a lambda: several instances of the same source line."""
    declarations = fill(
        """template <typename Body>
static void each@(long count, Body body) {
#pragma omp parallel for$schedule num_threads($threads)
  for (long i = 0; i < count; ++i) body(i);
}
""",
        schedule=random_schedule(rng).clause,
        threads=random_threads(rng),
    )
    count = rng.randint(0, 150)
    text = fill(
        """long sum = 0;
std::vector<int> hits($count);
each@($count, [&](long i) { add(&hits[i], 1); });
each@($count, [&](long i) { add_long(&sum, i); work(i, $pattern); });
for (int value : hits) equal("executions of a lambda", value, 1);
equal("sum of a lambda", sum, $total);
""",
        count=count,
        pattern=rng.randint(0, 6),
        total=count * (count - 1) // 2,
    )
    return declarations, repeated(rng, text)


@kind("declared reduction", weight=2, languages=CPP)
def declared_reduction(rng: random.Random) -> tuple[str, str]:
    declarations = """struct Range@ {
  long least = 1000000, most = -1, number = 0;
  void take(long value) { least = value < least ? value : least, most = value > most ? value : most, ++number; }
  void join(const Range@& other) {
    least = other.least < least ? other.least : least, most = other.most > most ? other.most : most;
    number += other.number;
  }
};
#pragma omp declare reduction(join : Range@ : omp_out.join(omp_in)) initializer(omp_priv = Range@())
"""
    count = rng.randint(1, 200)
    text = fill(
        """Range@ range;
#pragma omp parallel for$schedule num_threads($threads) reduction(join : range)
for (int i = 0; i < $count; ++i) range.take(i), work(i, $pattern);
equal("least of a declared reduction", range.least, 0);
equal("most of a declared reduction", range.most, $count - 1);
equal("number of a declared reduction", range.number, $count);
""",
        count=count,
        schedule=random_schedule(rng).clause,
        threads=random_threads(rng),
        pattern=rng.randint(0, 6),
    )
    return declarations, repeated(rng, text)


@kind("std::thread", weight=3, languages=CPP)
def std_threads(rng: random.Random) -> tuple[str, str]:
    number, shape = rng.randint(1, 4), random_shape(rng, most=100)
    text = fill(
        """std::vector<std::thread> threads;
for (int n = 0; n < $number; ++n)
  threads.emplace_back([n] {
    for (int again = 0; again < $times; ++again) {
      Tally* t~ = new_tally($count);
      ${variables}#pragma omp parallel for$schedule num_threads(1 + (n + again) % 3)
      ${loop}check_times(t~, 1);
      drop_tally(t~);
    }
  });
for (auto& thread : threads) thread.join();
""",
        number=number,
        times=rng.choice([1, 3, 6]),
        count=shape.count,
        variables=shape.before("i~"),
        schedule=random_schedule(rng).clause,
        loop=iteration(rng, shape),
    )
    return "", repeated(rng, numbered(text, 0))
