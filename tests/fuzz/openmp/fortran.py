# SPDX-License-Identifier: BSD-3-Clause
"""Constructs of Fortran programs: do loops in both directions, workshare, critical names, common blocks."""

from __future__ import annotations

import random

from .construct import fill, kind
from .shapes import Schedule, random_schedule, random_threads

FORTRAN, GNU = ("fortran",), ("gcc",)

PRELUDE = """module checks
use omp_lib
use iso_fortran_env, only: int32, int64, output_unit
implicit none
integer(int64) :: checksum = 1469598103934665_int64
integer :: wrong = 0, wrong_here = 0
integer :: rank = 0, ranks = 1
character(200) :: first_wrong = ''
contains
subroutine expect(right, what, seen, wanted)
logical, intent(in) :: right
character(*), intent(in) :: what
integer(int64), intent(in) :: seen, wanted
integer :: before
if (right) return
!$omp atomic
wrong = wrong + 1
!$omp atomic capture
before = wrong_here
wrong_here = wrong_here + 1
!$omp end atomic
if (before < 5 .and. rank == 0) &
  write (output_unit, '(3a,i0,a,i0,a)', advance='no') ' WRONG ', what, ': ', seen, ', not ', wanted, ';'
if (before == 0 .and. rank /= 0) write (first_wrong, '(2a,i0,a,i0)') what, ': ', seen, ', not ', wanted
end subroutine
subroutine equal(what, seen, wanted)
character(*), intent(in) :: what
integer, intent(in) :: seen, wanted
call expect(seen == wanted, what, int(seen, int64), int(wanted, int64))
end subroutine
subroutine note(value)
integer(int64), intent(in) :: value
checksum = mod(checksum * 31 + value, 1000000007_int64)
end subroutine
subroutine add(where, what)
integer, intent(inout) :: where
integer, intent(in) :: what
!$omp atomic
where = where + what
end subroutine
subroutine check_times(hits, times)
integer, intent(in) :: hits(:), times
integer :: k
do k = 1, size(hits)
  call equal('executions of an iteration', hits(k), times)
end do
end subroutine
subroutine work(k)
integer, intent(in) :: k
integer, volatile :: sink
integer :: n
sink = 0
if (mod(k, 7) == 3) then
  do n = 1, 400
    sink = sink + n
  end do
end if
end subroutine
subroutine begin_construct(number, name)
integer, intent(in) :: number
character(*), intent(in) :: name
wrong_here = 0
if (rank == 0) write (output_unit, '(i0,1x,2a)', advance='no') number, name, ':'
flush(output_unit)
end subroutine
subroutine end_construct(number, name)
integer, intent(in) :: number
character(*), intent(in) :: name
if (rank == 0 .and. wrong_here /= 0) then
  write (output_unit, '(a)') ' wrong'
else if (rank == 0) then
  write (output_unit, '(a,z16.16)') ' right ', checksum
else if (wrong_here /= 0) then
  write (output_unit, '(i0,1x,2a,i0,2a)') number, name, ': WRONG on rank ', rank, ': ', trim(first_wrong)
end if
flush(output_unit)
end subroutine
end module
"""

MAIN = (
    "program main\nuse checks\nimplicit none\ninteger :: round\ndo round = 1, $rounds\n${calls}end do\n"
    "if (wrong /= 0) then\nprint '(a,z16.16)', 'wrong ', checksum\nstop 1\nend if\n"
    "print '(a,z16.16)', 'ok ', checksum\nend program\n"
)


