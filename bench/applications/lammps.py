# SPDX-License-Identifier: BSD-3-Clause
"""LAMMPS: molecular dynamics of a Lennard-Jones liquid; C++. The program of Debian's package, as it is: built for Open
MPI, and its force fields without OpenMP, so no rank can use a further core."""

from application import Application, Input

LIQUID = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 16 0 16 0 16
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 50
run 600
"""

APPLICATION = Application(
    name="lammps",
    package="lammps",
    program="lmp",
    inputs=(Input("balanced", "-in {file} -log none", balanced=True, text=LIQUID, layouts=((2, 1), (4, 1))),),
    timer=r"(?m)^Loop time of ([\d.]+)",
    # Step, temperature, energies and pressure.
    result=r"(?m)^ +(\d+) +(-?[\d.]+) +(-?[\d.]+) +(-?[\d.]+) +(-?[\d.]+) +(-?[\d.]+) *$",
    flavours=("openmpi",),
    compilers=("gcc",),
)
