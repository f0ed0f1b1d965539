#include "base/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/log.h"
#include "base/nearest.h"

namespace steelyard::base {
namespace {

/// Needed before main() and while the process exits: made at first use, never destroyed.
const Options& defaults() {
  static const auto& options = *new Options;
  return options;
}

template <auto member>
Choice choice_of() {
  using Enumeration = std::remove_cvref_t<decltype(std::declval<Options>().*member)>;
  return {[](const Options& options) { return static_cast<int>(options.*member); },
          [](Options& options, int index) { options.*member = static_cast<Enumeration>(index); }};
}

/// A heading of the options page and the rows under it.
class Group {
 public:
  Group(std::vector<Option>& table, std::string_view name) : table_(table), name_(name) {}
  void on_off(std::string_view name, bool Options::* member, std::string_view doc) { add(name, doc, member); }
  void text(std::string_view name, std::string Options::* member, std::string_view placeholder, std::string_view doc) {
    add(name, doc, member).placeholder = placeholder;
  }
  void integer(std::string_view name, long Options::* member, long least, long most, std::string_view unit,
               std::string_view doc) {
    Option& option = add(name, doc, member);
    option.least = least;
    option.most = most;
    option.unit = unit;
  }
  void choice(std::string_view name, Choice member, std::vector<std::string_view> choices, std::string_view doc) {
    add(name, doc, member).choices = std::move(choices);
  }