class Do:
    """`do i = first, bound, step` with `count` iterations, 1 to `count` by `index`."""

    def __init__(self, rng: random.Random, most: int = 250, least: int = 0) -> None:
        bits = rng.choice([32, 32, 64])
        self.type = f"integer(int{bits})"
        self.suffix = f"_int{bits}"
        limit = 2 ** (bits - 1) - 1
        self.count = max(least, rng.choice([0, 1, 2, rng.randint(1, most), rng.randint(1, most)]))
        self.step = rng.choice([1, 1, 2, 7, rng.randint(1, 5000)]) * rng.choice([1, 1, -1])
        span = self.count * self.step
        room = (self.count + 1) * abs(self.step) + 1
        self.first = rng.choice([1, 0, rng.randint(-100, 100), limit - room, -limit + room])
        slack = rng.randint(0, abs(self.step) - 1) * (1 if self.step > 0 else -1)
        self.bound = self.first + span - self.step + (slack if self.count else 0)

    def header(self, name: str) -> str:
        step = "" if self.step == 1 else f", {self.step}{self.suffix}"
        return f"do {name} = {self.first}{self.suffix}, {self.bound}{self.suffix}{step}"

    def index(self, name: str) -> str:
        return f"(int((int({name}, int64) - ({self.first}_int64)) / ({self.step}_int64)) + 1)"


def _schedule(rng: random.Random, ordered: bool = False) -> Schedule:
    return random_schedule(rng, ordered)


def subroutine(declarations: str, body: str, repeats: int) -> tuple[str, str]:
    """Declarations and a body that runs several times."""
    return declarations, f"do repeat = 1, {repeats}\n{body}end do\n"


def _repeats(rng: random.Random) -> int:
    return rng.choice([1, 2, 3, 4, 6])


@kind("do loop", weight=6, languages=FORTRAN, families=GNU)
def do_loop(rng: random.Random) -> tuple[str, str]:
    do, schedule = Do(rng), _schedule(rng)
    clause, check = rng.choice(
        [
            ("", ""),
            (" reduction(+:total)", f"call equal('a reduction', total, {do.count * (do.count + 1) // 2 + 3})\n"),
            (" lastprivate(latest)", f"call equal('a lastprivate variable', latest, {do.count})\n" if do.count else ""),
            (" firstprivate(given)", ""),
        ]
    )
    inside = {" reduction(+:total)": "total = total + k\n", " lastprivate(latest)": "latest = k\n"}.get(clause, "")
    if "given" in clause:
        inside = "call equal('a firstprivate variable', given, 9)\n"
    body = fill(
        """hits = 0
total = 3
latest = 0
given = 9
!$$omp parallel do$schedule num_threads($threads) private(k)$clause
$header
k = $index
${inside}call add(hits(k), 1)
call work(k)
end do
!$$omp end parallel do
call check_times(hits, 1)
$check""",
        schedule=schedule.clause,
        threads=random_threads(rng),
        clause=clause,
        header=do.header("i"),
        index=do.index("i"),
        inside=inside,
        check=check,
    )
    return subroutine(f"{do.type} :: i\ninteger :: hits({do.count}), k, total, latest, given\n", body, _repeats(rng))


@kind("do loops in a region", weight=5, languages=FORTRAN, families=GNU)
def do_loops(rng: random.Random) -> tuple[str, str]:
    declarations, loops, before, after = "integer :: k\n", "", "", ""
    for n in range(rng.randint(1, 4)):
        do = Do(rng, 120)
        declarations += f"{do.type} :: i{n}\ninteger :: hits{n}({do.count})\n"
        before += f"hits{n} = 0\n"
        loops += (
            f"!$omp do{_schedule(rng).clause}\n{do.header(f'i{n}')}\nk = {do.index(f'i{n}')}\ncall add(hits{n}(k),"
            " 1)\ncall work(k)\nend do\n"
        )
        loops += f"!$omp end do{rng.choice(['', ' nowait'])}\n"
        after += f"call check_times(hits{n}, 1)\n"
    body = f"{before}!$omp parallel num_threads({random_threads(rng)}) private(k)\n{loops}!$omp end parallel\n{after}"
    return subroutine(declarations, body, _repeats(rng))


