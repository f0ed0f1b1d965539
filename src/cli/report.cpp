// SPDX-License-Identifier: BSD-3-Clause
#include "cli/report.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/log.h"
#include "observe/record.h"
#include "observe/summary.h"

namespace steelyard::cli {

namespace {

/// Without the ".3" of a process that has a record of its own, as it has no MPI.
std::string_view without_rank(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool has_rank = last != std::string_view::npos && last + 1 < name.size() && name[last] == '.';
  return has_rank ? name.substr(0, last) : name;
}

/// "steelyard-run.json", with a job ID after a dot, a number after a hyphen, or both.
bool is_record_name(std::string_view name) {
  name = without_rank(name);
  constexpr std::string_view begin = "steelyard-run", end = ".json";
  if (!name.starts_with(begin) || !name.ends_with(end) || name.size() < begin.size() + end.size()) return false;
  const auto middle = name.substr(begin.size(), name.size() - begin.size() - end.size());
  if (middle.empty() || middle.front() == '.') return true;
  return middle.size() > 1 && middle.front() == '-' &&
         middle.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

}  // namespace

std::string newest_record(const std::string& folder) {
  namespace fs = std::filesystem;
  std::string newest;
  fs::file_time_type latest = fs::file_time_type::min();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!is_record_name(name)) continue;
    std::error_code gone;
    const auto written = entry.last_write_time(gone);
    // A run that is about to write its record has an empty file.
    if (gone || entry.file_size(gone) == 0 || gone || written <= latest) continue;
    newest = name;
    latest = written;
  }
  return newest;
}

int report(const std::string& path, bool named, ReportForm form) {
  errno = 0;
  std::ifstream file(path);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || errno == EISDIR) {
    base::say(
        fmt::format("cannot read the run record {}: {}; `steelyard run` writes one at the end of a run, see --record",
                    path, std::strerror(errno ? errno : EIO)));
    return 1;
  }
  observe::RunRecord record;
  if (const auto status = observe::from_json(text.str(), record); !status) {
    base::say(fmt::format("cannot read the run record {}: {}", path, status.sentence()));
    return 1;
  }
  // Which run that was is not clear where the last one was told to write elsewhere, or nothing.
  if (!named) {
    base::say(fmt::format("{}: {}, started {}{}", path, fmt::join(record.command, " "), record.started,
                          without_rank(path) == path ? "" : "; without MPI, each process has a record of its own"));
  }
  if (form == ReportForm::json) fmt::print("{}\n", observe::to_json(record));
  if (form == ReportForm::full) fmt::print("{}", observe::full_report(record));
  if (form == ReportForm::summary) fmt::print("{}\n", fmt::join(observe::summary(record), "\n"));
  return 0;
}

}  // namespace steelyard::cli
