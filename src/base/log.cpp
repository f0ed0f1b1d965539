// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <ctime>
#include <iterator>
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

void write_line(const std::string& prefix, std::string_view line, std::string_view ending) {
  std::string text = prefix;
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

/// A line that begins as `begin` says, and is cut where it is very long. It allocates nothing.
void write_parts(std::initializer_list<std::string_view> begin, std::initializer_list<std::string_view> parts) {
  char line[PIPE_BUF];
  std::size_t size = 0;
  for (const auto& list : {begin, parts})
    for (const auto part : list) size += part.copy(line + size, sizeof(line) - 1 - size);
  size = make_printable(line, size);
  line[size++] = '\n';
  write_error({line, size});
}

std::string process_prefix() {
  const int rank = log_rank;
  return rank < 0 ? "steelyard" : "steelyard[" + std::to_string(rank) + "]";
}

}  // namespace

void set_log_rank(int rank) { log_rank = rank; }

void say(std::string_view line) { write_line("steelyard", line, ""); }

void say_in_handler(std::initializer_list<std::string_view> parts) { write_parts({"steelyard: "}, parts); }

void print(std::string_view line) { write_line("", line, ""); }

void warn(std::string_view line) {
  const int times = count(line);
  if (times > most_repeats) return;
  write_line(process_prefix(), line, times == most_repeats ? " (will not be repeated any more)" : "");
}

void warn_once(std::string_view line) {
  if (count(line) == 1) write_line(process_prefix(), line, "");
}

void warn_once(std::atomic_flag& warned, std::initializer_list<std::string_view> parts) noexcept {
  if (warned.test_and_set()) return;
  const int rank = log_rank;
  char digits[16];
  const std::size_t count =
      static_cast<std::size_t>(std::to_chars(std::begin(digits), std::end(digits), rank).ptr - digits);
  if (rank < 0)
    write_parts({"steelyard: "}, parts);
  else
    write_parts({"steelyard[", {digits, count}, "]: "}, parts);
}

}  // namespace steelyard::base