@kind("ordered do", weight=2, languages=FORTRAN, families=GNU)
def ordered_do(rng: random.Random) -> tuple[str, str]:
    do = Do(rng, 100)
    body = fill(
        """place = 0
!$$omp parallel do ordered$schedule num_threads($threads) private(k)
$header
k = $index
call work(k)
!$$omp ordered
place = place + 1
sequence(place) = k
!$$omp end ordered
end do
call equal('ordered regions', place, $count)
do k = 1, $count
call equal('order', sequence(k), k)
end do
""",
        schedule=_schedule(rng, ordered=True).clause,
        threads=random_threads(rng),
        header=do.header("i"),
        index=do.index("i"),
        count=do.count,
    )
    return subroutine(f"{do.type} :: i\ninteger :: k, place, sequence({do.count + 1})\n", body, _repeats(rng))


@kind("collapsed do", weight=2, languages=FORTRAN, families=GNU)
def collapsed_do(rng: random.Random) -> tuple[str, str]:
    outer, inner = Do(rng, 14), Do(rng, 14)
    body = fill(
        """hits = 0
!$$omp parallel do collapse(2)$schedule num_threads($threads)
$header0
$header1
call add(hits(($index0 - 1) * $count1 + $index1), 1)
end do
end do
call check_times(hits, 1)
""",
        schedule=_schedule(rng).clause,
        threads=random_threads(rng),
        header0=outer.header("i"),
        header1=inner.header("j"),
        index0=outer.index("i"),
        index1=inner.index("j"),
        count1=inner.count,
    )
    return subroutine(f"{outer.type} :: i\n{inner.type} :: j\ninteger :: hits({outer.count * inner.count})\n", body,
                      _repeats(rng))


@kind("nested do", weight=3, languages=FORTRAN, families=GNU)
def nested_do(rng: random.Random) -> tuple[str, str]:
    outer, inner = rng.randint(0, 20), rng.randint(0, 100)
    body = fill(
        """hits = 0
levels = omp_get_max_active_levels()
call omp_set_max_active_levels(2)
!$$omp parallel do$schedule0 num_threads($threads0) private(j)
do i = 1, $outer
!$$omp parallel do$schedule1 num_threads($threads1)
do j = $inner, 1, -1
call add(hits(j + (i - 1) * $inner), 1)
end do
end do
call omp_set_max_active_levels(levels)
call check_times(hits, 1)
""",
        schedule0=_schedule(rng).clause,
        schedule1=_schedule(rng).clause,
        threads0=random_threads(rng, 8),
        threads1=random_threads(rng, 4),
        outer=outer,
        inner=inner,
    )
    return subroutine(f"integer :: i, j, levels, hits({outer * inner})\n", body, _repeats(rng))


@kind("workshare", weight=2, languages=FORTRAN, families=GNU)
def workshare(rng: random.Random) -> tuple[str, str]:
    size = rng.randint(1, 200)
    body = fill(
        """a = 2
b = 0
!$$omp parallel num_threads($threads)
!$$omp workshare
b = a * 3
a = b + 1
where (a > 5) b = b - 1
!$$omp end workshare
!$$omp do$schedule
do i = $size, 1, -1
b(i) = b(i) + a(i)
end do
!$$omp end parallel
do i = 1, $size
call equal('a value of workshare', b(i), 12)
end do
""",
        threads=random_threads(rng),
        schedule=_schedule(rng).clause,
        size=size,
    )
    return subroutine(f"integer :: i, a({size}), b({size})\n", body, _repeats(rng))


