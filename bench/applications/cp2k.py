# SPDX-License-Identifier: BSD-3-Clause
"""CP2K: electronic structure of eight water molecules; Fortran. The program of Debian's package, as it is: built for
Open MPI."""

from application import Application, Input

SPACING = 3.2  # between molecules, angstrom


def water() -> str:
    lines = []
    for place in ((x, y, z) for x in range(2) for y in range(2) for z in range(2)):
        x, y, z = (SPACING * n + 1 for n in place)
        turn = 1 if sum(place) % 2 else -1
        atoms = (("O", x, y), ("H", x + 0.76 * turn, y + 0.59), ("H", x - 0.76 * turn, y + 0.59))
        lines += [f"   {element} {x:.4f} {y:.4f} {z:.4f}" for element, x, y in atoms]
    return "\n".join(lines)


def kind(element: str, electrons: int) -> str:
    return f"  &KIND {element}\n   BASIS_SET DZVP-MOLOPT-SR-GTH\n   POTENTIAL GTH-PADE-q{electrons}\n  &END KIND"


ENERGY = f"""&GLOBAL
 PROJECT water
 RUN_TYPE ENERGY
 PRINT_LEVEL LOW
&END GLOBAL
&FORCE_EVAL
 METHOD QS
 &DFT
  BASIS_SET_FILE_NAME BASIS_MOLOPT
  POTENTIAL_FILE_NAME GTH_POTENTIALS
  &MGRID
   CUTOFF 280
  &END MGRID
  &SCF
   SCF_GUESS ATOMIC
   MAX_SCF 18
   EPS_SCF 1.0E-12
   &PRINT
    &RESTART OFF
    &END RESTART
   &END PRINT
  &END SCF
  &XC
   &XC_FUNCTIONAL PADE
   &END XC_FUNCTIONAL
  &END XC
 &END DFT
 &SUBSYS
  &CELL
   ABC {2 * SPACING} {2 * SPACING} {2 * SPACING}
  &END CELL
  &COORD
{water()}
  &END COORD
{kind("H", 1)}
{kind("O", 6)}
 &END SUBSYS
&END FORCE_EVAL
"""

APPLICATION = Application(
    name="cp2k",
    package="cp2k",
    program="cp2k.psmp",
    inputs=(Input("balanced", "-i {file}", balanced=True, text=ENERGY),),
    timer=r"(?m)^ CP2K +\d+ +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ +([\d.]+)$",
    result=r"Total energy: +(-?[\d.]+)",
    tolerance=1e-10,  # sums over threads
    flavours=("openmpi",),
    compilers=("gcc",),
)
