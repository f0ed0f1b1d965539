# SPDX-License-Identifier: BSD-3-Clause
"""MiniFE: an implicit finite-element solver, conjugate gradients; C++, static loops."""

from application import WIDE, Application, Input

APPLICATION = Application(
    name="minife",
    source="https://github.com/Mantevo/miniFE",
    commit="c79e0f7f7afdd6c8191936efce7a668316159cc3",
    folder="openmp/src",
    # Makefile.gnu.openmp builds without MPI, and says nothing.
    build="make -f Makefile CXX={cxx} CC={cc} CFLAGS='-O2 -fopenmp'",
    program="miniFE.x",
    inputs=(Input("unbalanced", "-nx 90 -ny 90 -nz 90 -load_imbalance 60", balanced=False),
            Input("balanced", "-nx 90 -ny 90 -nz 90", balanced=True),
            Input("wide unbalanced", "-nx 120 -ny 120 -nz 120 -load_imbalance 60", balanced=False, layouts=WIDE,
                  cores=16),
            Input("wide balanced", "-nx 120 -ny 120 -nz 120", balanced=True, layouts=WIDE, cores=16)),
    output="miniFE*.yaml",
    timer=r"Total CG Time: ([\d.eE+-]+)",
    # Sums in another order give other residuals: here 0.01735, 0.01722 and 0.01722 with OMP_NUM_THREADS=1, 2 and 3.
    result=r"Iteration = 40 +Residual = ([\d.eE+-]+)",
    tolerance=0.1,
)