 private:
  Option& add(std::string_view name, std::string_view doc, decltype(Option::member) member) {
    Option& option = table_.emplace_back();
    option.name = name;
    option.group = name_;
    option.doc = doc;
    option.member = member;
    option.internal = name_ == "Internal";
    return option;
  }
  std::vector<Option>& table_;
  std::string_view name_;
};

std::vector<Option> make_table() {
  std::vector<Option> table;

  Group what(table, "What is done");
  what.on_off("observe", &Options::observe, "only weigh: no core is moved and none is lent");
  what.on_off("cores", &Options::cores, "move cores from ranks that wait to ranks that are waited for");
  what.on_off("lending", &Options::lending,
              "lend the cores of a rank that sits in a blocking MPI call for as long as it sits there");
  what.choice(
      "collectives", choice_of<&Options::collectives>(), {"auto", "on", "called", "off"},
      "broadcasts and scatters in which a late rank holds up no other: auto takes over those of a communicator whose "
      "ranks are seen to wait less so, on every MPI_Bcast and MPI_Scatter, called only the broadcasts that the program "
      "makes as steelyard_bcast(), off none");

  Group when(table, "When and where cores move");
  when.integer("balance-every", &Options::balance_every, 0, 1'000'000'000, "phases",
               "balance at each n-th phase instead of when the measured loads say so; 0 decides from the loads");
  when.integer("balance-at", &Options::balance_at, 0, 1'000'000'000, "phases",
               "balance once, at the end of this phase; 0 decides from the loads");
  when.choice("domain", choice_of<&Options::domain>(), {"auto", "package", "numa", "l3", "node"},
              "the part of the node that one rank may not span");
  when.integer("max-threads", &Options::max_threads, 0, 4096, "threads",
               "the most threads that a rank may grow to; 0 decides from the node");
  when.choice(
      "thread-local", choice_of<&Options::thread_local_data>(), {"auto", "keep", "resize"},
      "whether the thread counts of a program with thread-local data of its own may change: auto keeps them, resize "
      "changes them (threadprivate data is then lost or new where a count changes), keep keeps those of any program");
  when.choice(
      "thread-numbers", choice_of<&Options::thread_numbers>(), {"auto", "keep", "resize"},
      "regions whose threads query their ID or their number: auto changes their thread count if each query is proved to be "
      "that of a static loop that gcc divides among threads, or of master; keep keeps their thread count as it is without "
      "Steelyard; resize changes it in any case (an array that the program sizes by a thread count and indexes by thread IDs "
      "then overflows)");
  when.on_off("smt", &Options::smt,
              "let ranks grow to as many threads as the node has hardware threads instead of cores; a rank that starts "
              "with more threads than cores has second hardware threads in any case");

  Group loops(table, "How loops are divided among threads");
  loops.choice(
      "loops", choice_of<&Options::loops>(),
      {"auto", "static", "hybrid", "tuned", "slack", "staggered", "combined", "guided", "factoring", "steal",
       "adaptive", "off"},
      "how loops with schedule(dynamic), guided, runtime or clang's auto are divided, and Steelyard's own that name no "
      "strategy: auto chooses by measurement, for each loop by itself; off leaves the program's own loops to the OpenMP "
      "runtime");
  loops.integer("loops-static", &Options::loops_static, 0, 100, "%",
                "the static part of a loop's iterations, for hybrid and staggered");
  loops.integer("loops-chunk", &Options::loops_chunk, 0, 1L << 62, "iterations",
                "iterations that a thread takes at a time, at least; 0 decides from their measured cost");
  loops.on_off(
      "loops-reweigh", &Options::loops_reweigh,
      "divide plain static loops that clang has compiled by what each thread needed for its part: threads then "
      "have other iterations than without Steelyard, the same in all loops of a region with equally many");
  loops.integer(
      "virtual-threads", &Options::virtual_threads, 0, 64, "threads",
      "divide plain static loops that gcc has compiled into so many chunks for each thread, one for each of its "
      "virtual threads, which threads that are done early take from others; 0: only in regions to which lent cores come");
  loops.text(
      "learn", &Options::learn, "PATH",
      "a file in which what is learnt of loops is kept from run to run; of several ranks each has its own, PATH.RANK");
  loops.text(
      "replay", &Options::replay, "PATH",
      "repeat the assignments of iterations to threads of a file that `learn` has written, so that each thread runs the same ones in each run");

  Group broadcasts(table, "How broadcasts go between nodes");
  broadcasts.choice(
      "broadcast-tree", choice_of<&Options::broadcast_tree>(), {"auto", "sort", "swap", "binomial", "library"},
      "sort makes late nodes the leaves of the tree, swap exchanges two at a time (the rule of Soga et al.), binomial "
      "never changes, library leaves all to the MPI library; auto is sort where somebody is late");
  broadcasts.integer("broadcast-every", &Options::broadcast_every, 1, 1'000'000, "broadcasts",
                     "the least number of broadcasts from one change of the tree to the next");
  broadcasts.integer("broadcast-threshold", &Options::broadcast_threshold, 0, 1'000'000'000, "us",
                     "how late a node must be, or how much its wait must change, to count");

  Group waiting(table, "How ranks and threads wait");
  waiting.choice("wait", choice_of<&Options::wait>(), {"sleep", "poll"},
                 "what a rank does in a blocking MPI call: sleep leaves the core to others, poll is what MPI does");
  waiting.integer("spin", &Options::spin, 0, 1'000'000, "us",
                  "the longest time that a waiting rank spins before it sleeps");
  waiting.integer(
      "blocktime", &Options::blocktime, 0, 10'000'000, "us",
      "how long idle OpenMP threads spin before they sleep; OMP_WAIT_POLICY and the runtime's own KMP_BLOCKTIME or "
      "GOMP_SPINCOUNT take precedence");

  Group start(table, "How the program is started");
  start.choice("openmp", choice_of<&Options::openmp>(), {"keep", "llvm"},
               "the OpenMP runtime of a program that uses GNU's: keep leaves it, llvm loads LLVM's in its place");
  start.text("emulate", &Options::emulate, "TOPOLOGY",
             "pretend to run on a node of this synthetic hwloc topology, such as \"package:2 core:24 pu:1\"");
  start.integer(
      "node-ranks", &Options::node_ranks, 0, 1'000'000, "ranks",
      "pretend that so many ranks of a node are a node of their own, to see on one what happens between them; 0 "
      "takes nodes as they are");
  start.text("config", &Options::config, "PATH", "a TOML file of options, one `name = value` a line");

  Group output(table, "What is written");
  output.text("record", &Options::record, "PATH", "the run record; none writes none");
  output.on_off("verdict", &Options::verdict, "print the verdict at the end of the run");
  output.integer("timeline", &Options::timeline, 0, 1'000'000, "samples",
                 "samples kept of each rank; each takes 64 bytes of its memory, and 24 to 35 in the run record");
  output.on_off("verbose", &Options::verbose, "say what is being done and why");

  Group internal(table, "Internal");
  internal.on_off("internal-launched", &Options::launched, "started by steelyard run");
  internal.text("internal-preload", &Options::preload, "PATH", "LD_PRELOAD as the user had it");
  internal.on_off("internal-counts-set", &Options::counts_set, "the user has set OMP_NUM_THREADS");
  internal.on_off("internal-schedule-set", &Options::schedule_set, "the user has set OMP_SCHEDULE");
  internal.integer("internal-thread-local", &Options::thread_local_bytes, 0, 1L << 62, "bytes",
                   "thread-local data of the executable");
  internal.on_off("internal-kmp-blocktime-set", &Options::kmp_blocktime_set,
                  "KMP_BLOCKTIME is Steelyard's, not the user's");
  internal.on_off("internal-gomp-spincount-set", &Options::gomp_spincount_set,
                  "GOMP_SPINCOUNT is Steelyard's, not the user's");
  internal.text("internal-mask", &Options::mask, "CPUS", "the CPUs that the launcher gave to the process");
  internal.text("internal-program", &Options::program, "PATH", "the executable that steelyard run starts");
  internal.text("internal-command", &Options::command, "TEXT", "program and arguments");
  internal.text("internal-slurm-job", &Options::slurm_job, "TEXT", "the job of Slurm that the program is started in");
  internal.text("internal-slurm-step", &Options::slurm_step, "TEXT", "its step");
  internal.text("internal-slurm-nodes", &Options::slurm_nodes, "TEXT", "its nodes, as Slurm writes them");
  return table;
}

std::string variable_name(const Option& option) { return option.variable(); }

/// All that a user can set, as a source of options writes it.
std::vector<std::string> names(std::string (*shape)(const Option&)) {
  std::vector<std::string> result;
  for (const auto& option : option_table()) {
    if (!option.internal) result.push_back(shape(option));
  }
  return result;
}

std::vector<std::string_view> pieces(std::string_view text, char separator) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    result.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

/// False where the text is not a value of this kind.
bool assign_switch(bool& value, std::string_view text) {
  const bool on = text == "on" || text == "1" || text == "true" || text == "yes";
  if (!on && text != "off" && text != "0" && text != "false" && text != "no") return false;
  value = on;
  return true;
}

bool assign_integer(long& value, std::string_view text, long least, long most) {
  long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) return false;
  value = number;
  return true;
}

}  // namespace

