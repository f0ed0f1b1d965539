// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <system_error>

#include "base/locate.h"
#include "base/log.h"
#include "base/nearest.h"
#include "cli/change_cores.h"
#include "cli/clean.h"
#include "cli/command_line.h"
#include "cli/completion.h"
#include "cli/doctor.h"
#include "cli/help.h"
#include "cli/launch.h"
#include "cli/launcher.h"
#include "cli/options_page.h"
#include "cli/pages.h"
#include "cli/refusal.h"
#include "cli/report.h"
#include "cli/top.h"
#include "cli/unknown_words.h"

namespace steelyard::cli {
namespace {

constexpr int wrong_usage = 2;  // Format: Bash, exit status of a command that was used wrongly.

std::string version_text(const Site& site) {
  std::vector<std::string> names;
  for (const auto& flavour : flavours_beside(site.self)) names.push_back(flavour.name);
  return fmt::format(
      "steelyard {}\nMPI: {}", STEELYARD_VERSION,
      names.empty() ? "no preload library beside this program" : fmt::format("{}", fmt::join(names, ", ")));
}

/// The mistakes in the environment are worth a line, not a stop: modules and scripts set variables of their own.
void warn_of_unknown_variables(const Site& site) {
  if (!find_launcher(site.environment).speaks()) return;
  for (const auto& sentence : base::unknown_variables(site.environment)) base::say(sentence);
}

/// `--lending off ./app` would start a program called off, and `--record ./app` none. `--record=$FILE ./app` has no
/// value if the variable is not set, and `$APP` is ''. Empty where it is nothing of this kind.
std::string misplaced_value(const std::vector<std::string>& words, const std::vector<std::string>& program,
                            const Site& site) {
  const auto empty = std::ranges::find_if(words, has_no_value);
  if (empty != words.end()) return fmt::format("{0} has no value; write {0}VALUE", *empty);
  if (!program.empty() && program.front().empty()) {
    return fmt::format("the program is '': is a variable of the shell not set? write `steelyard {} [options] ./app`",
                       words.front());
  }
  if (program.empty() && words.size() > 2 && !words.back().starts_with("-")) {
    return fmt::format("no program given: {0} is the value of {1}; write `steelyard {2} {1}=VALUE ./app`", words.back(),
                       words[words.size() - 2], words.front());
  }
  if (words.empty() || program.empty() || !words.back().starts_with("--")) return {};
  if (!base::locate(program.front(), site.value_of("PATH")).error) return {};
  const auto* option = base::find_option(std::string_view(words.back()).substr(2));
  base::Options ignored;
  if (option == nullptr || !(option->is_switch() || option->on_alone)) return {};
  const bool is_value = static_cast<bool>(base::assign(ignored, *option, program.front(), ""));
  const auto meant = is_value ? std::string_view(program.front()) : base::nearest(program.front(), option->words());
  if (meant.empty()) return {};
  return fmt::format("{0} {1} would start a program called '{1}'; write {0}={2}", words.back(), program.front(), meant);
}

/// `mpirun -n 8 steelyard run ./app --observe` measures and balances: the option is the program's. `words` are those
/// before the program; if they end with `--`, the user knows.
void warn_of_options_after(const std::vector<std::string>& words, const std::vector<std::string>& program,
                           const Launcher& launcher) {
  const auto names = options_after_program(program);
  if (names.empty() || words.back() == "--" || !launcher.speaks()) return;
  base::say(
      fmt::format("{0} after the program belongs to the program: for Steelyard, write it before {1}; for the "
                  "program, `steelyard {2} -- {1} ...` leaves this line out",
                  fmt::join(names, ", "), program.front(), words.front()));
}

/// `run` and `doctor`: options, then the program.
int start(bool run_it, const OptionWords& words, const std::vector<std::string>& program, const Site& site) {
  const int wrong = run_it ? refused : wrong_usage;
  const auto launcher = find_launcher(site.environment);
  base::Options options;
  if (const auto status = words.resolve(site.environment, options); !status)
    return refuse_to_start(status.sentence(), wrong, launcher);
  if (program.empty()) {
    return refuse_to_start(
        fmt::format("no program given; write `steelyard {} [options] ./app`", run_it ? "run" : "doctor"), wrong,
        launcher);
  }
  if (!run_it) return doctor(program, options, site);
  warn_of_unknown_variables(site);
  return run(program, options, site);
}

/// `steelyard report`, after its words have been parsed.
int report_or_pages(Pages& pages, ReportForm form, const Site& site, const Launcher& launcher) {
  if (pages.records.size() > 2) {
    return refuse_to_start(
        fmt::format("`steelyard report` takes one run record, or two to compare; what is {}?", pages.records[2]),
        wrong_usage, launcher);
  }
  if (const auto refusal = refusal_to_overwrite(pages); !refusal.empty())
    return refuse_to_start(refusal, wrong_usage, launcher);
  const bool named = !pages.records.empty();
  if (!named) pages.records.push_back(newest_record());
  if (pages.records[0].empty()) {
    return refuse_to_start(
        "no run record (steelyard-run*.json) in this directory: `steelyard run` writes one at the end of a run, unless "
        "--record says otherwise; to read another file: `steelyard report PATH`",
        1, launcher);
  }
  const std::string_view of_one_run = form == ReportForm::full   ? "--full"
                                      : form == ReportForm::json ? "--json"
                                      : !pages.perfetto.empty()  ? "--perfetto"
                                      : !pages.paraver.empty()   ? "--paraver"
                                      : !pages.talp.empty()      ? "--talp"
                                                                 : "";
  if (pages.records.size() > 1 && !of_one_run.empty()) {
    return refuse_to_start(fmt::format("{} takes one run record, and {} is a second one", of_one_run, pages.records[1]),
                           wrong_usage, launcher);
  }
  if (pages.wanted()) return make_pages(pages, site);
  return report(pages.records[0], named, form);
}

/// What `steelyard options` prints: the options of a topic, or all.
struct OptionsForm {
  std::string topic;
  bool manual = false, completion = false;
};

void take_words(CLI::App& command, OptionsForm& form) {
  auto* topic = command
                    .add_option("topic", form.topic,
                                "List only the options of this capability or name, such as cores, loops or "
                                "max-threads.")
                    ->type_name("TOPIC");
  command.add_flag("--man", form.manual, "Print the man page, in roff.")->excludes(topic);
  command
      .add_flag("--completion", form.completion, "Print the completion script for bash, and for zsh's bashcompinit.")
      ->excludes(topic);
}

int print_options(const OptionsForm& form, const CLI::App& app, const Launcher& launcher) {
  std::string page = form.manual ? options_manual() : form.completion ? completion_script(app) : options_page();
  if (!form.topic.empty()) {
    if (const auto status = options_about(form.topic, page); !status)
      return refuse_to_start(status.sentence(), wrong_usage, launcher);
  }
  return print_for_user(page, 0, launcher);
}

int main(std::vector<std::string> words) {
  const auto site = this_site();
  const auto launcher = find_launcher(site.environment);
  CLI::App app("Steelyard measures and corrects load imbalance in MPI+OpenMP programs while they run.", "steelyard");
  app.set_version_flag("--version", version_text(site), "Print the version, and the MPIs that it supports.");
  app.require_subcommand(0, 1);
  if (!words.empty() && words[0] == "help")
    words = {words.size() > 1 && words[1] != "help" ? words[1] : "--help", "--help"};

  auto& run_command =
      *app.add_subcommand("run", "Run a program as one rank: mpirun -n 8 steelyard run [options] ./app ...");
  auto& doctor_command = *app.add_subcommand("doctor", "Report what Steelyard can measure and change in a program.");
  auto& report_command =
      *app.add_subcommand("report", "Print the summary of a run record, write pages and traces of it, or compare two.");
  auto& top_command = *app.add_subcommand("top", "Show the jobs under Steelyard on this node, every second.");
  auto& cores_command = *app.add_subcommand("cores", "Show and change the cores of a job that runs on this node.");
  auto& clean_command = *app.add_subcommand("clean", "Remove the shared memory of runs that died.");
  auto& options_command = *app.add_subcommand("options", "List all options of run and doctor.");
  const OptionWords run_words(run_command), doctor_words(doctor_command);

  Pages pages;
  bool full = false, json = false;
  TopForm top_form;
  report_command.add_option("record", pages.records, "The run record. Two records are compared.")
      ->type_name("RECORD")
      ->default_str("the newest steelyard-run*.json here");
  auto* full_flag = report_command.add_flag("--full", full, "Print all tables and decisions.");
  auto* json_flag =
      report_command.add_flag("--json", json, "Print the record itself, after validation.")->excludes(full_flag);
  const auto writes = [&](const char* name, std::string& file, const char* what) {
    report_command.add_option(name, file, what)->type_name("FILE")->excludes(full_flag)->excludes(json_flag);
  };
  writes("--html", pages.html, "Write an HTML page that needs no network, of one record or of the comparison of two.");
  writes("--perfetto", pages.perfetto, "Write a trace for the Perfetto UI.");
  writes("--paraver", pages.paraver, "Write a trace for Paraver: this .prv file, a .pcf and a .row file.");
  writes("--talp", pages.talp, "Write TALP's JSON, which talp-pages reads.");
  top_command.add_flag("--once", top_form.once, "Print the jobs once.");
  auto* top_json = top_command.add_flag("--json", top_form.json, "Print one line of JSON each time.");
  auto* prometheus =
      top_command.add_flag("--prometheus", top_form.prometheus, "Print once, in Prometheus' text format.");
  prometheus->excludes(top_json);
  top_command
      .add_option("--output", top_form.output,
                  "With --prometheus: write the text to this file. Other programs never read a part of it.")
      ->type_name("FILE")
      ->needs(prometheus);
  CoresWords cores_words(cores_command);
  OptionsForm options_form;
  take_words(options_command, options_form);

  if (const auto sentence = unknown_words(app, words); !sentence.empty())
    return refuse_to_start(sentence, wrong_usage, launcher);

  // The program's own options are none of ours: they must be gone before the rest is parsed.
  std::vector<std::string> program;
  const bool has_program = !words.empty() && (words[0] == "run" || words[0] == "doctor");
  if (has_program) {
    const auto rest = words.begin() + 1 + static_cast<std::ptrdiff_t>(words_before_program(words, 1));
    program.assign(rest, words.end());
    words.erase(rest, words.end());
    if (const auto sentence = misplaced_value(words, program, site); !sentence.empty())
      return refuse_to_start(sentence, words[0] == "run" ? refused : wrong_usage, launcher);
    warn_of_options_after(words, program, launcher);
  }
  const std::string command = words.empty() || words[0].starts_with('-') ? "" : words[0] + " ";
  try {
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    const auto text = run_command.parsed() ? run_help() : doctor_command.parsed() ? doctor_help() : help(app);
    return print_for_user(text, 0, launcher);
  } catch (const CLI::CallForVersion&) {
    return print_for_user(version_text(site) + "\n", 0, launcher);
  } catch (const CLI::ParseError& error) {
    return refuse_to_start(fmt::format("{}; see `steelyard {}--help`", error.what(), command),
                           run_command.parsed() ? refused : wrong_usage, launcher);
  }
  if (run_command.parsed()) return start(true, run_words, program, site);
  if (doctor_command.parsed()) return start(false, doctor_words, program, site);
  if (report_command.parsed()) {
    const auto form = full ? ReportForm::full : json ? ReportForm::json : ReportForm::summary;
    return report_or_pages(pages, form, site, launcher);
  }
  if (top_command.parsed()) return top(top_form);
  if (cores_command.parsed()) return cores_words.carry_out();
  if (clean_command.parsed()) return clean();
  if (options_command.parsed()) return print_options(options_form, app, launcher);
  return print_for_user(help(app), wrong_usage, launcher);
}

}  // namespace
}  // namespace steelyard::cli

// Output that is cut off must not look complete to a script.
int main(int argc, char** argv) {
  int status = 1;
  try {
    status = steelyard::cli::main({argv + 1, argv + argc});
    std::fflush(stdout);
  } catch (const std::system_error&) {  // also by fmt::print, if it cannot write
    if (std::ferror(stdout) == 0) throw;
  }
  if (std::ferror(stdout) == 0) return status;
  steelyard::base::say("the output is incomplete: standard output cannot be written (is the disk full?)");
  return std::max(status, 1);
}
