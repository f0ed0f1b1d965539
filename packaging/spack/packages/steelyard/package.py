# SPDX-License-Identifier: BSD-3-Clause
# A recipe for Spack, to be used from a checkout:
#     spack repo add packaging/spack
#     spack dev-build steelyard@main ^openmpi
from spack.package import *


class Steelyard(CMakePackage):
    """Measures and corrects load imbalance in MPI+OpenMP programs while they run, without recompiling them. Moves cores
    between the ranks of a node, iterations between threads and tasks between nodes, and reports what each change
    gained."""

    license("BSD-3-Clause")

    # There is no URL to fetch them from yet: both versions are the checkout.
    version("main")
    version("0.1.0")

    variant("fortran", default=True, description="Install the Fortran module, compiled")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("fmt@9:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("tomlplusplus@3:", type="build")
    # One MPI an installation: Steelyard is compiled over what the program uses.
    depends_on("mpi")
    depends_on("hwloc@2:")
    # The build needs its omp-tools.h. `steelyard run --openmp=llvm` loads it in the place of GNU's OpenMP runtime.
    depends_on("llvm-openmp", type=("build", "run"))
    # Recognises gcc's static loops. Version 4, since Spack's version 5 installs no archive, and the archive is linked.
    depends_on("capstone@4", when="target=x86_64:")
    # The doctor names source lines with its libdw.a and libelf.a.
    depends_on("elfutils")

    conflicts("%gcc@:11", msg="Steelyard is C++20: gcc 12 or newer")
    conflicts("%clang@:15", msg="Steelyard is C++20: clang 16 or newer")

    generator("ninja")

    def cmake_args(self):
        mpi = self.spec["mpi"]
        flavour, other = ("openmpi", "mpich") if mpi.name == "openmpi" else ("mpich", "openmpi")
        args = [
            self.define(f"STEELYARD_{other}_CC", False),  # not the system's
            self.define("STEELYARD_TESTS", False),
            self.define("STEELYARD_BENCHMARKS", False),
            self.define("STEELYARD_EXAMPLES", False),
            self.define(f"STEELYARD_{flavour}_CC", mpi.mpicc),
            self.define(f"STEELYARD_{flavour}_CXX", mpi.mpicxx),
            self.define(f"STEELYARD_{flavour}_RUN", join_path(mpi.prefix.bin, "mpirun")),
        ]
        if self.spec.satisfies("+fortran"):
            args.append(self.define(f"STEELYARD_{flavour}_FC", mpi.mpifc))
        else:
            args.append(self.define("STEELYARD_GFORTRAN", "STEELYARD_GFORTRAN-NOTFOUND"))
        return args

    def setup_run_environment(self, env):
        # `steelyard run` looks for LLVM's libomp there.
        env.append_path("LD_LIBRARY_PATH", self.spec["llvm-openmp"].prefix.lib)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(self.prefix.bin.steelyard)("--version")
