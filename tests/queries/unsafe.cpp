// As unsafe.c, by ways that C++ adds.
#include <omp.h>

#include <stdexcept>
#include <vector>

void may_throw(double);
__attribute__((noinline)) void may_throw(double x) {
  if (x < 0) throw std::domain_error("negative");
}
struct Buffers {
  std::vector<std::vector<double>> of_thread;
  __attribute__((always_inline)) std::vector<double>& mine() { return of_thread[omp_get_thread_num()]; }
};

extern "C" {
void unsafe_buffers(Buffers& buffers, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) buffers.mine().push_back(i);
}
// The thread's number is used where an exception lands, and nowhere else.
void unsafe_landing(const double* a, int n, int* failed) {
#pragma omp parallel
  {
    const int id = omp_get_thread_num();
    for (int i = 0; i < n; ++i) {
      try {
        may_throw(a[i]);
      } catch (const std::exception&) {
        failed[id] = i;
      }
    }
  }
}
void unsafe_reference(double* a) {
#pragma omp parallel
  {
    const int id = omp_get_thread_num();
    const auto set = [&id](double* to) __attribute__((noinline)) { to[id] = 1; };
    set(a);
  }
}
}
int main() {}
