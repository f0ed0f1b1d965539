// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <map>
#include <mutex>
#include <string>

#include "base/printable.h"

namespace steelyard::base {
namespace {

constexpr int most_repeats = 5;  // Size: lines of one text
std::atomic<int> log_rank{-1};

/// write(2) to standard error. If its reader has ended, as `head` does after ten lines, SIGPIPE would end the program,
/// even if the program itself writes nothing there: the signal of this write is taken back. A signal handler may be the
/// caller.
void write_error(std::string_view text) {
  const int error_before = errno;
  sigset_t pipe;
  sigset_t mask_before;
  sigset_t pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigemptyset(&pending);
  sigpending(&pending);
  const bool was_pending = sigismember(&pending, SIGPIPE) == 1;  // the program's own, which stays
  pthread_sigmask(SIG_BLOCK, &pipe, &mask_before);
  // That standard error is closed cannot be reported anywhere.
  const auto written = write(STDERR_FILENO, text.data(), text.size());
  if (written < 0 && errno == EPIPE && !was_pending) {
    constexpr timespec kNoWait{};
    while (sigtimedwait(&pipe, nullptr, &kNoWait) < 0 && errno == EINTR) continue;
  }
  pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);
  errno = error_before;
}

void write_line(std::string_view prefix, std::string_view line, std::string_view ending) {
  std::string text(prefix);
  if (!text.empty()) text.append(": ");
  text.append(printable(line, "\n")).append(ending).append("\n");
  write_error(text);
}

/// How often this line has been written, this time included. Its memory is never destroyed: other threads may still
/// warn while the process exits.
int count(std::string_view line) {
  static auto& mutex = *new std::mutex;
  static auto& counts = *new std::map<std::string, int, std::less<>>;
  const std::lock_guard lock(mutex);
  return ++counts.try_emplace(std::string(line)).first->second;
}

/// A line that is cut where it is very long. It allocates nothing.
void write_parts(std::string_view prefix, std::initializer_list<std::string_view> parts) {
  char line[PIPE_BUF];
  std::size_t size = 0;
  const auto add = [&](std::string_view part) { size += part.copy(line + size, sizeof(line) - 1 - size); };
  add(prefix);
  add(": ");
  for (const auto part : parts) add(part);
  size = make_printable(line, size);
  line[size++] = '\n';
  write_error({line, size});
}

/// "steelyard", or "steelyard[3]" in rank 3. It allocates nothing.
struct ProcessPrefix {
  ProcessPrefix() {
    if (const int rank = log_rank; rank >= 0) std::snprintf(text, sizeof text, "steelyard[%d]", rank);
  }
  char text[32] = "steelyard";
};

}  // namespace

void set_log_rank(int rank) { log_rank = rank; }

void say(std::string_view line) { write_line("steelyard", line, ""); }

void say_in_handler(std::initializer_list<std::string_view> parts) { write_parts("steelyard", parts); }

void print(std::string_view line) { write_line("", line, ""); }

void warn(std::string_view line) {
  const int times = count(line);
  if (times > most_repeats) return;
  write_line(ProcessPrefix().text, line, times == most_repeats ? " (will not be repeated any more)" : "");
}

void warn_once(std::string_view line) {
  if (count(line) == 1) write_line(ProcessPrefix().text, line, "");
}

void warn_once(std::atomic_flag& warned, std::initializer_list<std::string_view> parts) noexcept {
  if (warned.test_and_set()) return;
  write_parts(ProcessPrefix().text, parts);
}

}  // namespace steelyard::base
