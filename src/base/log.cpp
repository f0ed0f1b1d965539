// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include <unistd.h>

#include <atomic>
#include <climits>
#include <map>
#include <mutex>
#include <string>

#include "base/printable.h"

namespace steelyard::base {
namespace {

constexpr int most_repeats = 5;  // Size: lines of one text
std::atomic<int> log_rank{-1};

void write_line(const std::string& prefix, std::string_view line, std::string_view ending) {
  std::string text = prefix;
  if (!text.empty()) text.append(": ");
  text.append(printable(line, "\n")).append(ending).append("\n");
  // That standard error is closed cannot be reported anywhere.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

/// How often this line has been written, this time included. Its memory is never destroyed: other threads may still
/// warn while the process exits.
int count(std::string_view line) {
  static auto& mutex = *new std::mutex;
  static auto& counts = *new std::map<std::string, int, std::less<>>;
  const std::lock_guard lock(mutex);
  return ++counts.try_emplace(std::string(line)).first->second;
}

std::string process_prefix() {
  const int rank = log_rank;
  return rank < 0 ? "steelyard" : "steelyard[" + std::to_string(rank) + "]";
}

}  // namespace

void set_log_rank(int rank) { log_rank = rank; }

void say(std::string_view line) { write_line("steelyard", line, ""); }

void say_in_handler(std::initializer_list<std::string_view> parts) {
  char line[PIPE_BUF] = "steelyard: ";
  std::size_t size = std::string_view(line).size();
  for (const auto part : parts) size += part.copy(line + size, sizeof(line) - 1 - size);
  size = make_printable(line, size);
  line[size++] = '\n';
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line, size);
}

void print(std::string_view line) { write_line("", line, ""); }

void warn(std::string_view line) {
  const int times = count(line);
  if (times > most_repeats) return;
  write_line(process_prefix(), line, times == most_repeats ? " (will not be repeated any more)" : "");
}

void warn_once(std::string_view line) {
  if (count(line) == 1) write_line(process_prefix(), line, "");
}

}  // namespace steelyard::base
