/* SPDX-License-Identifier: BSD-3-Clause */
// A target region that runs as a task of the host where there is no device. Exits with 1 unless the task has run.
int main(void) {
  int ran = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp target nowait map(tofrom : ran)
    ran = 1;
#pragma omp taskwait
  }
  return ran ? 0 : 1;
}
