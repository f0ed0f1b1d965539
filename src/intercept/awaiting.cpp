// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/awaiting.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/loaded_library.h"
#include "base/log.h"
#include "base/options.h"
#include "intercept/gomp.h"

namespace steelyard::intercept {
namespace {

int g_notices = -1;      // socket of the process that `steelyard run` became: a datagram says that MPI was initialised
bool g_mpi_was = false;  // in this process
bool g_said = false;     // that nothing is balanced
pid_t g_program = 0;     // this process, if it is an MPI program that `steelyard run` became

/// True in the process that `steelyard run` became, whichever program runs there by now.
bool is_first_process() { return base::options().awaits_mpi && getpid() == base::options().process; }

/// Address of the socket. It is abstract, so that the kernel removes it with the process.
sockaddr_un address(socklen_t& size) {
  sockaddr_un result{};
  result.sun_family = AF_UNIX;
  const auto name = fmt::format("steelyard-mpi-{}", base::options().process);
  std::memcpy(result.sun_path + 1, name.data(), name.size());
  size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return result;
}

void listen_for_notices() {
  // Encoding: above the descriptors that scripts use by number, and below the usual limit of 1,024.
  constexpr int kAbove = 900;
  const int made = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return;
  g_notices = fcntl(made, F_DUPFD_CLOEXEC, kAbove);
  close(made);
  socklen_t size = 0;
  const sockaddr_un here = address(size);
  if (g_notices < 0 || bind(g_notices, reinterpret_cast<const sockaddr*>(&here), size) == 0) return;
  close(g_notices);
  g_notices = -1;
}

void give_notice() {
  if (is_first_process()) return;
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return;
  socklen_t size = 0;
  const sockaddr_un there = address(size);
  (void)sendto(descriptor, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&there), size);
  close(descriptor);
}

bool mpi_was() {
  char byte = 0;
  return g_mpi_was || g_notices < 0 || recv(g_notices, &byte, 1, MSG_DONTWAIT) >= 0;
}

/// At the end of the process that `steelyard run` became.
void tell_of_no_mpi() {
  if (!is_first_process() || !base::options().speaks || g_said || mpi_was()) return;
  g_said = true;
  const auto words = base::options().command_line();
  const auto shown = fmt::format("{}", fmt::join(words, " "));
  if (base::find_in_libraries("PMPI_Init", reinterpret_cast<const void*>(&tell_of_no_mpi)) != nullptr) {
    base::say(fmt::format(
        "`{}` loaded an MPI library, but did not initialise it through Steelyard: nothing was balanced; of programs "
        "that look up MPI functions by dlsym(), only Julia is supported, with the MPI that --mpi or the launcher names",
        shown));
  } else {
    base::say(fmt::format("`{}` initialised no MPI: nothing was balanced", shown));
  }
}

std::string own_preload() { return std::string(base::value_of(base::environment(), "LD_PRELOAD")); }

/// LD_PRELOAD in the environment that execve() gets. Linux takes nullptr for an empty one.
std::string preload_in(char* const variables[]) {
  constexpr std::string_view kName = "LD_PRELOAD";
  for (; variables != nullptr && *variables != nullptr; ++variables) {
    const std::string_view variable = *variables;
    if (variable.starts_with(kName) && variable.substr(kName.size()).starts_with('='))
      return std::string(variable.substr(kName.size() + 1));
  }
  return {};
}

bool is_executable_file(const std::string& path) {
  struct stat file = {};
  return stat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode) && access(path.c_str(), X_OK) == 0;
}

/// How exec finds a program whose name has no slash.
enum class Lookup { working_directory, path };

/// False if exec fails, as it does for most directories of PATH that a shell tries.
bool is_found(const std::string& program, Lookup lookup) {
  if (lookup == Lookup::working_directory || program.find('/') != std::string::npos) return is_executable_file(program);
  std::string_view path = base::value_of(base::environment(), "PATH");
  while (true) {
    const std::string_view directory = path.substr(0, path.find(':'));
    if (is_executable_file(fmt::format("{}/{}", directory.empty() ? "." : directory, program))) return true;
    if (directory.size() == path.size()) return false;
    path.remove_prefix(directory.size() + 1);
  }
}

/// True between the start of the program and MPI_Init, in that process and in no forked child.
bool is_before_mpi_init() { return g_program == getpid() && !g_mpi_was && dlsym(RTLD_DEFAULT, "PMPI_Init") != nullptr; }

