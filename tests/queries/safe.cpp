// SPDX-License-Identifier: BSD-3-Clause
// As safe.c, with what C++ adds: exceptions and their landing pads, objects, templates, lambdas.
#include <omp.h>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

struct Lock {
  explicit Lock(int& holders) : holders_(holders) { ++holders_; }
  ~Lock() { --holders_; }
  int& holders_;
};
double value(double x) {
  if (x < 0) throw std::domain_error("negative");
  return std::sqrt(x);
}
template <typename Function>
void for_each(long n, const Function& function) {
#pragma omp parallel for
  for (long i = 0; i < n; ++i) function(i);
}

extern "C" {
void safe_vector(std::vector<double>& a) {
#pragma omp parallel for
  for (std::size_t i = 0; i < a.size(); ++i) a[i] *= 2;
}
void safe_iterators(std::vector<double>& a) {
#pragma omp parallel for
  for (auto p = a.begin(); p < a.end(); ++p) *p *= 2;
}
void safe_destructor(double* a, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    int holders = 0;
    Lock lock(holders);
    a[i] = value(a[i]);
  }
}
void safe_catch(double* a, int n, int* failures) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    try {
      a[i] = value(a[i]);
    } catch (const std::exception&) {
#pragma omp atomic
      ++*failures;
    }
  }
}
void safe_objects(int n, std::vector<std::vector<double>>& rows) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    std::vector<double> copy(rows[i]);
    for (double& x : copy) x *= 2;
    rows[i].swap(copy);
  }
}
void safe_lambda(double* a, long n) {
  for_each(n, [a](long i) { a[i] = std::sin(a[i]); });
}
double safe_sum_of_objects(const std::vector<std::unique_ptr<double>>& a) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (std::size_t i = 0; i < a.size(); ++i) sum += *a[i];
  return sum;
}
void safe_switch_that_throws(double* a, const unsigned char* kinds, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    try {
      switch (kinds[i]) {
        case 1: a[i] = value(a[i]); break;
        case 2: a[i] = std::sin(a[i]); break;
        case 3: a[i] = value(a[i]) + 1; break;
        case 4: throw std::runtime_error("4");
        case 5: a[i] = std::cos(a[i]); break;
        case 6: a[i] += 1; break;
      }
    } catch (const std::exception&) {
      a[i] = 0;
    }
  }
}
}
int main() {}
