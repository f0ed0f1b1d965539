# SPDX-License-Identifier: BSD-3-Clause
"""SNAP: discrete ordinates transport, sweeps in a pipeline of ranks; Fortran. It asks for its threads by number, so
their count is its own."""

from application import Application, Input

SWEEPS = """! Input from namelist
&invar
  npey={ranks}
  npez=1
  ichunk=4
  nthreads={threads}
  nnested=1
  ndimen=3
  nx=24
  lx=2.4
  ny=24
  ly=2.4
  nz=24
  lz=2.4
  nmom=2
  nang=24
  ng=8
  epsi=1.0E-4
  iitm=5
  oitm=30
  timedep=0
  tf=1.0
  nsteps=1
  mat_opt=1
  src_opt=1
  scatp=0
  it_det=0
  fluxp=0
  fixup=1
  soloutp=1
  kplane=0
  popout=0
  swp_typ=0
  angcpy=1
  multiswp=1
/
"""

APPLICATION = Application(
    name="snap",
    source="https://github.com/lanl/SNAP",
    commit="e7ab43dfb0c16419d9a42d756141d5957ac526fc",
    folder="src",
    build="make FORTRAN={fc}",
    program="gsnap",
    inputs=(Input("balanced", "{file} output", balanced=True, text=SWEEPS),),
    timer=r"(?m)^    Solve +([\d.E+-]+)",
    # What each outer iteration changes, and the flux: the first column of its tables.
    result=r"(?m)^ +\d+ +(?:Dfmxo= *)?(\d\.\d{4}E[+-]\d\d)",
    output="output",
    compilers=("gcc",),
)
