# SPDX-License-Identifier: BSD-3-Clause
"""REBOUND: an N-body code; C, guided loops. Its examples with MPI run for ever, so the problem is one of ours."""

from application import WIDE, Application, Input

PROBLEM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include "rebound.h"

// Clouds in a row of boxes, one a process. `share` of the particles are in the first of them.
int main(int argc, char* argv[]) {
  const int particles = atoi(argv[1]);
  const double share = atof(argv[2]), end = atof(argv[3]);
  struct reb_simulation* const r = reb_simulation_create();
  int processes;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  reb_simulation_set_integrator(r, "leapfrog");
  r->rand_seed = 1;
  r->gravity = REB_GRAVITY_TREE;
  r->boundary = REB_BOUNDARY_OPEN;
  r->opening_angle2 = 1.5;
  r->softening = 0.02;
  r->dt = 1e-2;
  r->root_size = 10;
  r->N_root_x = processes;
  reb_mpi_init(r);
  for (int i = 0; i < particles && r->mpi_id == 0; ++i) {
    const int rest = processes - 1;
    const int box = i < share * particles || rest == 0 ? 0 : 1 + i % rest;
    struct reb_particle particle = {.m = 0.2 / particles};
    particle.x = r->root_size * (box + 0.5 - 0.5 * processes) + reb_random_uniform(r, -3, 3);
    particle.y = reb_random_uniform(r, -3, 3);
    particle.z = reb_random_uniform(r, -3, 3);
    reb_simulation_add(r, particle);
  }
  const double begin = MPI_Wtime();
  reb_simulation_integrate(r, end);
  double sum[4] = {r->N, 0, 0, 0}, total[4];
  for (size_t i = 0; i < r->N; ++i) {
    sum[1] += r->particles[i].x * r->particles[i].x;
    sum[2] += r->particles[i].y * r->particles[i].y;
    sum[3] += r->particles[i].z * r->particles[i].z;
  }
  MPI_Reduce(sum, total, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (r->mpi_id == 0) {
    printf("particles %.0f second moments %.10e %.10e %.10e\\n", total[0], total[1], total[2], total[3]);
    printf("integration %.6f s\\n", MPI_Wtime() - begin);
  }
  reb_mpi_finalize(r);
  reb_simulation_free(r);
}
"""

APPLICATION = Application(
    name="rebound",
    source="https://github.com/hannorein/rebound",
    commit="6c44115fd80404ff6e89df0eb8511b12d3ffa931",
    build="make -C src MPI=1 OPENMP=1 OPENGL=0 SERVER=0 GITHASH=none CC={cc} && "
          "{cc} -O3 -fopenmp -DMPI -DOPENMP -Isrc problem.c -Lsrc -lrebound -lm -Wl,-rpath,$PWD/src -o problem",
    files={"problem.c": PROBLEM},
    program="problem",
    inputs=(Input("unbalanced", "20000 0.75 4", balanced=False),
            Input("balanced", "20000 0.5 4", balanced=True, layouts=((2, 1), (2, 2))),
            Input("wide unbalanced", "25000 0.75 4", balanced=False, layouts=WIDE, cores=16)),
    timer=r"integration ([\d.eE+-]+) s",
    result=r"particles (\d+) second moments ([\d.eE+-]+) ([\d.eE+-]+) ([\d.eE+-]+)",
)
