# SPDX-License-Identifier: BSD-3-Clause
"""What `steelyard doctor` says of thread-ID queries: of programs in C, C++ and Fortran, with and without debug
information."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

COMMAND = Path(os.environ["STEELYARD_COMMAND"])
READS_LINES = os.environ["STEELYARD_READS_SOURCE_LINES"] == "1"

# `smooth` has gcc's own queries; `helper` and `count` have one of the program's, in the lines with OWN.
C = """
#include <omp.h>
int MPI_Init(int*, char***);
double x[1000];
int part[256];
int helper(void) {
  return omp_get_thread_num() * 7; // OWN
}
void smooth(void) {
#pragma omp parallel for
  for (int i = 0; i < 1000; ++i) x[i] *= 2;
}
void count(void) {
#pragma omp parallel
  part[omp_get_thread_num()] += helper(); // OWN
}
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  smooth();
  count();
}
"""
CPP = """
#include <omp.h>
extern "C" int MPI_Init(int*, char***);
double x[1000];
int part[256];
int helper() {
  return omp_get_thread_num() * 7; // OWN
}
namespace solver {
void smooth() {
#pragma omp parallel for
  for (int i = 0; i < 1000; ++i) x[i] *= 2;
}
template <class T>
void count(T) {
#pragma omp parallel
  part[omp_get_thread_num()] += helper(); // OWN
}
}
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  solver::smooth();
  solver::count(1.0);
}
"""
FORTRAN = """
module solver
  use omp_lib
  implicit none
  real(8) :: x(1000)
  integer :: part(256)
contains
  subroutine smooth()
    integer :: i
    !$omp parallel do
    do i = 1, size(x)
      x(i) = 2 * x(i)
    end do
  end subroutine
end module
integer function helper()
  use omp_lib
  helper = omp_get_thread_num() * 7 ! OWN
end function
subroutine count()
  use solver
  integer, external :: helper
  !$omp parallel
  part(omp_get_thread_num() + 1) = helper() ! OWN
  !$omp end parallel
end subroutine
program main
  use solver
  integer :: error
  call mpi_init(error)
  call smooth()
  call count()
end program
"""
# The compiler, its source, the file's name, and how the symbols of the functions with own queries read.
LANGUAGES = {"c": ("gcc", C, "app.c", "count", "helper"),
             "cpp": ("g++", CPP, "app.cpp", "solver::count<...>", "helper"),
             "fortran": ("gfortran", FORTRAN, "app.f90", "count_", "helper_"),
             "clang": ("clang-19", C, "app.c", "count", "helper")}


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """All that the doctor sees of an MPI: its name."""
    source, made = tmp_path / "mpi.c", tmp_path / "libmpi.so.40"
    source.write_text("int MPI_Init(int* c, char*** v) { return !c || !v; }\nvoid mpi_init_(int* error) { *error = 0; "
                      "}\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.40", str(source), "-o", str(made)], check=True)
    return made


def built(language: str, flags: str, library: Path, source: str = "") -> tuple[Path, list[str]]:
    """The program, and "file:line" of its own queries."""
    compiler, text, name, *_ = LANGUAGES[language]
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is missing")
    text = source or text
    program = library.with_name("app")
    file = library.with_name(name)
    file.write_text(text)
    subprocess.run([compiler, "-O2", "-fno-inline", *flags.split(), "-fopenmp", str(file), str(library),
                    f"-Wl,-rpath,{library.parent}", "-o",
                    str(program)], check=True, cwd=library.parent)
    return program, [f"{name}:{number}" for number, line in enumerate(text.splitlines(), 1) if "OWN" in line]


def told(program: Path, *options: str) -> list[str]:
    """The doctor's lines about thread IDs, without the word in front."""
    out = subprocess.run([str(COMMAND), "doctor", *options, str(program)], capture_output=True, text=True,
                         timeout=60).stdout
    return [line for line in out.splitlines() if "thread-ID" in line]


lines_are_read = pytest.mark.skipif(not READS_LINES, reason="built without libdw")


