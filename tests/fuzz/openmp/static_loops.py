# SPDX-License-Identifier: BSD-3-Clause
"""Static loops as applications have them: chains without barriers, with reductions and private arrays; loop nests; and
regions that keep data for each thread. Each is compared with the same loop in serial."""

from __future__ import annotations

import random

from .construct import fill, kind
from .fortran import FORTRAN, GNU, Do, subroutine
from .loops import repeated
from .shapes import random_shape, random_threads

# What a loop does with iteration `k`, and the clause that it needs. $p is the prefix of the serial copies.
STATEMENTS = (
    ("${p}a[k] = ${p}a[k] * 5 + ${p}b[k] + given[k % 4];", " firstprivate(given)"),
    ("${p}b[k] ^= ${p}a[k] + (Word)k * 40503u;", ""),
    ("given[1] += k; ${p}b[k] += given[1] * 3; given[1] -= k;", " firstprivate(given)"),
    ("const Word old = ${p}a[k]; ${p}a[k] = ${p}b[k]; ${p}b[k] = old >> 3;", ""),
    ("${p}sum += ${p}a[k] * (k + 1);", " reduction(+ : ${p}sum)"),
    ("${p}sum += k; if (${p}b[k] > ${p}most) ${p}most = ${p}b[k];",
     " reduction(+ : ${p}sum) reduction(max : ${p}most)"),
    ("${p}bits ^= ${p}a[k] + ${p}b[k]; ${p}all = ${p}all && ${p}a[k] != 7;",
     " reduction(^ : ${p}bits) reduction(&& : ${p}all)"),
    ("${p}bins[${p}a[k] % 5] += k; if (k % 3 == 0) ${p}b[k] += 2;", " reduction(+ : ${p}bins[:5])"),
    ("${p}last = ${p}a[k] + k;", " lastprivate(${p}last)"),
    ("if (k % 5 == 2) continue; ${p}a[k] += k; work(k, $pattern);", ""),
    ("for (int n = 0; n < 3; ++n) ${p}a[k] = ${p}a[k] * 33 + n; own.x[k % 2] = k;", " firstprivate(own)"),
)
REDUCED = ("sum", "most", "bits")


def _schedule(rng: random.Random) -> str:
    return rng.choice(["", "", " schedule(static)", " schedule(static)", f" schedule(static, {rng.randint(1, 30)})"])


@kind("chain of static loops", weight=8)
def chain(rng: random.Random) -> tuple[str, str]:
    """Loops with the same bounds and schedule, some behind each other without a barrier: each iteration of the next
    loop is on the thread that ran it before."""
    shape, schedule = random_shape(rng, most=400), _schedule(rng)
    parallel, serial = "", ""
    for _ in range(rng.randint(1, 5)):
        statement, clause = rng.choice(STATEMENTS)
        body = statement.replace("$pattern", str(rng.randint(0, 3)))
        between = rng.choice([""] * 6 + ["#pragma omp barrier\n", "#pragma omp master\nadd(&begun, 1);\n",
                                         "#pragma omp single nowait\nadd(&begun, 1);\n"])
        # The value that a reduction adds to is read by the next loop of the same name: after a barrier.
        nowait = rng.choice(["", " nowait", " nowait"]) if "reduction" not in clause and "last" not in clause else ""
        parallel += between + fill(
            "#pragma omp for$schedule$clause$nowait\n$header { const long k = $index; $body }\n", schedule=schedule,
            clause=fill(clause, p=""), nowait=nowait, header=shape.header("i"), index=shape.index("i"),
            body=fill(body, p=""))
        serial += fill("for (long k = 0; k < $count; ++k) { $body }\n", count=shape.count, body=fill(body, p="w_"))
    text = fill(
        """enum { COUNT = $count };
Word* memory = (Word*)calloc(4 * COUNT + 4, sizeof(Word));
Word *a = memory, *b = a + COUNT + 1, *w_a = b + COUNT + 1, *w_b = w_a + COUNT + 1;
Word given[4] = {3, 5, 8, 13}, sum = 1, most = 2, bits = 4, last = 9, bins[5] = {0};
Word w_sum = 1, w_most = 2, w_bits = 4, w_last = 9, w_bins[5] = {0};
int all = 1, w_all = 1, begun = 0;
struct { Word x[2]; char name[24]; } own = {{1, 2}, "own"};
for (long k = 0; k < COUNT; ++k) a[k] = w_a[k] = k * 2654435761u, b[k] = w_b[k] = k ^ 12345;
$variables#pragma omp parallel num_threads($threads)
{
$parallel}
$serial
for (long k = 0; k < COUNT; ++k) equal("a value of a static loop", a[k], w_a[k]), equal("another one", b[k], w_b[k]);
$reduced
equal("&& of static loops", all, w_all);
if (COUNT > 0) equal("lastprivate of static loops", last, w_last);
for (int k = 0; k < 5; ++k) equal("an array of sums", bins[k], w_bins[k]);
note(sum + most + bits);
free(memory);
""",
        count=shape.count,
        variables=shape.before("i"),
        threads=random_threads(rng),
        parallel=parallel,
        serial=serial,
        reduced="\n".join(f'equal("{name} of static loops", {name}, w_{name});' for name in REDUCED),
    )
    return "", repeated(rng, text)


