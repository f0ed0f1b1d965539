# SPDX-License-Identifier: BSD-3-Clause
"""CloverLeaf: explicit hydrodynamics on a grid; Fortran, a hundred short parallel loops in each step. Its load is even:
it shows what a program costs that nothing can be gained for."""

from application import Application, Input

GRID = """*clover
 state 1 density=0.2 energy=1.0
 state 2 density=1.0 energy=2.5 geometry=rectangle xmin=0.0 xmax=5.0 ymin=0.0 ymax=2.0
 x_cells=400
 y_cells=400
 xmin=0.0
 ymin=0.0
 xmax=10.0
 ymax=10.0
 initial_timestep=0.04
 timestep_rise=1.5
 max_timestep=0.04
 end_step={steps}
*endclover
"""

APPLICATION = Application(
    name="cloverleaf",
    source="https://github.com/UK-MAC/CloverLeaf_ref",
    commit="0fdb917bf10d20363dd8b88d762851908643925b",
    build="make COMPILER=GNU OPTIONS=-fallow-argument-mismatch MPI_COMPILER={fc} C_MPI_COMPILER={cc}",
    program="clover_leaf",
    inputs=(Input("short balanced", "", balanced=True, text=GRID.replace("{steps}", "60"), file="clover.in"),
            Input("balanced", "", balanced=True, text=GRID.replace("{steps}", "240"), file="clover.in")),
    timer=r"(?m)^ Wall clock +([\d.E+-]+)",
    # Volume, mass, density, pressure and energies at the end.
    result=r"(?m)^ step: +\d+ +" + r" +".join([r"([\d.E+-]+)"] * 7),
    output="clover.out",
    compilers=("gcc",),
)
