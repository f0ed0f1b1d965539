// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/awaiting.h"

#include <alloca.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/launcher_program.h"
#include "base/loaded_library.h"
#include "base/locate.h"
#include "base/log.h"
#include "base/mpi_library.h"
#include "base/options.h"
#include "intercept/clause.h"
#include "intercept/gomp.h"

namespace steelyard::intercept {
namespace {

// What the process that `steelyard run` became is told, by a datagram to a socket for each.
enum Notice : int { mpi_initialised, launcher_started };

int g_sockets[] = {-1, -1};
bool g_mpi_initialised = false;  // in this process
bool g_said = false;             // that nothing is balanced
pid_t g_program = 0;             // this process, if it is an MPI program that `steelyard run` became

/// True in the process that `steelyard run` became, whichever program runs there by now.
bool is_first_process() { return base::options().awaits_mpi && getpid() == base::options().process; }

/// Address of the notice's socket. It is abstract, so that the kernel removes it with the process.
sockaddr_un address(Notice notice, socklen_t& size) {
  sockaddr_un result{};
  result.sun_family = AF_UNIX;
  const auto name =
      fmt::format("steelyard-{}-{}", notice == mpi_initialised ? "mpi" : "launcher", base::options().process);
  std::memcpy(result.sun_path + 1, name.data(), name.size());
  size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return result;
}

// Encoding: descriptors of the sockets, above those that scripts use by number, and below the usual limit of 1,024.
constexpr int kFirstDescriptor = 900, kDescriptors = 100;

/// The socket of the program that executed this one; -1 if there is none.
int inherited_socket(const sockaddr_un& here, socklen_t size) {
  for (int i = kFirstDescriptor; i < kFirstDescriptor + kDescriptors; ++i) {
    sockaddr_un found{};
    socklen_t length = sizeof(found);
    if (getsockname(i, reinterpret_cast<sockaddr*>(&found), &length) == 0 && length == size &&
        std::memcmp(&found, &here, size) == 0)
      return i;
  }
  return -1;
}

void listen_for(Notice notice) {
  socklen_t size = 0;
  const sockaddr_un here = address(notice, size);
  int& to = g_sockets[notice];
  to = inherited_socket(here, size);
  if (to >= 0) {
    fcntl(to, F_SETFD, FD_CLOEXEC);
    return;
  }
  const int made = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return;
  to = fcntl(made, F_DUPFD_CLOEXEC, kFirstDescriptor);
  close(made);
  if (to < 0 || bind(to, reinterpret_cast<const sockaddr*>(&here), size) == 0) return;
  close(to);
  to = -1;
}

// Standard error as it was when the program started: coreutils, such as ls, close theirs before the process ends.
int g_errors = -1;
struct stat g_errors_file{};

/// False if the program has closed the descriptor, and perhaps opened another file by that number.
bool keeps_standard_error() {
  struct stat now{};
  return g_errors >= 0 && fstat(g_errors, &now) == 0 && now.st_dev == g_errors_file.st_dev &&
         now.st_ino == g_errors_file.st_ino;
}

void keep_standard_error() {
  if (fstat(STDERR_FILENO, &g_errors_file) != 0) return;
  g_errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, kFirstDescriptor);
  // The launcher waits until all processes have closed it, and a child may outlive this process.
  pthread_atfork(nullptr, nullptr, [] {
    if (keeps_standard_error()) close(g_errors);
    g_errors = -1;
  });
}

void reopen_standard_error() {
  if (fcntl(STDERR_FILENO, F_GETFD) < 0 && keeps_standard_error()) dup2(g_errors, STDERR_FILENO);
}

void send_notice(Notice notice) {
  if (base::options().process == 0 || is_first_process()) return;
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return;
  socklen_t size = 0;
  const sockaddr_un there = address(notice, size);
  (void)sendto(descriptor, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&there), size);
  close(descriptor);
}

/// The notice stays in the socket: the next program of this process finds it there.
bool has_come(Notice notice) {
  char byte = 0;
  return g_sockets[notice] >= 0 && recv(g_sockets[notice], &byte, 1, MSG_DONTWAIT | MSG_PEEK) >= 0;
}

