// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

// What the tests of this folder share: a directory of their own, compilers, and commands whose words are looked at.
namespace steelyard::cli::testing_support {

/// A directory that goes away with the object.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "steelyard-cli-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, std::string_view bytes) const {
    const auto path = *this / name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

 private:
  std::filesystem::path path_;
};

struct Ran {
  int status = -1;     ///< exit status; 128 + n for signal n
  std::string output;  ///< standard output and error together
};

inline Ran shell(const std::string& command) {
  Ran ran;
  FILE* pipe = popen(("{ " + command + "; } 2>&1").c_str(), "r");
  std::array<char, 4096> buffer;
  for (std::size_t got; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    ran.output.append(buffer.data(), got);
  const int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

/// Compiles C source to `name` in the scratch directory. Returns its path; "" where the compiler cannot do that here.
inline std::string compile(const Scratch& scratch, const std::string& name, std::string_view source,
                           const std::string& flags = "", const std::string& compiler = STEELYARD_TEST_CC) {
  const auto file = scratch.write(name + ".c", source);
  const auto output = scratch / name;
  return shell(compiler + " -o " + output + " " + file + " " + flags).status == 0 ? output : "";
}

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace steelyard::cli::testing_support