@lines_are_read
@pytest.mark.parametrize("flags", ["-g", "-g -gdwarf-4", "-g -gz", "-g1", "-g -flto", "-g -static-libgcc -no-pie"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_queries_have_their_source_lines(language: str, flags: str, library: Path) -> None:
    if language == "clang" and "lto" in flags:
        pytest.skip("needs another linker")
    program, (in_helper, in_region) = built(language, flags, library)
    (line,) = told(program)
    *_, region, helper = LANGUAGES[language]
    places = [f"{region} ({in_region})", f"{helper} ({in_helper})"]
    if language == "clang":  # calls none in its loops, and its regions are in no order
        assert "0 of 2 thread-ID queries" in line and all(place in line for place in places)
        return
    assert line == ("note     thread counts: 2 of 4 thread-ID queries are proved to be gcc's own loop division; "
                    f"regions with other queries keep their thread count: {', '.join(places)}")


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_debug_information_functions_are_named(language: str, library: Path) -> None:
    program, _ = built(language, "", library)
    (line,) = told(program)
    *_, region, helper = LANGUAGES[language]
    order = (helper, region) if language == "clang" else (region, helper)
    assert f"keep their thread count: {', '.join(order)}; " in line
    assert line.endswith("to see their source lines, compile with -g") or not READS_LINES


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_stripped_program_has_addresses(language: str, library: Path) -> None:
    program, _ = built(language, "-g -s", library)
    (line,) = told(program)
    assert re.search(r"keep their thread count: function at 0x[0-9a-f]+, function at 0x[0-9a-f]+; ", line)


@lines_are_read
def test_five_functions_are_named_and_all_if_asked(library: Path) -> None:
    more = "".join(f"void count{n}(void) {{\n#pragma omp parallel\n  part[omp_get_thread_num()] += {n + 1};\n}}\n"
                   for n in range(7))
    program, _ = built("c", "-g", library, C.replace("int main", more + "int main"))
    (line,) = told(program)
    assert len(re.findall(r"count\d? \(app\.c:\d+\)", line)) == 5
    assert line.endswith(f", and 4 more (`steelyard doctor --verbose {program}` lists all)")
    first, *rest = told(program, "--verbose")
    assert first.endswith("regions with other queries keep their thread count") and len(rest) == 9
    assert all(re.fullmatch(r"note     thread-ID query: \w+ \(app\.c:\d+\) [a-z].*", line) for line in rest)
    assert any("count3" in line and line.endswith("computes an address from the thread ID or the team size")
               for line in rest)


@lines_are_read
def test_the_largest_function_that_is_too_long_is_named(library: Path) -> None:
    lines = "".join(f"if (y > {n}.5) y = y * {n}.25 + x[i + {n}]; else x[i] -= y * {n}.125;\n" for n in range(1200))
    region = ("void longest(void) {\n#pragma omp parallel for\nfor (int i = 0; i < 9; ++i) {\ndouble y = i;\n" + lines +
              "}\n}\n")
    # Optimised, it takes long to compile.
    text = C.replace("x[1000]", "x[9999]").replace("int main", region + "int main")
    program, _ = built("c", "-g -O0", library, text)
    (line,) = told(program)
    told_of_it = r"; too long to be analysed: longest \(app\.c:\d+\) with \d\d+ kB of machine code; split its region$"
    assert re.search(told_of_it, line), line


def test_a_program_without_own_queries_is_all_right(library: Path) -> None:
    program, _ = built("c", "-g", library, C.replace("omp_get_thread_num()", "0"))
    assert told(program) == ["ok       thread counts: 2 of 2 thread-ID queries are proved to be gcc's own loop "
                             "division; none of them fixes a thread count"]


@lines_are_read
def test_queries_of_the_programs_libraries_are_told(library: Path) -> None:
    """Much of a program may lie in libraries: GROMACS, LAMMPS."""
    functions, main = C.split("int main")
    solver = library.with_name("libsolver.so")
    (own := library.with_name("solver.c")).write_text(functions)
    subprocess.run(["gcc", "-O2", "-g", "-fno-inline", "-fopenmp", "-fPIC", "-shared", str(own), "-o", str(solver)],
                   check=True, cwd=library.parent)
    program, _ = built("c", "-g -L. -Wl,--no-as-needed -lsolver", library,
                       "int MPI_Init(int*, char***);\nvoid smooth(void), count(void);\nint main" + main)
    (line,) = told(program)
    assert "2 of 4 thread-ID queries in libsolver.so are proved to be gcc's own loop division; " in line
    assert re.search(r"keep their thread count: count \(solver.c:\d+\), helper \(solver.c:\d+\)$", line)
    first, *rest = told(program, "--verbose")
    assert "libsolver.so" in first and len(rest) == 2
