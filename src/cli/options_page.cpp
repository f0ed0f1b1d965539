// SPDX-License-Identifier: BSD-3-Clause
#include "cli/options_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/nearest.h"
#include "base/options.h"
#include "base/split.h"
#include "observe/text.h"

namespace steelyard::cli {
namespace {

using base::Option;
using base::Options;

std::string default_of(const Option& option) {
  const auto text = base::text_of(Options(), option);
  return option.unit.empty() || text == option.unset ? text : fmt::format("{} {}", text, option.unit);
}

/// Roff breaks at a hyphen and takes a backslash, or a dot or quote at the start of a line, for a command.
std::string roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (result.empty() && (c == '.' || c == '\'')) result += "\\&";
    if (c == '-') result += '\\';
    result += c == '\\' ? std::string("\\e") : std::string(1, c);
  }
  return result;
}

/// A list of values may be broken behind each.
std::string roff_values(std::string_view values) {
  std::string result;
  for (const char c : roff(values)) result += c == '|' ? std::string("|\\:") : std::string(1, c);
  return result;
}

/// `row` for each option that users can set and that is `wanted`, `heading` before each group of them.
template <typename Heading, typename Row, typename Wanted>
std::string for_each_option(Heading heading, Row row, Wanted wanted) {
  std::string result;
  std::string_view group;
  for (const auto& option : base::option_table()) {
    if (option.internal || !wanted(option)) continue;
    if (option.group != group) result += heading(option.group);
    group = option.group;
    result += row(option);
  }
  return result;
}

constexpr auto kEach = [](const Option&) { return true; };

constexpr std::string_view kBetweenParts = " -";

bool has_part(std::string_view text, std::string_view part) {
  const auto parts = base::words_of(text, kBetweenParts);
  return std::ranges::find(parts, part) != parts.end();
}

/// What `steelyard options` takes: the options' names and their parts, and the words of the headings.
std::vector<std::string_view> topics() {
  std::vector<std::string_view> words;
  for (const auto& option : base::option_table()) {
    if (option.internal) continue;
    words.push_back(option.name);
    for (const auto text : {option.name, option.group}) {
      const auto parts = base::words_of(text, kBetweenParts);
      words.insert(words.end(), parts.begin(), parts.end());
    }
  }
  return words;
}

// The man page around the options. Neither spread nor hyphenated: names are to be searched for and copied.
constexpr std::string_view manual_before = R"(.ad l
.nh
.SH NAME
steelyard \- corrects load imbalance in running MPI+OpenMP programs
.SH SYNOPSIS
.B mpirun
\-n N
.B steelyard run
[OPTIONS] [\-\-] PROGRAM [ARGUMENTS]
.br
.B steelyard doctor
[OPTIONS] PROGRAM
.br
.B steelyard report
[\-\-full | \-\-json] [RECORD]
.br
.B steelyard report
[\-\-html=FILE] [\-\-perfetto=FILE] [\-\-paraver=FILE] [\-\-talp=FILE] [RECORD]
.br
.B steelyard report
[\-\-html=FILE] RECORD RECORD
.br
.B steelyard top
[\-\-once] [\-\-json | \-\-prometheus [\-\-output=FILE]]
.br
.B steelyard cores
[\-\-set=LIST | \-\-shrink=N | \-\-grow=N] [\-\-wait=SECONDS] [PID | JOB]
.br
.B steelyard clean
.br
.B steelyard options
[TOPIC]
.SH DESCRIPTION
.B steelyard run
starts a program as one rank of an MPI job. It measures the program's load imbalance and corrects it while the program
runs: it moves and lends cores between the ranks of a node, redistributes loop iterations between the threads of a
rank, and delivers broadcasts so that a late rank delays no other rank. At the end it prints a summary: which ranks
waited for which, what was moved and what was gained, or why nothing was moved. The program needs no change; its exit
status is passed on.
.PP
.B steelyard doctor
reports what Steelyard can measure and change in a program, what it cannot, and why. It does not start the program.
.PP
.B steelyard report
prints the summary of a run record. With
.B \-\-full
it prints all tables, with
.B \-\-json
the record itself. It writes a page about the run
.RB ( \-\-html ),
traces for the Perfetto UI
.RB ( \-\-perfetto )
and for Paraver
.RB ( \-\-paraver ),
and TALP's JSON for talp\-pages
.RB ( \-\-talp ).
Of two records it prints or writes a comparison. Pages, traces and comparisons need Python and some packages; if a
package is missing, the command says how to install it.
.PP
.B steelyard top
shows the jobs under Steelyard on this node, every second: ranks, cores, efficiency and the latest decisions. With
.B \-\-once
it shows them once, with
.B \-\-prometheus
in Prometheus' text format, which
.B \-\-output
writes to a file.
.PP
.B steelyard cores
shows which rank of a job on this node has which cores. JOB is a batch job; PID is a process of the job or its
launcher. With
.B \-\-set
the job continues on these CPUs alone,
.B \-\-shrink
takes cores from it, and
.B \-\-grow
gives it more of those that the launcher gave it. Each rank follows at its next parallel region or blocking MPI call.
The command waits for that, at most for the seconds given by
.B \-\-wait
(10).
.PP
.B steelyard clean
removes the shared memory of runs that died.
.PP
.B steelyard options
lists the options below. With TOPIC, such as
.B cores
or
.BR max\-threads ,
it lists only the options of this capability or name.
.SH OPTIONS
.B run
and
.B doctor
take the same options. The command line takes precedence over the environment, and the environment over the file that
.B \-\-config
names. A switch without a value means on:
.B \-\-observe
is
.BR \-\-observe=on .
)";

