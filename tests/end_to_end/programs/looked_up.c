// SPDX-License-Identifier: BSD-3-Clause
// Opens the MPI library in its first argument and looks up its functions: through the library's handle, as Julia's
// MPI.jl does, or, with "global" as second argument, in the global scope.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char** words) {
  void* const library = count > 1 ? dlopen(words[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
  void* const scope = count > 2 && strcmp(words[2], "global") == 0 ? RTLD_DEFAULT : library;
  int (*init)(int*, char***) = NULL;
  int (*finalize)(void) = NULL;
  if (library != NULL) {
    *(void**)&init = dlsym(scope, "MPI_Init");
    *(void**)&finalize = dlsym(scope, "MPI_Finalize");
  }
  if (init == NULL || finalize == NULL) {
    fprintf(stderr, "looked_up: %s\n", dlerror());
    return 1;
  }
  return init(NULL, NULL) != 0 || finalize() != 0;
}
