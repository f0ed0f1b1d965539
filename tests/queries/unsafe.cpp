// SPDX-License-Identifier: BSD-3-Clause
// As unsafe.c, by ways that C++ adds.
#include <omp.h>

#include <stdexcept>
#include <string>
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
__attribute__((noipa)) std::string text_of(int length);
std::string text_of(int length) { return std::string(static_cast<std::size_t>(length), 'a'); }
long letters;
void unsafe_text(int length) {
#pragma omp parallel
  {
    std::string text = text_of(length);
    if (omp_get_thread_num() == 0) text[0] = 'x';
#pragma omp atomic
    letters += text[0];
  }
}
__attribute__((noipa)) static void unsafe_throw_of_thread_0() {
  letters = 1;
  if (omp_get_thread_num() == 0) throw 1;
  letters = 2;
}
void catches() {
#pragma omp parallel
  {
    long x = 5;
    try {
      unsafe_throw_of_thread_0();
    } catch (int) {
      x = 7;
    }
#pragma omp atomic
    letters += x;
  }
}
}
int main() {}
