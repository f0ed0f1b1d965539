// SPDX-License-Identifier: BSD-3-Clause
// A preloaded tool that wraps single functions of the exec family.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

typedef int exec_function(const char*, char* const[]);

static int say_and_execute(const char* name, const char* program, char* const arguments[]) {
  fprintf(stderr, "the tool sees %s by %s\n", name, program_invocation_short_name);
  return ((exec_function*)dlsym(RTLD_NEXT, name))(program, arguments);
}

int execv(const char* program, char* const arguments[]) { return say_and_execute("execv", program, arguments); }
int execvp(const char* program, char* const arguments[]) { return say_and_execute("execvp", program, arguments); }
