// SPDX-License-Identifier: BSD-3-Clause
#include "cli/completion.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "cli/unknown_words.h"

namespace steelyard::cli {
namespace {

/// Patterns of a shell's `case`, and what follows them.
std::string branch(const std::vector<std::string>& patterns, std::string_view commands) {
  return patterns.empty() ? "" : fmt::format("    {}) {} ;;\n", fmt::join(patterns, "|"), commands);
}

/// The options of `command` as a user begins them: `--cores=`, `--observe`.
std::vector<std::string> beginnings(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) {
    const auto* row = option->get_lnames().empty() ? nullptr : base::find_option(option->get_lnames()[0]);
    const bool of_table = row != nullptr && command.get_allow_extras();
    const bool has_values = of_table ? !row->is_switch() : takes_value(*option);
    for (const auto& name : option->get_lnames()) words.push_back(fmt::format("--{}{}", name, has_values ? "=" : ""));
  }
  return words;
}

/// Options of the command line that are followed by a file.
std::vector<std::string> options_with_file(const std::vector<const CLI::App*>& commands) {
  std::set<std::string> names;
  for (const auto& option : base::option_table()) {
    if (!option.internal && option.placeholder.starts_with("PATH")) names.insert(fmt::format("--{}", option.name));
  }
  for (const CLI::App* command : commands) {
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_type_name() == "FILE") names.insert(option->get_name());
    }
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> values_of(const base::Option& option) {
  const auto words = option.words();
  std::vector<std::string> values(words.begin(), words.end());
  for (const auto& [name, index] : option.short_names) values.emplace_back(name);
  constexpr std::string_view path = "PATH|";
  if (option.placeholder.starts_with(path)) values.emplace_back(option.placeholder.substr(path.size()));
  if (!option.unset.empty()) values.emplace_back(option.unset);
  return values;
}

// COMP_WORDS has `--cores=of` as three words in bash, and as one in zsh, whose replies are whole words.
constexpr std::string_view functions = R"sh(
# The lines of $1 as replies. An array of "$(compgen ...)" would expand a reply such as *.
_steelyard_reply() {
  local line
  while IFS= read -r line; do
    [[ -n $line ]] && COMPREPLY+=("$line")
  done <<< "$1"
}

_steelyard() {
  local line=() word last=-1 joined= command= at=1 program= value before=
  for word in "${COMP_WORDS[@]:1:$COMP_CWORD}"; do
    if [[ -n $joined || ($word == = && $last -gt 0) ]]; then
      line[last]+=$word
      [[ -z $joined ]] && joined=1 || joined=
    else
      last=$((last + 1))
      line[last]=$word
    fi
  done
  COMPREPLY=()
  word=${line[last]}
  [[ $last -gt 0 ]] && command=${line[0]}
  if [[ $command == run || $command == doctor ]]; then
    while [[ $at -lt $last && -z $program ]]; do
      case ${line[at]} in
        --) program=$((at + 1)) ;;
        --*=*) ;;
        -*) _steelyard_takes_next "${line[at]}" && at=$((at + 1)) ;;
        *) return ;;
      esac
      at=$((at + 1))
    done
    [[ -n $program && $program -lt $last ]] && return
    if [[ $at == "$last" && (-n $program || $word != -*) ]]; then
      [[ -n $word && $word != */* ]] && _steelyard_reply "$(compgen -c -- "$word")"
      return
    fi
  fi
  if [[ $command == run || $command == doctor ]] && [[ $at -gt $last ]]; then
    value=$word word=${line[last - 1]}
  elif [[ $word == --*=* ]]; then
    value=${word#*=} word=${word%%=*}
    [[ ${COMP_WORDBREAKS-} == *=* ]] || before=$word=
  else
    _steelyard_reply "$(compgen -W "$(_steelyard_words "$command" "$word")" -- "$word")"
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    return
  fi
  if [[ $command == run || $command == doctor ]]; then
    _steelyard_reply "$(compgen -P "$before" -W "$(_steelyard_values "$word")" -- "$value")"
  fi
  if _steelyard_is_file "$word"; then
    _steelyard_reply "$(compgen -P "$before" -f -- "$value")"
    compopt -o filenames 2>/dev/null
  else
    compopt +o default 2>/dev/null
  fi
}

# In zsh, which has no compopt, no blank follows a reply: a value follows `--cores=`.
complete ${ZSH_VERSION:+-o} ${ZSH_VERSION:+nospace} -o default -F _steelyard steelyard
)sh";

}  // namespace

std::string completion_script(const CLI::App& app) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  std::string script = "# Completion of steelyard " STEELYARD_VERSION
                       " for bash. In zsh, before: autoload -U +X bashcompinit && bashcompinit\n\n"
                       "# What may stand in a command: its name, and the word so far.\n"
                       "_steelyard_words() {\n  case $1:$2 in\n";
  std::vector<std::string> names{"help"};
  for (const CLI::App* command : commands) {
    names.push_back(command->get_name());
    script += branch({command->get_name() + ":-*"}, fmt::format("echo '{}'", fmt::join(beginnings(*command), " ")));
  }
  script += branch({":-*"}, fmt::format("echo '{}'", fmt::join(beginnings(app), " ")));
  script += branch({":*", "help:*"}, fmt::format("echo '{}'", fmt::join(names, " ")));
  script += "  esac\n}\n\n_steelyard_takes_next() {\n  case $1 in\n";
  std::vector<std::string> with_value;
  std::string values;
  for (const auto& option : base::option_table()) {
    if (option.internal) continue;
    const auto name = fmt::format("--{}", option.name);
    if (!option.is_switch() && !option.on_alone) with_value.push_back(name);
    if (const auto words = values_of(option); !words.empty())
      values += branch({name}, fmt::format("echo '{}'", fmt::join(words, " ")));
  }
  script += branch(with_value, "return 0") + "  esac\n  return 1\n}\n\n";
  script += "_steelyard_values() {\n  case $1 in\n" + values + "  esac\n}\n\n";
  script += "_steelyard_is_file() {\n  case $1 in\n" + branch(options_with_file(commands), "return 0") +
            "  esac\n  return 1\n}\n";
  return script + std::string(functions);
}

}  // namespace steelyard::cli
