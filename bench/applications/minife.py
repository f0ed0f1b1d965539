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
    # Later ones depend on the order of sums: at iteration 60, OMP_NUM_THREADS=1, 2 and 3 give 0.0038, 0.012 and 0.0031.
    result=r"Iteration = 20 +Residual = ([\d.eE+-]+)",
    tolerance=1e-3,
)
