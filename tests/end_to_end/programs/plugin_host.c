// SPDX-License-Identifier: BSD-3-Clause
// Knows nothing of MPI: opens the library in its first argument for itself alone, and calls run() in it.
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** words) {
  void* const library = count > 1 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  int (*run)(int, char**) = NULL;
  if (library != NULL) *(void**)&run = dlsym(library, "run");
  if (run == NULL) {
    fprintf(stderr, "plugin_host: %s\n", dlerror());
    return 1;
  }
  return run(count - 1, words + 1);
}