constexpr std::string_view manual_after = R"(.SH EXIT STATUS
.B steelyard run
ends with the exit status of the program, with 125 if Steelyard refuses to start it, with 126 if it cannot be run, and
with 127 if it is not found.
.PP
The other commands end with 0 on success and with 2 for wrong usage.
.B steelyard doctor
ends with 1 if it reports a problem,
.B steelyard report
with 1 if a record cannot be read and with 3 if a Python package is missing,
.B steelyard cores
with 1 if a request is refused and with 3 if it has not taken effect yet.
.SH FILES
.TP
.I steelyard\-run.json
The record of the last run in this directory, unless
.B \-\-record
names another file.
.SH EXAMPLES
.nf
mpirun \-n 8 steelyard run ./app input.dat
mpirun \-n 8 steelyard run \-\-observe ./app
srun steelyard run \-\-record=run.json ./app
steelyard report run.json \-\-full
steelyard report run.json \-\-html=run.html
.fi
.SH SEE ALSO
.BR steelyard\-tutorial (7),
.BR steelyard\-why (7),
.BR steelyard\-record (5),
.BR steelyard.h (3),
.BR steelyard_phases (3),
.BR steelyard_loops (3),
.BR steelyard_tasks (3),
.BR steelyard_collectives (3)
)";

std::string paragraph(std::string_view text) { return wrapped(text, 0); }

std::string row_of(const Option& option) {
  return wrapped(fmt::format("--{}={} [{}]", option.name, option.value_name(), default_of(option)), 2) +
         wrapped(option.doc, 6);
}

std::string rows_of(std::initializer_list<std::string_view> names) {
  std::string result;
  for (const auto name : names) result += row_of(*base::find_option(name));
  return result;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent) {
  constexpr std::size_t kWidth = 100;  // Size: characters of a line
  std::string result;
  for (const std::string& line : observe::wrapped(std::string(indent, ' '), text, kWidth, SIZE_MAX))
    result += line + '\n';
  return result;
}

std::string options_page() {
  const auto heading = [](std::string_view group) { return fmt::format("\n{}\n", group); };
  return paragraph(
             "Set an option on the command line of `steelyard run` (--name=value), in the environment "
             "(STEELYARD_NAME=value, with _ for -) or in the TOML file that --config names (name = value). The command "
             "line takes precedence over the environment, and the environment over the file. A switch without a value "
             "means on.") +
         for_each_option(heading, row_of, kEach);
}

base::Status options_about(std::string topic, std::string& page) {
  std::ranges::transform(topic, topic.begin(), [](unsigned char c) { return c == '_' ? '-' : std::tolower(c); });
  if (constexpr std::string_view prefix = "steelyard-"; topic.starts_with(prefix)) topic.erase(0, prefix.size());
  const auto heading = [](std::string_view group) { return fmt::format("\n{}\n", group); };
  page = for_each_option(heading, row_of, [&](const Option& option) {
    return option.name == topic || has_part(option.name, topic) || has_part(option.group, topic);
  });
  if (!page.empty()) {
    page.erase(0, 1);  // the blank line before the first heading
    return {};
  }
  if (topic == "tasks" || topic == "phases") {
    return base::Status::failure(
        fmt::format("{0} have no options: the program sets them in its calls (steelyard/{0}.h)", topic));
  }
  return base::Status::failure(base::unknown_word("topic", topic, topics(), "`steelyard options` lists all options"));
}

std::string run_help() {
  return "usage: mpirun -n N steelyard run [options] ./app [arguments]\n\n" +
         paragraph(
             "Runs a program as one rank of an MPI job. Steelyard measures its load imbalance and corrects it while "
             "the program runs. The program needs no change, and its exit status is passed on.") +
         "\nThe options that most users need, with their defaults\n" +
         rows_of({"observe", "cores", "lending", "loops", "collectives", "thread-ids", "record", "summary"}) +
         "\nExamples\n"
         "  mpirun -n 8 steelyard run ./app input.dat\n"
         "      Correct load imbalance, print a summary and write the run record.\n"
         "  mpirun -n 8 steelyard run --observe --record=before.json ./app input.dat\n"
         "      Only measure it, to compare a later run with this one.\n"
         "\n`steelyard options` lists all options.\n";
}

std::string doctor_help() {
  return "usage: steelyard doctor [options] ./app\n\n" +
         paragraph(
             "Reports, without starting the program, what Steelyard can measure and change in it, what it cannot, and "
             "why. Run it in the place and with the environment of the job, such as in the job script: the report "
             "covers the launcher, the CPUs of the job and preloaded libraries, too.") +
         "\n" +
         paragraph(
             "It takes the options of `steelyard run`, and reports what they would do. These change the report, shown "
             "with their defaults:") +
         rows_of({"thread-ids", "thread-local-data", "loops", "openmp"}) +
         "\nExamples\n"
         "  steelyard doctor ./app\n"
         "  steelyard doctor --verbose ./app\n"
         "\nExit status: 0 if Steelyard can work with the program, 1 if it reports a problem, 2 for wrong usage.\n";
}

std::string options_manual() {
  const auto heading = [](std::string_view group) { return fmt::format(".SS {}\n", roff(group)); };
  const auto row = [](const Option& option) {
    return fmt::format(".TP\n\\fB\\-\\-{}\\fR=\\fI{}\\fR\n{}\nDefault: {}. Environment: \\fB{}\\fR.\n",
                       roff(option.name), roff_values(option.value_name()), roff(option.doc), roff(default_of(option)),
                       option.variable());
  };
  return ".TH STEELYARD 1 \"\" \"Steelyard " STEELYARD_VERSION "\" \"User commands\"\n" + std::string(manual_before) +
         for_each_option(heading, row, kEach) + std::string(manual_after);
}

}  // namespace steelyard::cli