std::vector<std::string> Options::command_line() const {
  const auto words = pieces(command, '\x1f');
  return {words.begin(), words.end()};
}

std::string Option::variable() const {
  std::string result = "STEELYARD_";
  for (const char c : name) result += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return result;
}

std::string Option::value_name() const {
  if (is_switch()) return "on|off";
  if (!choices.empty()) return fmt::format("{}", fmt::join(choices, "|"));
  return placeholder.empty() ? "N" : std::string(placeholder);
}

std::string Option::allowed() const {
  if (is_switch()) return "on or off";
  if (!choices.empty()) return fmt::format("one of {}", fmt::join(choices, ", "));
  if (std::holds_alternative<long Options::*>(member))
    return fmt::format("an integer from {} to {} ({})", least, most, unit);
  return "a text that is not empty";
}

const std::vector<Option>& option_table() {
  static const auto& table = *new std::vector<Option>(make_table());
  return table;
}

const Option* find_option(std::string_view name) {
  for (const auto& option : option_table()) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

std::string text_of(const Options& options, const Option& option) {
  if (const auto* choice = std::get_if<Choice>(&option.member)) {
    return std::string(option.choices[static_cast<std::size_t>(choice->get(options))]);
  }
  if (const auto* flag = std::get_if<bool Options::*>(&option.member)) return options.*(*flag) ? "on" : "off";
  if (const auto* number = std::get_if<long Options::*>(&option.member)) return std::to_string(options.*(*number));
  return options.*std::get<std::string Options::*>(option.member);
}

Status assign(Options& options, const Option& option, std::string_view text, std::string_view where) {
  bool valid = false;
  if (const auto* choice = std::get_if<Choice>(&option.member)) {
    for (std::size_t i = 0; i < option.choices.size() && !valid; ++i) {
      valid = option.choices[i] == text;
      if (valid) choice->set(options, static_cast<int>(i));
    }
  } else if (const auto* flag = std::get_if<bool Options::*>(&option.member)) {
    valid = assign_switch(options.*(*flag), text);
  } else if (const auto* number = std::get_if<long Options::*>(&option.member)) {
    valid = assign_integer(options.*(*number), text, option.least, option.most);
  } else {
    const auto value = std::get<std::string Options::*>(option.member);
    valid = !text.empty() || (defaults().*value).empty();
    if (valid) options.*value = text;
  }
  if (valid) return {};
  return Status::failure(fmt::format("{} is '{}'; it must be {}", where, text, option.allowed()));
}

std::string unknown_name(std::string_view kind, std::string_view seen, std::string (*shape)(const Option&)) {
  const auto known = names(shape);
  const auto meant = nearest(seen, {known.begin(), known.end()});
  if (meant.empty()) return fmt::format("unknown {} {}; `steelyard options` lists all", kind, seen);
  return fmt::format("unknown {} {}; did you mean {}?", kind, seen, meant);
}

void override_from(const Environment& environment, Options& options, std::vector<std::string>& complaints) {
  for (const auto& option : option_table()) {
    const auto variable = option.variable();
    const auto text = value_of(environment, variable);
    if (text.empty()) continue;
    if (const auto status = assign(options, option, text, variable); !status) complaints.push_back(status.sentence());
  }
}

std::vector<std::string> unknown_variables(const Environment& environment) {
  std::vector<std::string> sentences;
  constexpr std::string_view prefix = "STEELYARD_";
  for (auto entry = environment.lower_bound(prefix); entry != environment.end() && entry->first.starts_with(prefix);
       ++entry) {
    const auto known = [&](const Option& option) { return option.variable() == entry->first; };
    if (std::none_of(option_table().begin(), option_table().end(), known)) {
      sentences.push_back(unknown_name("environment variable", entry->first, variable_name));
    }
  }
  return sentences;
}

std::map<std::string, std::string> exported(const Options& options) {
  std::map<std::string, std::string> variables;
  for (const auto& option : option_table()) {
    const auto text = text_of(options, option);
    variables[option.variable()] = text == text_of(defaults(), option) ? "" : text;
  }
  return variables;
}

std::map<std::string, std::string> described(const Options& options) {
  std::map<std::string, std::string> values;
  for (const auto& option : option_table()) {
    if (!option.internal) values.emplace(option.name, text_of(options, option));
  }
  return values;
}

const Options& options() {
  static const Options& resolved = []() -> const Options& {
    auto& mine = *new Options;
    std::vector<std::string> complaints;
    override_from(environment(), mine, complaints);
    for (const auto& complaint : complaints) warn(complaint);
    return mine;
  }();
  return resolved;
}

}  // namespace steelyard::base
