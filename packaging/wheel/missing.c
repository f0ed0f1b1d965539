// SPDX-License-Identifier: BSD-3-Clause
// Functions that the wheel's binaries define themselves, so that they need neither udev nor plugins of hwloc nor a
// glibc newer than 2.34. They are hidden: no other library of the process sees them.
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#define HIDDEN __attribute__((visibility("hidden")))

// hwloc asks udev for vendors of disks, only if a caller asks for I/O devices. Without a handle it does not ask.
HIDDEN void* udev_new(void) { return NULL; }
HIDDEN void* udev_unref(void* udev) {
  (void)udev;
  return NULL;
}
HIDDEN void* udev_device_new_from_subsystem_sysname(void* udev, const char* subsystem, const char* name) {
  (void)udev, (void)subsystem, (void)name;
  return NULL;
}
HIDDEN void* udev_device_unref(void* device) {
  (void)device;
  return NULL;
}
HIDDEN const char* udev_device_get_property_value(void* device, const char* key) {
  (void)device, (void)key;
  return NULL;
}

// Instead of dlopen() in hwloc: plugins of the system belong to another version of hwloc.
HIDDEN void* steelyard_no_plugin(const char* file, int mode) {
  (void)file, (void)mode;
  return NULL;
}

// Variables of glibc, as hwloc's archive reaches them: cmake/Wheel.cmake.
HIDDEN FILE *steelyard_stdout, *steelyard_stderr;
HIDDEN char* steelyard_program_name;
__attribute__((constructor)) static void set_variables(void) {
  steelyard_stdout = stdout;
  steelyard_stderr = stderr;
  steelyard_program_name = program_invocation_name;
}

// In glibc since 2.35 with this version. Arguments are relative errors near 1: no intermediate overflow.
HIDDEN double hypot(double x, double y) { return sqrt(x * x + y * y); }

// In glibc since 2.36; std::random_device calls it.
HIDDEN uint32_t arc4random(void) {
  uint32_t number;
  if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) abort();
  return number;
}