@kind("static loop nest", weight=5)
def nest(rng: random.Random) -> tuple[str, str]:
    """Collapsed loops over variables of different types and directions."""
    depth = rng.choice([2, 2, 3])
    shapes = [random_shape(rng, most=20 if depth == 2 else 8) for _ in range(depth)]
    headers = "".join(f"{shape.header(f'i{n}')}\n" for n, shape in enumerate(shapes))
    index, total = "0", 1
    for n, shape in enumerate(shapes):
        index = f"({index}) * {shape.count} + {shape.index(f'i{n}')}"
        total *= shape.count
    text = fill(
        """const long count = $total;
Word* cells = (Word*)calloc(count + 1, sizeof(Word));
Word sum = 0, wanted = 0, first = $first;
$variables#pragma omp parallel num_threads($threads) firstprivate(first)
{
#pragma omp for collapse($depth)$schedule nowait
$headers{ const long k = $index; cells[k] += first + k; }
#pragma omp for collapse($depth)$schedule reduction(+ : sum)
$headers{ const long k = $index; sum += ++cells[k] * 3; work(k, $pattern); }
}
for (long k = 0; k < count; ++k) {
  equal("a cell of a loop nest", cells[k], $first + k + 1);
  wanted += cells[k] * 3;
}
equal("sum of a loop nest", sum, wanted);
note(sum);
free(cells);
""",
        total=total,
        first=rng.randint(0, 1000),
        variables="".join(shape.before(f"i{n}") for n, shape in enumerate(shapes)),
        threads=random_threads(rng),
        depth=depth,
        schedule=_schedule(rng),
        headers=headers,
        index=index,
        pattern=rng.randint(0, 3),
    )
    return "", repeated(rng, text)


@kind("data of each thread", weight=3)
def of_each_thread(rng: random.Random) -> tuple[str, str]:
    """Memory or a partition that the program sizes by omp_get_max_threads: such a region must not get more threads, and
    with the partition not fewer, either."""
    count, once = rng.randint(0, 300), rng.choice(["static ", ""])
    partition, inside = rng.choice(
        [
            ("0", "#pragma omp for$schedule\nfor (int k = 0; k < $count; ++k) parts[me] += k, hit(t, k);\n"),
            ("0", "#pragma omp for$schedule nowait\nfor (int k = 0; k < $count; ++k) mine += k, hit(t, k);\n"
                  "parts[me] += mine;\n"),
            ("1", "for (int k = me; k < $count; k += threads) parts[me] += k, hit(t, k);\n"),
            ("1", "const int first = $count * me / threads, end = $count * (me + 1) / threads;\n"
                  "for (int k = first; k < end; ++k) mine += k, hit(t, k);\nparts[me] = mine;\n"),
        ]
    )
    text = fill(
        """${once}int threads = 0;
if (threads == 0) threads = omp_get_max_threads();
/* What OMP_DYNAMIC or a thread limit takes away is not Steelyard's. */
if ($partition && !count_is_promised()) return;
Tally* t = new_tally($count);
Word* parts = (Word*)calloc(threads, sizeof(Word));
Word sum = 0;
#pragma omp parallel
{
const int me = omp_get_thread_num();
Word mine = 0;
if (me >= threads) {
  expect(0, "thread beyond omp_get_max_threads", me, threads);
  exit(1);
}
$inside}
for (int k = 0; k < threads; ++k) sum += parts[k];
check_times(t, 1);
equal("sum over threads", sum, $total);
free(parts);
drop_tally(t);
""",
        once=once,
        partition=partition,
        count=count,
        inside=fill(inside, schedule=_schedule(rng), count=count),
        total=count * (count - 1) // 2,
    )
    return "", repeated(rng, text)


