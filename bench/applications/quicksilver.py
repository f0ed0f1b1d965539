# SPDX-License-Identifier: BSD-3-Clause
"""Quicksilver: Monte Carlo particle transport; C++, static loops with atomics."""

from application import WIDE, Application, Input

CROSS_SECTIONS = """
CrossSection:
   name: flat
   A: 0
   B: 0
   C: 0
   D: 0
   E: 1
   nuBar: 1
"""


def material(name: str, source: float) -> str:
    return f"""
Material:
   name: {name}
   mass: 1000
   nIsotopes: 10
   nReactions: 9
   sourceRate: {source:g}
   totalCrossSection: 1
   absorptionCrossSection: flat
   fissionCrossSection: flat
   scatteringCrossSection: flat
   absorptionCrossSectionRatio: 1
   fissionCrossSectionRatio: 0.1
   scatteringCrossSectionRatio: 1
"""


def brick(name: str, upto: float) -> str:
    return f"""
Geometry:
   material: {name}
   shape: brick
   xMax: {upto:g}
   xMin: 0
   yMax: 100
   yMin: 0
   zMax: 100
   zMin: 0
"""


def simulation(parts: str) -> str:
    """Steps of a box of 100, of which each rank has a slice."""
    return f"""
Simulation:
   dt: 1e-08
   fMax: 0.1
   boundaryCondition: reflect
   loadBalance: 0
   cycleTimers: 0
   debugThreads: 0
   lx: 100
   ly: 100
   lz: 100
   nParticles: 100000
   batchSize: 0
   nBatches: 10
   nSteps: 40
   nx: 8
   ny: 8
   nz: 8
   seed: 1029384756
   xDom: 0
   yDom: 0
   zDom: 0
   eMax: 20
   eMin: 1e-09
   nGroups: 230
   lowWeightCutoff: 0.001
{parts}{CROSS_SECTIONS}"""


UNBALANCED = simulation(brick("empty", 100) + brick("full", 35) + material("empty", 1e9) + material("full", 1e10))

APPLICATION = Application(
    name="quicksilver",
    source="https://github.com/LLNL/Quicksilver",
    commit="eb68bb8d6fc53de1f65011d4e79ff2ed0dd60f3b",
    folder="src",
    build="make CXX={cxx} CXXFLAGS='-std=c++11 -O2 -fopenmp' CPPFLAGS='-DHAVE_MPI -DHAVE_OPENMP -fopenmp' "
          "LDFLAGS=-fopenmp",
    program="qs",
    # Even a box of one material is not balanced: of 2 ranks, one has three times the kernel time of the other.
    inputs=(Input("unbalanced", "-i {file} -X 100 -Y 100 -Z 100 -I {ranks} -J 1 -K 1", balanced=False,
                  text=UNBALANCED),
            Input("wide unbalanced", "-i {file} -X 100 -Y 100 -Z 100 -I {ranks} -J 1 -K 1 -n 400000", balanced=False,
                  text=UNBALANCED, layouts=WIDE, cores=16)),
    timer=r"(?m)^main +\d+ +[\d.eE+-]+ +[\d.eE+-]+ +([\d.eE+-]+)",
    second=1e6,
    # The last cycle's tallies: integers.
    result=r"(?m)^ +39 +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)",
)
