#include "cli/options_page.h"

#include <fmt/format.h>

#include <string_view>

#include "base/options.h"

namespace steelyard::cli {
namespace {

using base::Option;
using base::Options;

std::string default_of(const Option& option) {
  const auto text = base::text_of(Options(), option);
  return option.unit.empty() || text == option.unset ? text : fmt::format("{} {}", text, option.unit);
}

/// Breaks at blanks, so that no line is longer than `width`; every line begins with `indent` blanks.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t column = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    if (column && column + 1 + word.size() > width) {
      result += '\n';
      column = 0;
    }
    result += column ? " " : std::string(indent, ' ');
    result += word;
    column = (column ? column + 1 : indent) + word.size();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result + '\n';
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

/// `row` for each option that users can set, `heading` before each group of them.
template <typename Heading, typename Row>
std::string for_each_option(Heading heading, Row row) {
  std::string result;
  std::string_view group;
  for (const auto& option : base::option_table()) {
    if (option.internal) continue;
    if (option.group != group) result += heading(option.group);
    group = option.group;
    result += row(option);
  }
  return result;
}

}  // namespace

std::string options_page() {
  const auto start = wrapped(
      "Each option can be given as --name=value to `steelyard run`, as the variable STEELYARD_NAME (with _ "
      "for -) and as `name = value` in the TOML file that --config names; the first of these that is "
      "there wins. A switch alone means on.",
      0, 100);
  const auto heading = [](std::string_view group) { return fmt::format("\n{}\n", group); };
  const auto row = [](const Option& option) {
    return wrapped(fmt::format("--{}={} [{}]", option.name, option.value_name(), default_of(option)), 2, 100) +
           wrapped(option.doc, 6, 100);
  };
  return start + for_each_option(heading, row);
}

std::string options_manual() {
  const auto heading = [](std::string_view group) { return fmt::format(".SS {}\n", roff(group)); };
  const auto row = [](const Option& option) {
    return fmt::format(".TP\n\\fB\\-\\-{}\\fR=\\fI{}\\fR\n{}\nDefault: {}. Environment: \\fB{}\\fR.\n",
                       roff(option.name), roff_values(option.value_name()), roff(option.doc), roff(default_of(option)),
                       option.variable());
  };
  return ".TH STEELYARD 1 \"\" \"Steelyard " STEELYARD_VERSION
         "\" \"User commands\"\n"
         // Neither spread nor hyphenated: names are to be searched for and copied.
         ".ad l\n.nh\n"
         ".SH NAME\nsteelyard \\- restores balance in running MPI+OpenMP programs\n"
         ".SH SYNOPSIS\n.B mpirun\n\\-n N\n.B steelyard run\n[OPTIONS] [\\-\\-] PROGRAM [ARGUMENTS]\n"
         ".br\n.B steelyard doctor\n[OPTIONS] PROGRAM\n"
         ".br\n.B steelyard report\n[\\-\\-full | \\-\\-json] [RECORD]\n"
         ".br\n.B steelyard report\n[\\-\\-html=FILE] [\\-\\-perfetto=FILE] [\\-\\-paraver=FILE] [\\-\\-talp=FILE] [RECORD]\n"
         ".br\n.B steelyard report\n[\\-\\-html=FILE] RECORD RECORD\n"
         ".br\n.B steelyard top\n[\\-\\-once] [\\-\\-json]\n"
         ".br\n.B steelyard clean\n.br\n.B steelyard options\n"
         ".SH DESCRIPTION\n"
         ".B steelyard run\nstarts a program as one rank of an MPI job and weighs it. It moves and lends cores between the ranks of "
         "a node, moves iterations of loops between the threads of a rank, and takes late ranks out of the way of broadcasts. It "
         "ends with a verdict: who waited for whom, what was moved, whether it helped, or why nothing was moved. "
         "The program needs no change; its exit status is passed on.\n.PP\n"
         ".B steelyard doctor\nsays what would be intercepted in a program, what not, and why; it starts nothing.\n.PP\n"
         ".B steelyard report\nprints the verdict of a run record again, with all tables by\n.B \\-\\-full\nor as JSON by\n"
         ".BR \\-\\-json .\nIt writes a page about the run by\n.BR \\-\\-html ,\ntraces for the Perfetto UI and for Paraver by\n"
         ".B \\-\\-perfetto\nand\n.BR \\-\\-paraver ,\nand what talp\\-pages reads by\n.BR \\-\\-talp .\nTwo records are "
         "compared. Pages, traces and comparisons need Python and some packages; where one is missing, it says how to get it.\n.PP\n"
         ".B steelyard top\nshows what runs under Steelyard on this node: ranks, cores, efficiency and the latest decisions, each "
         "second, or once by\n.BR \\-\\-once .\n.PP\n"
         ".B steelyard clean\nremoves shared memory of runs that died.\n"
         ".SH OPTIONS\nOf\n.B run\nand\n.BR doctor .\nThe command line wins over the environment, and that over the file named "
         "by\n.BR \\-\\-config .\nA switch alone means on:\n.B \\-\\-observe\nis\n.BR \\-\\-observe=on .\n" +
         for_each_option(heading, row) +
         ".SH EXIT STATUS\nThat of the program. 125 where Steelyard refuses to start it, 126 where it cannot be run, 127 where "
         "it is not found.\n.PP\nThe other commands end with 0 where all went well, and with 2 where they were called wrongly.\n"
         ".B steelyard doctor\nends with 1 where it names a problem;\n.B steelyard report\nwith 1 where a record cannot be read, and "
         "with 3 where a Python package is missing.\n"
         ".SH FILES\n.TP\n.I steelyard\\-run.json\nThe record of the last run in this directory, unless\n.B \\-\\-record\nnames "
         "another.\n"
         ".SH EXAMPLES\n.nf\nmpirun \\-n 8 steelyard run ./app input.dat\nmpirun \\-n 8 steelyard run \\-\\-observe ./app\n"
         "srun steelyard run \\-\\-record=run.json ./app\nsteelyard report run.json \\-\\-full\n"
         "steelyard report run.json \\-\\-html=run.html\n.fi\n"
         ".SH SEE ALSO\n.BR steelyard\\-tutorial (7),\n.BR steelyard\\-why (7),\n.BR steelyard\\-record (5),\n"
         ".BR steelyard.h (3),\n.BR steelyard_phases (3),\n.BR steelyard_loops (3),\n.BR steelyard_tasks (3),\n"
         ".BR steelyard_collectives (3)\n";
}

}  // namespace steelyard::cli