@kind("named critical", weight=2, languages=FORTRAN, families=GNU)
def named_critical(rng: random.Random) -> tuple[str, str]:
    count = rng.randint(1, 100)
    body = fill(
        """total = 0
other = 0
parts = 0
!$$omp parallel num_threads($threads)
!$$omp do$schedule
do i = 1, $count
!$$omp critical (first)
total = total + i
!$$omp end critical (first)
!$$omp critical
other = other + 1
!$$omp end critical
end do
!$$omp end do nowait
!$$omp sections
!$$omp section
call add(parts, 10)
!$$omp section
call add(parts, 20)
!$$omp end sections
!$$omp master
call add(parts, 100)
!$$omp end master
!$$omp end parallel
call equal('sum under critical', total, $sum)
call equal('count under critical', other, $count)
call equal('sections and master', parts, 130)
""",
        threads=random_threads(rng),
        schedule=_schedule(rng).clause,
        count=count,
        sum=count * (count + 1) // 2,
    )
    return subroutine("integer :: i, total, other, parts\n", body, _repeats(rng))


@kind("common block", weight=2, languages=FORTRAN, families=GNU)
def common_block(rng: random.Random) -> tuple[str, str]:
    count = rng.randint(1, 100)
    declarations = "integer :: own, i, total, team\ncommon /block@/ own\n!$omp threadprivate(/block@/)\n"
    body = fill(
        """own = 5
total = 0
!$$omp parallel num_threads($threads) copyin(/block@/)
!$$omp do$schedule
do i = 1, $count
own = own + i
end do
!$$omp atomic
total = total + own
!$$omp single
team = omp_get_num_threads()
!$$omp end single copyprivate(own)
!$$omp end parallel
call equal('sum of a threadprivate block', total, $sum + 5 * team)
""",
        threads=random_threads(rng),
        schedule=_schedule(rng).clause,
        count=count,
        sum=count * (count + 1) // 2,
    )
    return subroutine(declarations, body, _repeats(rng))


@kind("Fortran tasks", weight=3, languages=FORTRAN, families=GNU)
def fortran_tasks(rng: random.Random) -> tuple[str, str]:
    number, count = rng.randint(1, 40), rng.randint(1, 100)
    body = fill(
        """total = 0
hits = 0
!$$omp parallel num_threads($threads)
!$$omp single
do n = 1, $number
!$$omp task firstprivate(n) shared(total)
call work(n)
call add(total, n)
!$$omp end task
end do
!$$omp taskwait
call equal('sum of tasks', total, $sum)
!$$omp taskloop shared(hits) grainsize($grain)
do i = $count, 1, -1
call add(hits(i), 1)
end do
!$$omp end taskloop
!$$omp end single nowait
!$$omp do$schedule
do i = 1, $count
call add(hits(i), 1)
end do
!$$omp end parallel
call check_times(hits, 2)
""",
        threads=random_threads(rng),
        number=number,
        sum=number * (number + 1) // 2,
        grain=rng.randint(1, 20),
        count=count,
        schedule=_schedule(rng).clause,
    )
    return subroutine(f"integer :: i, n, total, hits({count})\n", body, _repeats(rng))


@kind("cancelled do", weight=3, languages=FORTRAN, families=GNU)
def cancelled_do(rng: random.Random) -> tuple[str, str]:
    do, later = Do(rng, 150, least=1), Do(rng, 60)
    body = fill(
        """hits = 0
after = 0
!$$omp parallel num_threads($threads) private(k)
!$$omp do$schedule0
$header0
k = $index0
call add(hits(k), 1)
!$$omp cancel do if(k == $at)
call work(k)
!$$omp cancellation point do
end do
!$$omp end do
!$$omp do$schedule1
$header1
k = $index1
call add(after(k), 1)
end do
!$$omp end parallel
if (omp_get_cancellation()) then
call expect(all(hits <= 1), 'executions in a cancelled loop', int(maxval(hits), int64), 1_int64)
else
call check_times(hits, 1)
end if
call check_times(after, 1)
""",
        threads=random_threads(rng),
        schedule0=_schedule(rng).clause,
        schedule1=_schedule(rng).clause,
        header0=do.header("i"),
        header1=later.header("j"),
        index0=do.index("i"),
        index1=later.index("j"),
        at=rng.randint(1, do.count),
    )
    declarations = f"{do.type} :: i\n{later.type} :: j\ninteger :: k, hits({do.count}), after({later.count})\n"
    return subroutine(declarations, body, _repeats(rng))


