# SPDX-License-Identifier: BSD-3-Clause
"""LULESH 2.0: explicit shock hydrodynamics; C++, static loops, some arrays per thread."""

from application import Application, Input

CUBES = ((1, 2), (8, 1))  # a cube of ranks

APPLICATION = Application(
    name="lulesh",
    source="https://github.com/LLNL/LULESH",
    commit="3e01c40b3281aadb7f996525cdd4a3354f6d3801",
    build="make CXX='{cxx} -DUSE_MPI=1' CXXFLAGS='-O2 -fopenmp -I.' LDFLAGS='-O2 -fopenmp'",
    program="lulesh2.0",
    inputs=(Input("unbalanced", "-s 14 -i 60 -b 4 -c 16", balanced=False, layouts=CUBES),
            Input("balanced", "-s 14 -i 60 -b 0", balanced=True, layouts=CUBES),
            Input("wide unbalanced", "-s 24 -i 50 -b 4 -c 16", balanced=False, layouts=((8, 2),), cores=16),
            Input("wide balanced", "-s 24 -i 50 -b 0", balanced=True, layouts=((8, 2),), cores=16)),
    timer=r"Elapsed time\s*=\s*([\d.eE+-]+)",
    result=r"Final Origin Energy\s*=\s*([\d.eE+-]+)",
)
