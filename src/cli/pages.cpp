// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/log.h"

namespace steelyard::cli {
namespace {

constexpr const char* kPackages = "python3 python3-jinja2 python3-jsonschema python3-numpy python3-pandas python3-rich";

/// A record begins with its member `schema`.
bool is_record(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;  // reading a FIFO would block
  std::ifstream file(path);
  char brace = 0;
  std::string member;
  return file >> brace >> member && brace == '{' && member.starts_with("\"schema\"");
}

}  // namespace

std::string refusal_to_overwrite(const Pages& pages) {
  for (const auto& [option, path] : {std::pair("--html", pages.html),
                                     {"--perfetto", pages.perfetto},
                                     {"--paraver", pages.paraver},
                                     {"--talp", pages.talp}}) {
    if (is_record(path)) {
      // Without another record, the user has left out the file to write.
      const auto records = pages.records.empty() ? path : fmt::format("{}", fmt::join(pages.records, " "));
      return fmt::format("{} is a run record, which {} would overwrite; write `steelyard report {} {}=FILE`", path,
                         option, records, option);
    }
  }
  return {};
}

int make_pages(const Pages& pages, const Site& site) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto directory = fs::path(site.self).parent_path();
  // pip puts the package of the wheel into an environment, whose Python is beside the command, or else in PATH.
  const bool in_wheel = std::string_view(STEELYARD_PYTHON_FROM_PROGRAM).empty();
  std::vector<std::string> words{"python3", "-m", "steelyard"};
  if (in_wheel) {
    if (fs::exists(directory / "python3", error)) words[0] = (directory / "python3").string();
  } else {
    const auto package = fs::weakly_canonical(directory / STEELYARD_PYTHON_FROM_PROGRAM / "steelyard", error);
    if (!fs::exists(package / "__main__.py", error)) {
      base::say(
          fmt::format("pages and traces are made by Steelyard's Python package, which is not in {}; `make install` "
                      "puts it there",
                      package.string()));
      return 1;
    }
    words = {"python3", package.string()};
  }
  words.insert(words.end(), pages.records.begin(), pages.records.end());
  const auto file = [&](const char* option, const std::string& path) {
    if (!path.empty()) words.push_back(fmt::format("{}={}", option, path));
  };
  file("--html", pages.html);
  file("--perfetto", pages.perfetto);
  file("--paraver", pages.paraver);
  file("--talp", pages.talp);

  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  base::say(
      errno == ENOENT
          ? fmt::format("pages and traces need python3, which is not in PATH; on Debian and Ubuntu this installs it "
                        "and what it needs:\n    sudo apt-get install -y {}",
                        kPackages)
          : fmt::format("cannot run python3: {}", std::strerror(errno)));
  return 1;
}

}  // namespace steelyard::cli
