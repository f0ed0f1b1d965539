// SPDX-License-Identifier: BSD-3-Clause
#include "base/config_file.h"

#include <fmt/format.h>
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace steelyard::base {
namespace {

std::string key_name(std::string_view name) { return std::string(name); }

/// As the command line would have it; nothing for what no option can be, such as a table or a date.
std::optional<std::string> text_of_node(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return flag->get() ? "on" : "off";
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* text = node.as_string()) return text->get();
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// The line of an option whose value is text without quotes, with quotes; empty if it is another line.
std::string with_quotes(std::string_view text, std::size_t line) {
  for (; line > 1 && text.find('\n') != std::string_view::npos; --line) text.remove_prefix(text.find('\n') + 1);
  text = text.substr(0, text.find('\n'));
  const std::size_t equal = text.find('=');
  if (equal == std::string_view::npos) return {};
  const std::string_view key = trimmed(text.substr(0, equal)), value = trimmed(text.substr(equal + 1));
  if (find_option(key) == nullptr || value.empty() || value.find_first_of("\"'#\\") != std::string_view::npos)
    return {};
  return fmt::format("{} = \"{}\"", key, value);
}

}  // namespace

Status override_from_toml(std::string_view text, const std::string& path, Options& options) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    const auto& error = parsed.error();
    const std::size_t line = error.source().begin.line;
    const std::string quoted = with_quotes(text, line);
    return Status::failure(fmt::format(
        "config file {}, line {}: {}; values are written as in TOML: {}", path, line, error.description(),
        quoted.empty() ? "numbers, true or false, and \"text\"" : "text stands in quotes, `" + quoted + "`"));
  }
  for (const auto& [key, node] : parsed.table()) {
    const auto where = fmt::format("config file {}, line {}", path, key.source().begin.line);
    const Option* option = find_option(key.str());
    if (!option || option->internal) return Status::failure(where + ": " + unknown_name("option", key.str(), key_name));
    if (option->name == "config") return Status::failure(where + ": a config file cannot name another one");
    const auto value = text_of_node(node);
    if (!value) {
      return Status::failure(fmt::format("{}: {} is neither a text, a number nor true or false; it must be {}", where,
                                         key.str(), option->allowed()));
    }
    if (auto status = assign(options, *option, *value, fmt::format("{}: {}", where, key.str())); !status) return status;
  }
  return {};
}

Status override_from_file(const std::string& path, Options& options) {
  errno = 0;
  std::ifstream file(path);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  // A directory opens, and only reading it fails. An empty file sets the fail bit of `text`, which is no error.
  if (!file || errno == EISDIR) {
    return Status::failure(fmt::format("cannot read config file {}: {}", path, std::strerror(errno ? errno : EIO)));
  }
  return override_from_toml(text.str(), path, options);
}

}  // namespace steelyard::base