/// If the process that `steelyard run` became executes `program` without this library in LD_PRELOAD, nothing else would
/// say so: the next program of this process does not load it. In a forked child, it does nothing.
/// @param preload returns LD_PRELOAD in the environment that exec gets
template <class Preload>
void tell_of_dropped_preload(const char* program, Lookup lookup, const Preload& preload) {
  const bool before_init = is_before_mpi_init();
  if (!(is_first_process() || before_init) || !base::options().speaks || program == nullptr) return;
  const std::string value = preload();
  if (value.find("libsteelyard-") != std::string::npos || g_said || g_mpi_was || !is_found(program, lookup)) return;
  if (!before_init && mpi_was()) return;
  g_said = true;
  if (before_init) {
    const auto words = base::options().command_line();
    base::say(fmt::format(
        "{0} executes {1} before MPI_Init, and {1} starts without Steelyard's library: nothing is balanced; to keep "
        "the library: `steelyard run env {0}`",
        words.empty() ? "the program" : words.front(), program));
    return;
  }
  base::say(fmt::format(
      "{} starts without Steelyard's library: LD_PRELOAD, which `steelyard run` sets, is '{}' by now; nothing is "
      "balanced; set LD_PRELOAD before `steelyard run`, or add to it: LD_PRELOAD=\"x.so:$LD_PRELOAD\"",
      program, value));
}

using Execve = int(const char*, char* const[], char* const[]);
using Exec = int(const char*, char* const[]);

/// The definition behind this library's: of libc, or of another tool that is preloaded.
template <class Function>
Function* next_definition(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// Found at start, because a forked child should not call dlsym().
Execve* const g_execve = next_definition<Execve>("execve");
Exec* const g_execv = next_definition<Exec>("execv");
Exec* const g_execvp = next_definition<Exec>("execvp");

/// The program's own children are to start as if Steelyard were not there.
void restore_environment_of_children() {
  const base::Options& options = base::options();
  for (const base::Option& option : base::option_table()) {
    if (option.internal) unsetenv(option.variable().c_str());
  }
  if (options.preload.empty()) {
    unsetenv("LD_PRELOAD");
  } else {
    setenv("LD_PRELOAD", options.preload.c_str(), 1);
  }
}

__attribute__((destructor)) void at_exit() { tell_of_no_mpi(); }

}  // namespace

void program_begins() {
  g_program = getpid();
  restore_environment_of_children();
}

void await_mpi() {
  base::Options& mine = base::options_of_this_process();
  const base::Environment environment = base::environment();
  mine.counts_set = !base::value_of(environment, "OMP_NUM_THREADS").empty();
  const std::string threads(base::value_of(environment, "OMP_NUM_THREADS"));
  mine.expected_threads = std::max(0L, std::strtol(threads.c_str(), nullptr, 10));
  mine.schedule_set = !base::value_of(environment, "OMP_SCHEDULE").empty();
  if (is_first_process()) listen_for_notices();
}

void mpi_begins() {
  g_mpi_was = true;
  if (!base::options().awaits_mpi) return;
  give_notice();
  restore_environment_of_children();
  gomp::attach();
}

void other_mpi_begins() {
  g_mpi_was = true;
  const base::Options& options = base::options();
  give_notice();
  if (options.awaits_mpi) restore_environment_of_children();
  if (!options.speaks) return;
  base::say(
      "the MPI library of the program is not of the family that was expected: nothing is balanced; use --mpi=openmpi, "
      "mpich or abi");
}

}  // namespace steelyard::intercept

// Shells such as dash end by _exit(), which runs no destructor.
extern "C" __attribute__((visibility("default"))) void _exit(int status) {
  steelyard::intercept::tell_of_no_mpi();
  for (;;) syscall(SYS_exit_group, status);
}

// env and nice call execvp(), shells call execve(). libc's own calls of execve() do not come here.
extern "C" __attribute__((visibility("default"))) int execve(const char* path, char* const arguments[],
                                                             char* const variables[]) {
  using namespace steelyard::intercept;
  tell_of_dropped_preload(path, Lookup::working_directory, [&] { return preload_in(variables); });
  return (g_execve != nullptr ? g_execve : next_definition<Execve>("execve"))(path, arguments, variables);
}

extern "C" __attribute__((visibility("default"))) int execv(const char* path, char* const arguments[]) {
  using namespace steelyard::intercept;
  tell_of_dropped_preload(path, Lookup::working_directory, own_preload);
  return (g_execv != nullptr ? g_execv : next_definition<Exec>("execv"))(path, arguments);
}

extern "C" __attribute__((visibility("default"))) int execvp(const char* file, char* const arguments[]) {
  using namespace steelyard::intercept;
  tell_of_dropped_preload(file, Lookup::path, own_preload);
  return (g_execvp != nullptr ? g_execvp : next_definition<Exec>("execvp"))(file, arguments);
}
