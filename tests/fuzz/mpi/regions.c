/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP between the calls: each iteration must be run once. */
#include <omp.h>
#include <stdlib.h>

#include "player.h"

static void work(unsigned spins) {
  for (volatile unsigned i = 0; i < spins; ++i) {
  }
}

void play_region(scene_t* scene) {
  const int count = (int)roll(&scene->dice, 300), chunk = 1 + (int)roll(&scene->dice, 8);
  const unsigned kind = roll(&scene->dice, 6), heavy = roll(&scene->dice, 4);
  dice_t own = dice_of(scene, scene->slot->rank);
  const unsigned spins = chance(&own, 30) ? 20 + roll(&own, 400) : roll(&own, 50);
  unsigned char* runs = calloc((size_t)count + 1, 1);
  long sum = 0, wanted = 0;
  doing(scene->player, scene->operation, "parallel region");
  switch (kind) {
    case 0:
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
      for (int i = 0; i < count; ++i) {
        work(i % 4 == (int)heavy ? spins * 4 : spins);
        ++runs[i];
        sum += i;
      }
      break;
    case 1:
#pragma omp parallel for schedule(static, chunk) reduction(+ : sum)
      for (int i = 0; i < count; ++i) {
        work(spins);
        ++runs[i];
        sum += i;
      }
      break;
    case 2:
#pragma omp parallel for schedule(guided) reduction(+ : sum)
      for (int i = 0; i < count; ++i) {
        work(spins);
        ++runs[i];
        sum += i;
      }
      break;
    case 3:
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp for schedule(dynamic, chunk) nowait
      for (int i = 0; i < count; ++i) {
        work(spins);
        ++runs[i];
        sum += i;
      }
#pragma omp for schedule(static)
      for (int i = 0; i < count; ++i) work(spins / 4);
    } break;
    case 4:
#pragma omp parallel for reduction(+ : sum)
      for (int i = 0; i < count; ++i) {
        work(spins);
        ++runs[i];
        sum += i;
      }
      break;
    default:
#pragma omp parallel
#pragma omp single
      for (int i = 0; i < count; ++i) {
#pragma omp task firstprivate(i) shared(runs, sum)
        {
          ++runs[i];
#pragma omp atomic
          sum += i;
        }
      }
  }
  for (int i = 0; i < count; ++i) {
    expect(scene, runs[i] == 1, "iteration of a region, times run", i, runs[i]);
    wanted += i;
  }
  expect(scene, sum == wanted, "sum of a region", sum, wanted);
  free(runs);
}
