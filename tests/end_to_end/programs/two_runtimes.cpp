// Prints "all once" where each iteration of both sides' loops ran exactly once, wherever they were called from.
#include <dlfcn.h>
#include <omp.h>

#include <cstdio>

#include "two_runtimes.h"

namespace {
int wrong = 0;

void check(const char* what, int count) {
  if (count == 0) return;
  std::printf("%s: %d wrong\n", what, count);
  ++wrong;
}
}  // namespace

int main() {
  omp_set_num_threads(2);
  check("calls of the program, before the library has begun a region", wrong_by_calls());
  check("threads of the library", library_threads() - 3);
  check("calls of the library", library_calls());
  check("for_each of the library", library_for_each());
  check("calls of the program", wrong_by_calls());
  check("for_each of the program", wrong_by_for_each());
  int inside = 0;
#pragma omp parallel reduction(+ : inside)
  {
#pragma omp single
    inside += library_calls();
    inside += library_for_each();
  }
  check("the library, in a region of the program", inside);
  const bool two = dlopen("libgomp.so.1", RTLD_NOLOAD | RTLD_LAZY) != nullptr &&
                   (dlopen("libomp.so.5", RTLD_NOLOAD | RTLD_LAZY) != nullptr ||
                    dlopen("libomp.so", RTLD_NOLOAD | RTLD_LAZY) != nullptr);
  std::printf("%s with %s\n", wrong == 0 ? "all once" : "WRONG", two ? "two runtimes" : "one runtime");
  return wrong;
}