bool any_mpi_initialised() { return g_mpi_initialised || g_sockets[mpi_initialised] < 0 || has_come(mpi_initialised); }

/// By their names: looking up a function would allocate memory.
bool has_mpi_library() {
  return dl_iterate_phdr([](dl_phdr_info* library, std::size_t,
                            void*) { return static_cast<int>(base::is_mpi_library(base::name_of(*library))); },
                         nullptr) != 0;
}

/// At the end of the process that `steelyard run` became. A signal handler may be the caller, by _exit(): it allocates
/// no memory.
void tell_of_no_mpi() {
  if (!is_first_process() || !base::options().speaks || g_said || any_mpi_initialised()) return;
  g_said = true;
  reopen_standard_error();
  char command[1024];  // Size: of the part that is shown
  const std::string_view shown(command, base::options().command.copy(command, sizeof(command)));
  std::replace(command, command + shown.size(), '\x1f', ' ');
  if (has_mpi_library()) {
    base::say_in_handler(
        {"`", shown,
         "` loaded an MPI library, but did not initialise it through Steelyard: nothing was balanced; of programs that "
         "look up MPI functions by dlsym(), only Julia is supported, with the MPI that --mpi or the launcher names"});
  } else if (has_come(launcher_started)) {
    base::say_in_handler({"`", shown,
                          "` itself starts ranks by mpirun or another launcher, and none initialised MPI with "
                          "Steelyard's library: nothing was balanced; start it without mpirun, and write `mpirun ... "
                          "steelyard run ./app` in it"});
  } else {
    base::say_in_handler({"`", shown, "` initialised no MPI: nothing was balanced"});
  }
}

/// True if a program with these variables loads this library.
bool has_this_library(char* const variables[]) {
  return base::value_of(variables, "LD_PRELOAD").find("libsteelyard-") != std::string_view::npos;
}

/// If the process that `steelyard run` became executes `program` without this library in LD_PRELOAD, nothing else would
/// say so: the next program of this process does not load it. In a child, it does nothing. A signal handler may be the
/// caller, and a child that shares the memory of its parent (vfork): it allocates no memory.
/// @param path where exec searches for `program`, unless that has a slash
/// @param shown what the line calls `program`
void tell_of_dropped_preload(const char* program, std::string_view path, char* const variables[],
                             std::string_view shown) {
  const base::Options& options = base::options();
  const bool before_init = g_program == getpid();
  if (!(is_first_process() || before_init) || !options.speaks || g_said || g_mpi_initialised) return;
  // exec fails for most directories of PATH that a shell tries.
  if (has_this_library(variables) || base::locate(program, path).error != 0) return;
  if (!before_init && any_mpi_initialised()) return;
  g_said = true;
  if (before_init) {
    const auto own = std::string_view(options.command).substr(0, options.command.find('\x1f'));
    constexpr std::string_view kAdvice =
        " starts without Steelyard's library: nothing is balanced; to keep the library: `steelyard run env ";
    base::say_in_handler({own, " executes ", shown, " before MPI_Init, and ", shown, kAdvice, own, "`"});
    return;
  }
  base::say_in_handler({shown, " starts without Steelyard's library: LD_PRELOAD, which `steelyard run` sets, is '",
                        base::value_of(variables, "LD_PRELOAD"),
                        "' by now; nothing is balanced; set LD_PRELOAD before `steelyard run`, or add to it: "
                        "LD_PRELOAD=\"x.so:$LD_PRELOAD\""});
}

/// What each function of the exec family does before it executes a program, and after it could not.
class Executing {
 public:
  /// As tell_of_dropped_preload().
  Executing(const char* program, std::string_view path, char* const variables[], std::string_view shown = {}) {
    if (program == nullptr) return;
    tell_of_dropped_preload(program, path, variables, shown.empty() ? program : shown);
    if (has_this_library(variables)) keep_sockets(0);
  }
  ~Executing() { keep_sockets(FD_CLOEXEC); }
  Executing(const Executing&) = delete;
  Executing& operator=(const Executing&) = delete;

