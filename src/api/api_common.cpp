#include <algorithm>
#include <cstring>

#include "api/message.h"
#include "steelyard/steelyard.h"

// The part of the API that is the same in libsteelyard and in the preload library. The preload library defines every
// public symbol again, so that all of a program's calls go to one of the two, never to a mixture.
namespace {

// No allocation, and no C++ runtime that a C program would have to load.
thread_local char message[512] = "";

void copy_padded(const char* from, char* to, int length) {
  if (length <= 0) return;
  const auto room = static_cast<std::size_t>(length);
  const std::size_t used = std::min(room, std::strlen(from));
  std::memcpy(to, from, used);
  std::memset(to + used, ' ', room - used);
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
void omp_balanced(void) { steelyard_step(); }

// SABO's name as Fortran compilers write it, and what fortran/steelyard.f90 binds to.
STEELYARD_API void omp_balanced_(void) { steelyard_step(); }
STEELYARD_API void steelyard_step_f(int* status) {
  const int result = steelyard_step();
  if (status != nullptr) *status = result;
}
STEELYARD_API bool steelyard_active_f(void) { return steelyard_active() != 0; }
STEELYARD_API void steelyard_message_f(char* text, int length) { copy_padded(steelyard_message(), text, length); }
STEELYARD_API void steelyard_version_f(char* text, int length) { copy_padded(steelyard_version(), text, length); }
}

void steelyard::api::set_message(std::string_view sentence) noexcept {
  steelyard_internal_set_message(sentence.data(), sentence.size());
}
