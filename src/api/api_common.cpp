// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "api/outcome.h"
#include "steelyard/regions.h"
#include "steelyard/steelyard.h"

// The part of the API that is the same in libsteelyard and in the preload library. The preload library defines every
// public symbol again, so that all of a program's calls go to one of the two, never to a mixture.
namespace {

#define STEELYARD_TEXT(number) #number
#define STEELYARD_DOTTED(major, minor, patch) STEELYARD_TEXT(major) "." STEELYARD_TEXT(minor) "." STEELYARD_TEXT(patch)
static_assert(std::string_view(STEELYARD_VERSION) ==
                  STEELYARD_DOTTED(STEELYARD_VERSION_MAJOR, STEELYARD_VERSION_MINOR, STEELYARD_VERSION_PATCH),
              "the version in CMakeLists.txt and the one in steelyard.h differ: change both");

// No allocation, and no C++ runtime that a C program would have to load.
thread_local char message[512] = "";

// Fortran compilers pass the length of a character argument behind the others, some as 32 and some as 64 bits.
void copy_padded(const char* from, char* to, std::uint32_t length) {
  const std::size_t room = length;
  const std::size_t used = std::min(room, std::strlen(from));
  std::memcpy(to, from, used);
  std::memset(to + used, ' ', room - used);
}

// A name of Fortran, without trailing blanks, for a call of C. A name that is too long stays too long.
steelyard_status_t with_name(const char* name, int length, steelyard_status_t (*call)(const char*)) {
  char copy[512];
  const std::size_t used = std::min(static_cast<std::size_t>(std::max(length, 0)), sizeof(copy) - 1);
  std::memcpy(copy, name, used);
  copy[used] = '\0';
  return call(copy);
}

}  // namespace

extern "C" {

// By its exported name: what libsteelyard says of phases, loops and tasks must be what the preload library's
// steelyard_message() reads, which wins.
STEELYARD_API void steelyard_internal_set_message(const char* sentence, std::size_t length) {
  const std::size_t used = std::min(length, sizeof(message) - 1);
  std::memcpy(message, sentence, used);
  message[used] = '\0';
}

const char* steelyard_message(void) { return message; }
const char* steelyard_version(void) { return STEELYARD_VERSION; }
int steelyard_version_number(void) { return STEELYARD_VERSION_NUMBER; }

const char* steelyard_status_name(steelyard_status_t status) {
  switch (status) {
    case STEELYARD_SUCCESS: return "STEELYARD_SUCCESS";
    case STEELYARD_INACTIVE: return "STEELYARD_INACTIVE";
    case STEELYARD_ERROR_INVALID_ARGUMENT: return "STEELYARD_ERROR_INVALID_ARGUMENT";
    case STEELYARD_ERROR_INVALID_STATE: return "STEELYARD_ERROR_INVALID_STATE";
    case STEELYARD_ERROR_MISMATCH: return "STEELYARD_ERROR_MISMATCH";
    case STEELYARD_ERROR_PEER: return "STEELYARD_ERROR_PEER";
    case STEELYARD_ERROR_UNSUPPORTED: return "STEELYARD_ERROR_UNSUPPORTED";
    case STEELYARD_ERROR_OUT_OF_MEMORY: return "STEELYARD_ERROR_OUT_OF_MEMORY";
    case STEELYARD_ERROR_SYSTEM: return "STEELYARD_ERROR_SYSTEM";
    case STEELYARD_ERROR_MPI: return "STEELYARD_ERROR_MPI";
    case STEELYARD_ERROR_TASK_FAILED: return "STEELYARD_ERROR_TASK_FAILED";
    case STEELYARD_ERROR_INTERNAL: return "STEELYARD_ERROR_INTERNAL";
  }
  return "unknown status";
}

void omp_balanced(void) { steelyard_step(); }

// SABO's name as Fortran compilers write it, and what fortran/steelyard.f90 binds to.
STEELYARD_API void omp_balanced_(void) { steelyard_step(); }
STEELYARD_API void steelyard_step_f(int* status) { steelyard::api::give(status, steelyard_step()); }
STEELYARD_API bool steelyard_active_f(void) { return steelyard_active() != 0; }
STEELYARD_API void steelyard_pause_f(int* status) { steelyard::api::give(status, steelyard_pause()); }
STEELYARD_API void steelyard_resume_f(int* status) { steelyard::api::give(status, steelyard_resume()); }
STEELYARD_API int steelyard_region_begin_f(const char* name, int length) {
  return with_name(name, length, steelyard_region_begin);
}
STEELYARD_API int steelyard_region_end_f(const char* name, int length) {
  return with_name(name, length, steelyard_region_end);
}
// Named as Fortran compilers name external procedures: a text of assumed length has no portable bind(c) interface.
STEELYARD_API void steelyard_message_(char* text, std::uint32_t length) {
  copy_padded(steelyard_message(), text, length);
}
STEELYARD_API void steelyard_version_(char* text, std::uint32_t length) {
  copy_padded(steelyard_version(), text, length);
}
STEELYARD_API void steelyard_status_name_(const int* status, char* text, std::uint32_t length) {
  copy_padded(steelyard_status_name(static_cast<steelyard_status_t>(*status)), text, length);
}
}

void steelyard::api::set_message(std::string_view sentence) noexcept {
  steelyard_internal_set_message(sentence.data(), sentence.size());
}
