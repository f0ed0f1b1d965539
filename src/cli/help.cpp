// SPDX-License-Identifier: BSD-3-Clause
#include "cli/help.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>

#include "cli/options_page.h"
#include "cli/unknown_words.h"

namespace steelyard::cli {
namespace {

/// What the parser of the command line does not know of a command; "": of all.
struct Words {
  std::string_view command, usage, examples;
};
constexpr Words kWords[] = {
    {"", "steelyard COMMAND [options]\n",
     "  mpirun -n 8 steelyard run ./app input.dat\n"
     "      Correct load imbalance, print a summary and write the run record.\n"
     "  steelyard COMMAND --help\n"
     "      The options of a command.\n"},
    {"report",
     "steelyard report [--full | --json] [RECORD]\n"
     "       steelyard report [--html=FILE] [--perfetto=FILE] [--paraver=FILE] [--talp=FILE] [RECORD]\n"
     "       steelyard report [--html=FILE] RECORD RECORD\n",
     "  steelyard report --full\n"
     "      All tables and decisions of the newest steelyard-run*.json in this directory.\n"
     "  steelyard report before.json after.json\n"
     "      Compare two runs.\n"},
    {"top", "steelyard top [--once] [--json | --prometheus [--output=FILE]]\n",
     "  steelyard top --once\n"
     "      Print the jobs once.\n"},
    {"cores", "steelyard cores [--set=LIST | --shrink=N | --grow=N] [--wait=SECONDS] [PID | JOB]\n",
     "  steelyard cores\n"
     "      Print which rank has which cores.\n"
     "  steelyard cores 4711 --shrink=4\n"
     "      Take four cores from the job of process 4711.\n"},
    {"clean", "steelyard clean\n", ""},
    {"options", "steelyard options [TOPIC | --man | --completion]\n",
     "  steelyard options cores\n"
     "      List the options about moving cores.\n"},
};

std::string row_of(const CLI::Option& option) {
  std::string name = option.get_positional() ? option.get_type_name() : option.get_name();
  if (!option.get_positional() && takes_value(option)) name += "=" + option.get_type_name();
  if (const std::string text = option.get_default_str(); !text.empty()) name += fmt::format(" [{}]", text);
  return wrapped(name, 2) + wrapped(option.get_description(), 6);
}

}  // namespace

std::string help(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  const CLI::App& command = parsed.empty() ? app : *parsed.front();
  const std::string name = parsed.empty() ? "" : command.get_name();
  const auto* words = std::ranges::find(kWords, name, &Words::command);
  std::string text = fmt::format("usage: {}\n{}", words->usage, wrapped(command.get_description(), 0));
  const auto section = [&](std::string_view heading, const std::string& rows) {
    if (!rows.empty()) text += fmt::format("\n{}\n{}", heading, rows);
  };
  std::string commands, options;
  for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; }))
    commands += fmt::format("  {}\n{}", one->get_name(), wrapped(one->get_description(), 6));
  for (const CLI::Option* option : command.get_options()) {
    if (option != command.get_help_ptr()) options += row_of(*option);
  }
  section("Commands", commands);
  section("Options", options);
  section("Examples", std::string(words->examples));
  return text;
}

}  // namespace steelyard::cli