@kind("doacross do", languages=FORTRAN, families=GNU, libomp_lacks=True)
def doacross_do(rng: random.Random) -> tuple[str, str]:
    count = rng.randint(1, 30)
    schedule = _schedule(rng).clause.replace("nonmonotonic:", "")
    body = fill(
        """values(0) = 0
!$$omp parallel do ordered(1)$schedule num_threads($threads)
do i = 1, $count
call work(i)
!$$omp ordered depend(sink: i - 1)
values(i) = values(i - 1) + i
!$$omp ordered depend(source)
end do
do i = 1, $count
call equal('value of a doacross loop', values(i), i * (i + 1) / 2)
end do
""",
        count=count,
        schedule=schedule,
        threads=random_threads(rng, 2),
    )
    return subroutine(f"integer :: i, values(0:{count})\n", body, 1)


@kind("Fortran queries", weight=2, languages=FORTRAN, families=GNU)
def fortran_queries(rng: random.Random) -> tuple[str, str]:
    threads, chunk = random_threads(rng), rng.choice([1, 3, 9])
    name = rng.choice(["static", "dynamic", "guided"])
    body = fill(
        """call note(int(omp_get_max_threads(), int64))
call note(int(omp_get_num_procs(), int64))
call omp_get_schedule(kind0, chunk0)
call omp_set_schedule(omp_sched_$name, $chunk)
call omp_get_schedule(kind1, chunk1)
call equal('kind of a schedule', int(iand(kind1, 255)), int(omp_sched_$name))
call equal('chunk of a schedule', chunk1, $chunk)
usual = omp_get_max_threads()
came = 0
hits = 0
call omp_set_num_threads($threads)
call equal('omp_get_max_threads', omp_get_max_threads(), $threads)
!$$omp parallel
call add(came, 1)
!$$omp single
team = omp_get_num_threads()
!$$omp end single
!$$omp do schedule(runtime)
do i = 90, 1, -1
call add(hits(i), 1)
end do
!$$omp end parallel
call equal('threads that came', came, team)
if (.not. omp_get_dynamic() .and. omp_get_thread_limit() >= 1000) call equal('threads', team, $threads)
call check_times(hits, 1)
call omp_set_num_threads(usual)
call omp_set_schedule(kind0, chunk0)
""",
        name=name,
        chunk=chunk,
        threads=threads,
    )
    declarations = (
        "integer(omp_sched_kind) :: kind0, kind1\ninteger :: chunk0, chunk1, usual, came, team, i, hits(90)\n"
    )
    return subroutine(declarations, body, _repeats(rng))


@kind("orphaned do", weight=2, languages=FORTRAN, families=GNU)
def orphaned_do(rng: random.Random) -> tuple[str, str]:
    """A loop in a contained subroutine, which regions of two sizes call."""
    do = Do(rng, 120)
    body = fill(
        """hits = 0
!$$omp parallel num_threads($threads0)
call orphan(hits)
!$$omp end parallel
!$$omp parallel num_threads($threads1)
call orphan(hits)
call orphan(hits)
!$$omp end parallel
call check_times(hits, 3)
""",
        threads0=random_threads(rng),
        threads1=random_threads(rng),
    )
    contained = fill(
        """contains
subroutine orphan(given)
integer, intent(inout) :: given(:)
$type :: i
!$$omp do$schedule
$header
call add(given($index), 1)
end do
!$$omp end do$nowait
end subroutine
""",
        type=do.type,
        schedule=_schedule(rng).clause,
        header=do.header("i"),
        index=do.index("i"),
        nowait=rng.choice(["", " nowait"]),
    )
    declarations, text = subroutine(f"integer :: hits({do.count})\n", body, _repeats(rng))
    return declarations, text + contained