 private:
  static void keep_sockets(int flag) {
    if (!is_first_process()) return;
    const int error = errno;  // of an exec that has failed
    for (const int descriptor : g_sockets) fcntl(descriptor, F_SETFD, flag);
    errno = error;
  }
};

using Exec = int(const char*, char* const[], char* const[]);
using ExecHere = int(const char*, char* const[]);
using ExecDescriptor = int(int, char* const[], char* const[]);
using ExecAt = int(int, const char*, char* const[], char* const[], int);

/// `found`, or else the next definition: another constructor may call exec before `found` is initialised.
template <class Function>
Function* next_definition(const char* name, Function* found = nullptr) {
  return found != nullptr ? found : base::next_definition<Function>(name);
}

// Found at start, because a forked child should not call dlsym().
Exec* const g_execve = next_definition<Exec>("execve");
Exec* const g_execvpe = next_definition<Exec>("execvpe");
ExecHere* const g_execv = next_definition<ExecHere>("execv");
ExecHere* const g_execvp = next_definition<ExecHere>("execvp");
ExecDescriptor* const g_fexecve = next_definition<ExecDescriptor>("fexecve");
ExecAt* const g_execveat = next_definition<ExecAt>("execveat");

int execute(const char* path, char* const arguments[], char* const variables[]) {
  const Executing executing(path, ".", variables);
  return next_definition("execve", g_execve)(path, arguments, variables);
}

int search_and_execute(const char* file, char* const arguments[], char* const variables[]) {
  const Executing executing(file, base::value_of(base::variables(), "PATH"), variables);
  return next_definition("execvpe", g_execvpe)(file, arguments, variables);
}

/// The path of an open file, and of `below` it if that is not empty.
class OpenFile {
 public:
  explicit OpenFile(int descriptor, std::string_view below = {}) {
    char* end = std::to_chars(path_ + std::strlen(path_), std::end(path_), descriptor).ptr;
    const ssize_t size = readlink(path_, target_, sizeof(target_));
    shown_ = below.empty() ? std::string_view(target_, static_cast<std::size_t>(std::max<ssize_t>(0, size))) : below;
    if (below.empty()) return;
    *end++ = '/';
    below.copy(end, static_cast<std::size_t>(std::end(path_) - 1 - end));
  }
  const char* path() const { return path_; }
  std::string_view shown() const { return shown_; }

 private:
  char path_[1024] = "/proc/self/fd/", target_[1024];  // Size: of the part that is shown
  std::string_view shown_;
};

int execute_open_file(int descriptor, char* const arguments[], char* const variables[]) {
  const OpenFile file(descriptor);
  const Executing executing(file.path(), ".", variables, file.shown());
  return next_definition("fexecve", g_fexecve)(descriptor, arguments, variables);
}

/// `path` is relative to the directory that `descriptor` is; empty with AT_EMPTY_PATH: that file itself.
int execute_at(int descriptor, const char* path, char* const arguments[], char* const variables[], int flags) {
  const bool absolute = path == nullptr || *path == '/' || descriptor == AT_FDCWD;
  const OpenFile file(descriptor, absolute ? "" : path);
  const Executing executing(absolute ? path : file.path(), ".", variables, absolute ? "" : file.shown());
  ExecAt* const next = next_definition("execveat", g_execveat);
  if (next != nullptr) return next(descriptor, path, arguments, variables, flags);
  return static_cast<int>(syscall(SYS_execveat, descriptor, path, arguments, variables, flags));  // glibc before 2.34
}

/// Calls `function` with a list of arguments.
/// @param rest the arguments behind `first`, nullptr, and, if `given`, the variables
int execute_list(Exec* function, const char* program, const char* first, va_list rest, bool given = false) {
  va_list counted;
  va_copy(counted, rest);
  std::size_t count = 1;
  for (const char* word = first; word != nullptr; word = va_arg(counted, const char*)) ++count;
  va_end(counted);
  auto** const arguments = static_cast<char**>(alloca(count * sizeof(char*)));
  arguments[0] = const_cast<char*>(first);
  for (std::size_t i = 1; i < count; ++i) arguments[i] = va_arg(rest, char*);
  return function(program, arguments, given ? va_arg(rest, char**) : base::variables());
}

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
  if (dlsym(RTLD_DEFAULT, "PMPI_Init") != nullptr) g_program = getpid();
  restore_environment_of_children();
}

