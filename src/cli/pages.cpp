#include "cli/pages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/log.h"

namespace steelyard::cli {
namespace {

constexpr const char* kPackages = "python3 python3-jinja2 python3-jsonschema python3-numpy python3-pandas python3-rich";

}  // namespace

int make_pages(const Pages& pages, const Site& site) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto package =
      fs::weakly_canonical(fs::path(site.self).parent_path() / STEELYARD_PYTHON_FROM_PROGRAM / "steelyard", error);
  // `make install` puts the package beside the command. pip puts it into an environment, whose Python is beside the command.
  std::string python = "python3";
  std::vector<std::string> words{package.string()};
  if (!fs::exists(package / "__main__.py", error)) {
    words = {"-m", "steelyard"};
    const auto beside = fs::path(site.self).parent_path() / "python3";
    if (fs::exists(beside, error)) python = beside.string();
  }
  words.insert(words.begin(), python);
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
  execvp(python.c_str(), arguments.data());
  base::say(
      errno == ENOENT
          ? fmt::format("pages and traces need python3, which is not in PATH; on Debian and Ubuntu this installs it "
                        "and what it needs:\n    sudo apt-get install -y {}",
                        kPackages)
          : fmt::format("cannot run python3: {}", std::strerror(errno)));
  return 1;
}

}  // namespace steelyard::cli
