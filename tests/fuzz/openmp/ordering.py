# SPDX-License-Identifier: BSD-3-Clause
"""Loops whose iterations wait for each other: ordered alone, doacross, scan."""

from __future__ import annotations

import random

from .construct import fill, kind
from .loops import numbered, repeated
from .shapes import random_schedule, random_shape, random_threads

# Threads that wait for iterations of a doacross loop spin: more of them than cores take seconds.
SPINNING = 2


@kind("ordered loop", weight=3)
def ordered(rng: random.Random) -> tuple[str, str]:
    """Ordered loops of a region behind each other."""
    text, after = "", ""
    before = ""
    for i in range(rng.choice([1, 2, 2, 3])):
        shape = random_shape(rng, most=120)
        schedule = random_schedule(rng, ordered=True)
        before += numbered(f"int place~ = 0;\nlong sequence~[{shape.count + 1}];\n{shape.before('i~')}", i)
        text += numbered(
            fill(
                """#pragma omp for ordered$schedule
$header {
  const long k = $index;
  work(k, $pattern);
  #pragma omp ordered
  sequence~[place~++] = k;
}
""",
                schedule=schedule.clause,
                header=shape.header("i~"),
                index=shape.index("i~"),
                pattern=rng.randint(0, 6),
            ),
            i,
        )
        after += numbered(
            f'equal("ordered regions", place~, {shape.count});\n'
            f'for (long k = 0; k < {shape.count}; ++k) equal("order", sequence~[k], k);\n',
            i,
        )
    region = f"#pragma omp parallel num_threads({random_threads(rng)})\n{{\n{text}}}\n"
    return "", repeated(rng, before + region + after)


@kind("doacross loop", weight=2, libomp_lacks=True)
def doacross(rng: random.Random) -> tuple[str, str]:
    """ordered(1): each iteration needs the one `distance` before it."""
    count, distance = rng.choice([0, 1, rng.randint(2, 40)]), rng.randint(1, 5)
    schedule = random_schedule(rng, kinds=("none", "static", "dynamic", "guided", "runtime", "auto")).clause
    schedule = schedule.replace("nonmonotonic:", "")
    text = fill(
        """long values[$count + 1];
memset(values, 0, sizeof values);
$region ordered(1)$schedule$threads
for (int i = 0; i < $count; ++i) {
  work(i, $pattern);
  #pragma omp ordered depend(sink : i - $distance)
  values[i] = (i >= $distance ? values[i - $distance] : 0) + i;
  #pragma omp ordered depend(source)
}
for (long i = 0, wanted = 0; i < $count; ++i) {
  wanted = i;
  for (long j = i - $distance; j >= 0; j -= $distance) wanted += j;
  equal("value of a doacross loop", values[i], wanted);
  note(values[i]);
}
""",
        count=count,
        region="#pragma omp parallel for",
        schedule=schedule,
        threads=f" num_threads({random_threads(rng, SPINNING)})",
        pattern=rng.randint(0, 6),
        distance=distance,
    )
    return "", text


@kind("doacross nest", libomp_lacks=True)
def doacross_nest(rng: random.Random) -> tuple[str, str]:
    rows, columns = rng.randint(1, 7), rng.randint(1, 7)
    schedule = random_schedule(rng, kinds=("none", "static", "dynamic", "guided")).clause.replace("nonmonotonic:", "")
    text = fill(
        """static long grid[$rows + 1][$columns + 1];
memset(grid, 0, sizeof grid);
grid[0][0] = 1;
#pragma omp parallel for ordered(2)$schedule num_threads($threads)
for (int i = 1; i <= $rows; ++i)
  for (int j = 1; j <= $columns; ++j) {
    #pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
    grid[i][j] = (grid[i - 1][j] + grid[i][j - 1] + i * j) % 1000003;
    #pragma omp ordered depend(source)
  }
long before[$columns + 1];
memset(before, 0, sizeof before);
before[0] = 1;
for (int i = 1; i <= $rows; ++i) {
  long left = grid[i][0];
  for (int j = 1; j <= $columns; ++j) {
    const long up = i == 1 ? grid[0][j] : before[j];
    left = (up + left + i * j) % 1000003;
    equal("value of a doacross nest", grid[i][j], left);
    before[j] = left;
  }
}
""",
        rows=rows,
        columns=columns,
        schedule=schedule,
        threads=random_threads(rng, SPINNING),
    )
    return "", text


@kind("scan", families=("gcc",), libomp_lacks=True)
def scan(rng: random.Random) -> tuple[str, str]:
    """clang 19 forgets the value before the loop, and hangs in loops without iterations."""
    count, threads = rng.randint(0, 200), random_threads(rng)
    which = rng.choice(["inclusive", "exclusive"])
    use, change = "sums[i] = sum;", "sum += i * 3 + 1;"
    body = (
        f"{change}\n#pragma omp scan inclusive(sum)\n{use}"
        if which == "inclusive"
        else f"{use}\n#pragma omp scan exclusive(sum)\n{change}"
    )
    text = fill(
        """long sums[$count + 1], sum = 10;
#pragma omp parallel for reduction(inscan, + : sum) num_threads($threads)
for (int i = 0; i < $count; ++i) {
$body
}
for (long i = 0, wanted = 10; i < $count; ++i) {
  if ($inclusive) wanted += i * 3 + 1;
  equal("a prefix sum", sums[i], wanted);
  if (!$inclusive) wanted += i * 3 + 1;
}
equal("the whole sum of a scan", sum, 10 + 3L * $count * ($count - 1) / 2 + $count);
""",
        count=count,
        threads=threads,
        body=body,
        inclusive=int(which == "inclusive"),
    )
    return "", repeated(rng, text)