void await_mpi() {
  base::Options& mine = base::options_of_this_process();
  const base::Environment environment = base::environment();
  mine.counts_set = !base::value_of(environment, "OMP_NUM_THREADS").empty();
  const std::string threads(base::value_of(environment, "OMP_NUM_THREADS"));
  mine.expected_threads = std::max(0L, std::strtol(threads.c_str(), nullptr, 10));
  mine.schedule_set = !base::value_of(environment, "OMP_SCHEDULE").empty();
  if (is_first_process()) {
    for (const Notice notice : {mpi_initialised, launcher_started}) listen_for(notice);
    if (mine.speaks) keep_standard_error();
  } else if (base::is_launcher_program(program_invocation_short_name)) {
    send_notice(launcher_started);
  }
}

void mpi_begins() {
  g_mpi_initialised = true;
  send_notice(mpi_initialised);
  if (!base::options().awaits_mpi) return;
  restore_environment_of_children();
  gomp::attach();
}

void other_mpi_begins() {
  g_mpi_initialised = true;
  const base::Options& options = base::options();
  send_notice(mpi_initialised);
  if (options.awaits_mpi) restore_environment_of_children();
  if (!options.speaks) return;
  base::say(
      "the program loaded another MPI library than expected: nothing is balanced; start it with the mpirun of that "
      "library, or name it by --mpi=openmpi, mpich or abi");
}

}  // namespace steelyard::intercept

// Shells such as dash end by _exit(), which runs no destructor.
STEELYARD_EXPORT void _exit(int status) {
  steelyard::intercept::tell_of_no_mpi();
  for (;;) syscall(SYS_exit_group, status);
}

// env and nice call execvp(), shells call execve(). Calls inside libc do not come here. Each goes on
// to the next function of its name, which a tool may have wrapped; those with a list cannot, and go on to execve() or
// execvpe(). posix_spawn() and system() start children, whose end the parent sees.
#define HOOK STEELYARD_EXPORT int

HOOK execve(const char* path, char* const arguments[], char* const variables[]) {
  return steelyard::intercept::execute(path, arguments, variables);
}

HOOK execv(const char* path, char* const arguments[]) {
  using namespace steelyard::intercept;
  const Executing executing(path, ".", steelyard::base::variables());
  return next_definition("execv", g_execv)(path, arguments);
}

HOOK execvpe(const char* file, char* const arguments[], char* const variables[]) {
  return steelyard::intercept::search_and_execute(file, arguments, variables);
}

HOOK execvp(const char* file, char* const arguments[]) {
  using namespace steelyard;
  const intercept::Executing executing(file, base::value_of(base::variables(), "PATH"), base::variables());
  return intercept::next_definition("execvp", intercept::g_execvp)(file, arguments);
}

HOOK fexecve(int descriptor, char* const arguments[], char* const variables[]) {
  return steelyard::intercept::execute_open_file(descriptor, arguments, variables);
}

HOOK execveat(int descriptor, const char* path, char* const arguments[], char* const variables[], int flags) {
  return steelyard::intercept::execute_at(descriptor, path, arguments, variables, flags);
}

#define HOOK_OF_A_LIST(name, ...)                                       \
  HOOK name(const char* program, const char* first, ...) {              \
    va_list rest;                                                       \
    va_start(rest, first);                                              \
    const int result = steelyard::intercept::execute_list(__VA_ARGS__); \
    va_end(rest);                                                       \
    return result;                                                      \
  }
HOOK_OF_A_LIST(execl, steelyard::intercept::execute, program, first, rest)
HOOK_OF_A_LIST(execle, steelyard::intercept::execute, program, first, rest, true)
HOOK_OF_A_LIST(execlp, steelyard::intercept::search_and_execute, program, first, rest)
