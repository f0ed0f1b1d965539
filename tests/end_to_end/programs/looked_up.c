// SPDX-License-Identifier: BSD-3-Clause
// Opens the MPI library in its first argument and looks up its functions: through the library's handle, as Julia's
// MPI.jl does, or, with "global" as second argument, in the global scope.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// As Julia does: a function is found if dlerror() has no error to tell.
static void* function(void* scope, const char* name) {
  dlerror();
  void* const found = dlsym(scope, name);
  const char* const error = dlerror();
  if (error == NULL) return found;
  fprintf(stderr, "looked_up: %s\n", error);
  exit(1);
}

int main(int count, char** words) {
  void* const library = count > 1 ? dlopen(words[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
  void* const scope = count > 2 && strcmp(words[2], "global") == 0 ? RTLD_DEFAULT : library;
  if (library == NULL) {
    fprintf(stderr, "looked_up: %s\n", count > 1 ? dlerror() : "no library named");
    return 1;
  }
  int (*init)(int*, char***) = NULL;
  int (*finalize)(void) = NULL;
  *(void**)&init = function(scope, "MPI_Init");
  *(void**)&finalize = function(scope, "MPI_Finalize");
  return init(NULL, NULL) != 0 || finalize() != 0;
}
