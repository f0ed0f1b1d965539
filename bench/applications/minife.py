"""MiniFE: an implicit finite-element solver, conjugate gradients; C++, static loops."""

from application import Application, Input

APPLICATION = Application(
    name="minife",
    source="https://github.com/Mantevo/miniFE",
    commit="c79e0f7f7afdd6c8191936efce7a668316159cc3",
    folder="openmp/src",
    # Makefile.gnu.openmp builds without MPI, and says nothing.
    build="make -f Makefile CXX={cxx} CC={cc} CFLAGS='-O2 -fopenmp'",
    program="miniFE.x",
    inputs=(Input("unbalanced", "-nx 64 -ny 64 -nz 64 -load_imbalance 60", balanced=False),
            Input("balanced", "-nx 64 -ny 64 -nz 64", balanced=True)),
    output="miniFE*.yaml",
    timer=r"Total CG Time: ([\d.eE+-]+)",
    # The last one is rounding alone: 3e-15 or 4e-15, as OMP_NUM_THREADS says.
    result=r"Iteration = 100 +Residual = ([\d.eE+-]+)",
    tolerance=1e-4,
)