@kind("chain of static do loops", weight=6, languages=FORTRAN, families=GNU)
def do_chain(rng: random.Random) -> tuple[str, str]:
    do, inner, schedule = Do(rng), Do(rng, 12), _schedule(rng)
    outer = Do(rng, 12)
    chains = [
        f"!$omp do{schedule}\n{do.header('i')}\nk = {do.index('i')}\na(k) = a(k) * 3 + given(1 + mod(k, 3))\nend do\n"
        f"!$omp end do nowait\n",
        f"!$omp do{schedule} reduction(+:total) reduction(max:most)\n{do.header('i')}\nk = {do.index('i')}\n"
        "total = total + a(k)\nmost = max(most, a(k))\nend do\n!$omp end do\n",
        f"!$omp do{schedule} reduction(+:bins)\n{do.header('i')}\nk = {do.index('i')}\n"
        "bins(1 + mod(k, 4)) = bins(1 + mod(k, 4)) + a(k)\nend do\n!$omp end do\n",
        f"!$omp do{schedule} lastprivate(latest)\n{do.header('i')}\nk = {do.index('i')}\n"
        "latest = a(k)\na(k) = a(k) + 1\nend do\n!$omp end do\n",
        f"!$omp do collapse(2){_schedule(rng)}\n{outer.header('j')}\n{inner.header('l')}\n"
        f"k = ({outer.index('j')} - 1) * {inner.count} + {inner.index('l')}\ncells(k) = cells(k) + k\nend do\nend do\n"
        f"!$omp end do{rng.choice(['', ' nowait'])}\n",
    ]
    chosen = [rng.randrange(len(chains)) for _ in range(rng.randint(1, 5))]
    serial = (
        "do k = 1, $count\nw_a(k) = w_a(k) * 3 + given(1 + mod(k, 3))\nend do\n",
        "do k = 1, $count\nw_total = w_total + w_a(k)\nw_most = max(w_most, w_a(k))\nend do\n",
        "do k = 1, $count\nw_bins(1 + mod(k, 4)) = w_bins(1 + mod(k, 4)) + w_a(k)\nend do\n",
        "do k = 1, $count\nw_latest = w_a(k)\nw_a(k) = w_a(k) + 1\nend do\n",
        "do k = 1, $cells\nw_cells(k) = w_cells(k) + k\nend do\n",
    )
    # A collapsed loop on other threads than the last one without a barrier would race with itself only.
    parallel = "".join(("!$omp barrier\n" if n == 4 else "") + chains[n] for n in chosen)
    body = fill(
        """given = [3, 5, 8]
a = [(k, k=1, $count)]
w_a = a
cells = 0
w_cells = 0
bins = 0
w_bins = 0
total = 1
w_total = 1
most = 0
w_most = 0
latest = 0
w_latest = 0
!$$omp parallel num_threads($threads) private(k) firstprivate(given)
$parallel!$$omp end parallel
$serial
call expect(all(a == w_a), 'values of static do loops', sum(int(a, int64)), sum(int(w_a, int64)))
call expect(all(cells == w_cells), 'cells of a collapsed do', sum(int(cells, int64)), sum(int(w_cells, int64)))
call expect(all(bins == w_bins), 'a reduction of an array', sum(int(bins, int64)), sum(int(w_bins, int64)))
call equal('sum of static do loops', total, w_total)
call equal('max of static do loops', most, w_most)
if ($count > 0) call equal('lastprivate of static do loops', latest, w_latest)
""",
        count=do.count,
        threads=random_threads(rng),
        parallel=parallel,
        serial=fill("".join(serial[n] for n in chosen), count=do.count, cells=outer.count * inner.count),
    )
    declarations = (
        f"{do.type} :: i\n{outer.type} :: j\n{inner.type} :: l\ninteger :: k, given(3), total, w_total, most, w_most\n"
        f"integer :: latest, w_latest, bins(4), w_bins(4), a({do.count}), w_a({do.count})\n"
        f"integer :: cells({outer.count * inner.count}), w_cells({outer.count * inner.count})\n"
    )
    return subroutine(declarations, body, rng.choice([1, 2, 3, 5]))
