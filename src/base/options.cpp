// SPDX-License-Identifier: BSD-3-Clause
#include "base/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/log.h"
#include "base/nearest.h"
#include "base/renamed_options.h"
#include "base/split.h"

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
  /// A text that the user may leave out, by the word `none`, or by `off` as for switches.
  void text(std::string_view name, std::string Options::* member, std::string_view placeholder, std::string_view doc) {
    Option& option = add(name, doc, member);
    option.placeholder = placeholder;
    if (!option.internal) option.unset = "none";
  }
  void integer(std::string_view name, long Options::* member, long least, long most, std::string_view unit,
               std::string_view doc) {
    Option& option = add(name, doc, member);
    option.least = least;
    option.most = most;
    option.unit = unit;
  }
  /// An integer from `if_unset` + 1 to `most`, or the word `auto`, which the program sees as `if_unset`.
  void integer_or_auto(std::string_view name, long Options::* member, long most, std::string_view unit,
                       std::string_view doc, long if_unset = 0) {
    integer(name, member, if_unset + 1, most, unit, doc);
    table_.back().unset = "auto";
    table_.back().if_unset = if_unset;
  }
  void real(std::string_view name, double Options::* member, double lowest, double highest,
            std::string_view placeholder, std::string_view unit, std::string_view doc) {
    Option& option = add(name, doc, member);
    option.lowest = lowest;
    option.highest = highest;
    option.placeholder = placeholder;
    option.unit = unit;
  }
  Option& choice(std::string_view name, Choice member, std::vector<std::string_view> choices, std::string_view doc) {
    Option& option = add(name, doc, member);
    option.choices = std::move(choices);
    return option;
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

void add_capability_options(std::vector<Option>& table) {
  Group capabilities(table, "What Steelyard does");
  capabilities.on_off(
      "observe", &Options::observe,
      "Measure only: no core is moved or lent, and loops and collectives stay as they are without Steelyard.");
  Option& cores = capabilities.choice(
      "cores", choice_of<&Options::cores>(), {"on", "sabo", "off"},
      "Move cores from ranks that wait to ranks on the critical path. on: where a gain is forecast and then measured. "
      "sabo: by the rule of the SABO paper, in each step or as --balance-every or --balance-at say. off: never; "
      "cores are not lent either.");
  cores.on_alone = true;
  capabilities.on_off(
      "lending", &Options::lending,
      "Lend a rank's cores to other ranks of its node while it blocks in MPI or waits for an accelerator.");
  capabilities.choice(
      "collectives", choice_of<&Options::collectives>(), {"auto", "on", "called", "off"},
      "Deliver broadcasts and scatters so that a late rank delays no other rank. auto: only for communicators whose "
      "ranks are measured to wait less. on: for every MPI_Bcast and MPI_Scatter. called: only for calls of "
      "steelyard_bcast(). off: never.");
}

void add_decision_options(std::vector<Option>& table) {
  Group decisions(table, "How Steelyard decides");
  decisions.real("confidence", &Options::confidence, 0.5, 0.9999, "LEVEL", "probability",
                 "The level of the run's confidence intervals. They decide whether a move of cores has helped, whether "
                 "threads that join a running region late pay, and which loop strategy, configuration of an autotuned "
                 "phase or delivery of broadcasts is faster. A higher level makes fewer of these decisions wrong, and "
                 "needs more measurements for each. Whether a move is tried depends on its forecast alone.");
  decisions.real(
      "exploration", &Options::exploration, 0, 0.5, "SHARE", "share of the run time",
      "The share of the run time that trials of slower candidates may cost, such as loop strategies, "
      "configurations of autotuned phases and deliveries of broadcasts. Smaller gains are not searched for.");
}

void add_cores_options(std::vector<Option>& table) {
  Group cores(table, "When and where cores move");
  cores.integer_or_auto("balance-every", &Options::balance_every, 1'000'000'000, "steps",
                        "Rebalance cores every N steps of the main loop. auto: when the measured loads call for it.");
  cores.integer_or_auto(
      "balance-at", &Options::balance_at, 1'000'000'000, "steps",
      "Rebalance cores once, after step N of the main loop. auto: when the measured loads call for it.");
  cores.choice("cores-domain", choice_of<&Options::cores_domain>(), {"auto", "package", "numa", "l3", "node"},
               "The largest part of the node that the cores of one rank may span, unless the rank spans more at its "
               "start. auto: the package (socket).");
  cores.integer_or_auto("max-threads", &Options::max_threads, 4096, "threads",
                        "The maximum number of OpenMP threads of a rank. auto: the number of cores of its node.");
  cores.choice(
      "thread-local-data", choice_of<&Options::thread_local_data>(), {"auto", "keep", "resize"},
      "Whether thread counts change in a program with thread-local data, such as threadprivate variables. auto: "
      "they change only if the executable has none. keep: they never change. resize: they change in any case; "
      "threadprivate data is then lost or uninitialised wherever a thread count changes.");
  cores.choice(
      "thread-ids", choice_of<&Options::thread_ids>(), {"auto", "keep", "resize"},
      "Whether thread counts change in regions that query thread IDs (omp_get_thread_num). auto: only if every "
      "query is proved to belong to a static loop of gcc or to a master construct. keep: never. resize: always, also "
      "where a region shares out no work; an array that the program sizes by a thread count and indexes by thread IDs "
      "then overflows.");
  cores.on_off(
      "smt", &Options::smt,
      "Let ranks grow to the number of hardware threads of the node instead of its cores. Ranks that start with more "
      "threads than cores use hardware threads in any case.");
}

void add_loops_options(std::vector<Option>& table) {
  Group loops(table, "How loops are divided among threads");
  const auto with_off = [](std::vector<std::string_view> names) {
    names.emplace_back("off");
    return names;
  };
  static const auto& doc = *new std::string([] {
    std::vector<std::string> shorts;
    for (const auto& [name, index] : short_strategy_names())
      shorts.push_back(fmt::format("{} for {}", name, strategy_names()[static_cast<std::size_t>(index)]));
    return fmt::format(
        "The strategy for loops with schedule(dynamic), schedule(guided), schedule(runtime) or clang's schedule(auto), "
        "and for Steelyard loops that name no strategy. auto: for each loop, the strategy that is fastest in "
        "measurements. off: the OpenMP runtime divides the program's loops. Short names: {}.",
        fmt::join(shorts, ", "));
  }());
  Option& strategy = loops.choice("loops", choice_of<&Options::loops>(), with_off(strategy_names()), doc);
  strategy.grammar = with_off(strategy_grammar());
  strategy.short_names = short_strategy_names();
  loops.integer("loops-static-percent", &Options::loops_static_percent, 0, 100, "%",
                "The share of a loop's iterations that the strategy hybrid assigns statically, without tuned.");
  loops.integer_or_auto(
      "loops-chunk", &Options::loops_chunk, 1L << 62, "iterations",
      "The minimum number of iterations that a thread takes at a time. auto: from their measured cost.");
  loops.integer_or_auto(
      "virtual-threads", &Options::virtual_threads, 64, "threads",
      "Divide gcc's static loops into N chunks per thread; threads that finish early take over chunks of "
      "other threads. auto: only in regions that borrow cores.");
  loops.text(
      "loops-learn", &Options::loops_learn, "PATH",
      "Keep what is measured about loops in this file, for later runs. With several ranks, each rank writes its own "
      "file, PATH.RANK.");
  loops.text(
      "loops-replay", &Options::loops_replay, "PATH",
      "Assign iterations to threads as recorded in a file of --loops-learn, so that each thread executes the same "
      "iterations in every run.");
}

void add_collectives_options(std::vector<Option>& table) {
  Group collectives(table, "How broadcasts travel between nodes");
  collectives.choice("collectives-tree", choice_of<&Options::collectives_tree>(),
                     {"auto", "sort", "swap", "binomial", "library", "soga"},
                     "The tree of nodes. sort: late nodes become leaves. swap: pairs of nodes exchange places. "
                     "soga: the same by the rule of Soga et al. as printed, to compare with. "
                     "binomial: the tree never changes. library: the MPI library delivers all broadcasts between "
                     "nodes. auto: sort where "
                     "nodes are late, otherwise the MPI library.");
  collectives.integer("collectives-tree-every", &Options::collectives_tree_every, 1, 1'000'000, "broadcasts",
                      "The minimum number of broadcasts between two changes of the tree.");
  collectives.integer("collectives-tree-threshold", &Options::collectives_tree_threshold, 0, 1'000'000'000, "us",
                      "Ignore delays of a node, and changes in its wait, that are shorter than this.");
}

void add_waiting_options(std::vector<Option>& table) {
  Group waiting(table, "How ranks and threads wait");
  waiting.choice(
      "wait", choice_of<&Options::wait>(), {"sleep", "poll"},
      "What a rank does in a blocking MPI call. sleep: it leaves its core to other ranks; where it has none to lend, "
      "it lets them go first, and sleeps in long waits. poll: it polls, as the MPI library does.");
  waiting.integer("spin", &Options::spin, 0, 1'000'000, "us",
                  "How long a waiting rank spins before it lends its cores.");
  waiting.integer_or_auto(
      "blocktime", &Options::blocktime, 10'000'000, "us",
      "How long idle OpenMP threads spin before they sleep, in us (KMP_BLOCKTIME: in ms). auto: 100 us, or 0 if the "
      "ranks, or the threads of OMP_NUM_THREADS, are more than the CPUs that they may use. With --observe or "
      "--cores=off, and with one rank on the node by LLVM's runtime, it is as without Steelyard. OMP_WAIT_POLICY, "
      "KMP_BLOCKTIME and GOMP_SPINCOUNT take precedence.",
      Options().blocktime);
}

void add_start_options(std::vector<Option>& table) {
  Group start(table, "How the program is started");
  start.choice("openmp", choice_of<&Options::openmp>(), {"keep", "llvm"},
               "The OpenMP runtime of programs that are linked with GNU's. keep: GNU's. llvm: LLVM's takes its place.");
  start.choice(
      "mpi", choice_of<&Options::mpi>(), {"auto", "openmpi", "mpich", "abi"},
      "The MPI of a program that loads MPI later, such as a Python script with mpi4py, and of programs that a "
      "script or a wrapper starts. auto: the MPI of the launcher. abi: the MPI standard's ABI (libmpi_abi.so), "
      "of any MPI. Has no effect on a program that is linked "
      "with MPI.");
  start.text("config", &Options::config, "PATH", "Read options from this TOML file, one `name = value` per line.");
}

void add_output_options(std::vector<Option>& table) {
  Group output(table, "What Steelyard writes");
  output.text(
      "record", &Options::record, "PATH|auto",
      "Write the run record to this file. auto: steelyard-run.json or, in a job of Slurm, PBS, LSF or Flux, "
      "steelyard-run.JOBID.json. If that file exists, -2, -3 and so on is added to its name. none, or off: no record "
      "is written.");
  output.on_off("summary", &Options::summary, "Print the summary at the end of the run.");
  output.integer(
      "timeline-samples", &Options::timeline_samples, 0, 1'000'000, "samples",
      "The number of samples in the timeline of each rank; 0: no timeline. A sample takes 72 bytes of the rank's "
      "memory, and 24 to 40 bytes of the run record.");
  output.on_off("verbose", &Options::verbose,
                "Print the preloaded libraries and the path of the program before it starts.");
}

void add_testing_options(std::vector<Option>& table) {
  Group testing(table, "Testing");
  testing.integer_or_auto(
      "ranks-per-node", &Options::ranks_per_node, 1'000'000, "ranks",
      "Treat every N ranks of a node as a node of their own, to test on one node what happens between "
      "nodes. auto: nodes as they are.");
  testing.text("emulate", &Options::emulate, "TOPOLOGY",
               "Emulate a node of this synthetic hwloc topology, such as \"package:2 core:24 pu:1\".");
}

void add_internal_options(std::vector<Option>& table) {
  Group internal(table, "Internal");
  internal.text("internal-record", &Options::record_if_auto, "PATH", "the run record of --record=auto");
  internal.on_off("internal-launched", &Options::launched, "started by steelyard run");
  internal.text("internal-preload", &Options::preload, "PATH", "LD_PRELOAD as the user had it");
  internal.on_off("internal-counts-set", &Options::counts_set, "the user has set OMP_NUM_THREADS");
  internal.on_off("internal-schedule-set", &Options::schedule_set, "the user has set OMP_SCHEDULE");
  internal.integer("internal-thread-local", &Options::thread_local_bytes, 0, 1L << 62, "bytes",
                   "thread-local data of the executable");
  internal.on_off("internal-blocktime-chosen", &Options::blocktime_chosen, "--blocktime is Steelyard's choice");
  internal.on_off("internal-kmp-blocktime-set", &Options::kmp_blocktime_set,
                  "KMP_BLOCKTIME is Steelyard's, not the user's");
  internal.on_off("internal-gomp-spincount-set", &Options::gomp_spincount_set,
                  "GOMP_SPINCOUNT is Steelyard's, not the user's");
  internal.text("internal-mask", &Options::mask, "CPUS", "the CPUs that the launcher gave to the process");
  internal.text("internal-program", &Options::program, "PATH", "the executable that steelyard run starts");
  internal.text("internal-command", &Options::command, "TEXT", "program and arguments");
  internal.on_off("internal-awaits-mpi", &Options::awaits_mpi, "the program has no MPI when it starts");
  internal.integer("internal-process", &Options::process, 0, 1L << 32, "PID", "the process that steelyard run became");
  internal.on_off("internal-speaks", &Options::speaks, "this rank prints messages about the job");
  internal.text("internal-job", &Options::batch_job, "TEXT", "the batch job that the program is started in");
  internal.text("internal-slurm-job", &Options::slurm_job, "TEXT", "the job of Slurm that the program is started in");
  internal.text("internal-slurm-step", &Options::slurm_step, "TEXT", "its step");
  internal.text("internal-slurm-nodes", &Options::slurm_nodes, "TEXT", "its nodes, as Slurm writes them");
}

std::vector<Option> make_table() {
  std::vector<Option> table;
  add_capability_options(table);
  add_decision_options(table);
  add_cores_options(table);
  add_loops_options(table);
  add_collectives_options(table);
  add_waiting_options(table);
  add_start_options(table);
  add_output_options(table);
  add_testing_options(table);
  add_internal_options(table);
  return table;
}

/// All that a user can set, as a source of options writes it.
std::vector<std::string> names(NameShape shape) {
  std::vector<std::string> result;
  for (const auto& option : option_table()) {
    if (!option.internal) result.push_back(shape(option.name));
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

bool assign_real(double& value, std::string_view text, double lowest, double highest) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  const bool in_range = number >= lowest && number <= highest;  // NaN is in no range
  if (whole && in_range) value = number;
  return whole && in_range;
}

}  // namespace

std::vector<std::string> Options::command_line() const {
  if (command.empty()) return {};
  const auto words = split(command, "\x1f");
  return {words.begin(), words.end()};
}

std::string variable_of(std::string_view name) {
  std::string result = "STEELYARD_";
  for (const char c : name) result += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return result;
}

std::vector<std::string_view> Option::words() const {
  return is_switch() ? std::vector<std::string_view>{"on", "off"} : choices;
}

std::string Option::value_name() const {
  if (const auto values = words(); !values.empty())
    return fmt::format("{}", fmt::join(grammar.empty() ? values : grammar, "|"));
  if (unset.empty()) return placeholder.empty() ? "N" : std::string(placeholder);
  return placeholder.empty() ? fmt::format("{}|N", unset) : fmt::format("{}|{}", placeholder, unset);
}

std::string Option::allowed() const {
  if (is_switch()) return "on or off";
  if (!choices.empty()) return fmt::format("one of {}", fmt::join(grammar.empty() ? choices : grammar, ", "));
  if (std::holds_alternative<long Options::*>(member)) {
    return unset.empty() ? fmt::format("an integer from {} to {} ({})", least, most, unit)
                         : fmt::format("{} or an integer from {} to {} ({})", unset, least, most, unit);
  }
  if (std::holds_alternative<double Options::*>(member))
    return fmt::format("a number from {} to {} ({})", lowest, highest, unit);
  const bool needs_text = !unset.empty() && (defaults().*std::get<std::string Options::*>(member)).empty();
  return unset.empty() ? "a text that is not empty"
                       : fmt::format("a text that is not empty{}, or {} (off)",
                                     needs_text ? fmt::format(" ({}, not just on)", placeholder) : "", unset);
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
  if (const auto* number = std::get_if<long Options::*>(&option.member)) {
    const long value = options.*(*number);
    return value == option.if_unset && !option.unset.empty() ? std::string(option.unset) : std::to_string(value);
  }
  if (const auto* real = std::get_if<double Options::*>(&option.member)) return fmt::format("{}", options.*(*real));
  const auto& text = options.*std::get<std::string Options::*>(option.member);
  return text.empty() ? std::string(option.unset) : text;
}

Status assign(Options& options, const Option& option, std::string_view text, std::string_view where) {
  bool valid = false;
  const bool unset = !option.unset.empty() && text == option.unset;
  if (const auto* choice = std::get_if<Choice>(&option.member)) {
    bool on = false;
    const std::string_view as_switch = !assign_switch(on, text) ? text : on ? "on" : "off";  // such as "true"
    int index = index_of(text, option.choices, option.short_names);
    if (index < 0) index = index_of(as_switch, option.choices, {});
    valid = index >= 0;
    if (valid) choice->set(options, index);
  } else if (const auto* flag = std::get_if<bool Options::*>(&option.member)) {
    valid = assign_switch(options.*(*flag), text);
  } else if (const auto* number = std::get_if<long Options::*>(&option.member)) {
    if (unset) options.*(*number) = option.if_unset;
    valid = unset || assign_integer(options.*(*number), text, option.least, option.most);
  } else if (const auto* real = std::get_if<double Options::*>(&option.member)) {
    valid = assign_real(options.*(*real), text, option.lowest, option.highest);
  } else {
    const auto value = std::get<std::string Options::*>(option.member);
    const std::string& usual = defaults().*value;
    bool on = false;
    const bool as_switch = !option.internal && assign_switch(on, text);
    valid = as_switch ? !on || !usual.empty() : !text.empty() || usual.empty();
    if (valid) options.*value = as_switch && on ? usual : std::string(unset || as_switch ? "" : text);
  }
  if (valid) return {};
  return Status::failure(fmt::format("{} is '{}'; it must be {}{}", where, text, option.allowed(),
                                     did_you_mean(text, option.words(), option.short_names)));
}

std::string unknown_name(std::string_view kind, std::string_view seen, NameShape shape) {
  if (auto sentence = refusal_of_old_name(seen, shape); !sentence.empty()) return sentence;
  const auto known = names(shape);
  return unknown_word(kind, seen, {known.begin(), known.end()}, "`steelyard options` lists all");
}

void override_from(const Environment& environment, Options& options, std::vector<std::string>& complaints) {
  for (const auto& option : option_table()) {
    const auto variable = option.variable();
    const auto text = value_of(environment, variable);
    if (text.empty()) continue;
    if (const auto status = assign(options, option, text, variable); !status) complaints.push_back(status.sentence());
  }
  const auto refuse = [&](std::string_view old_name) {
    const auto variable = variable_of(old_name);
    if (!value_of(environment, variable).empty()) complaints.push_back(refusal_of_old_name(variable, variable_of));
  };
  for (const auto& option : renamed_options) refuse(option.before);
  for (const auto& option : removed_options) refuse(option.name);
}

std::vector<std::string> unknown_variables(const Environment& environment) {
  std::vector<std::string> sentences;
  constexpr std::string_view prefix = "STEELYARD_";
  for (auto entry = environment.lower_bound(prefix); entry != environment.end() && entry->first.starts_with(prefix);
       ++entry) {
    const auto known = [&](const Option& option) { return option.variable() == entry->first; };
    if (std::none_of(option_table().begin(), option_table().end(), known)) {
      sentences.push_back(unknown_name("environment variable", entry->first, variable_of));
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
  const bool automatic = options.blocktime_chosen || options.blocktime == Options().blocktime;
  values.emplace("blocktime-auto", automatic ? "on" : "off");
  return values;
}

Options& options_of_this_process() {
  static Options& resolved = []() -> Options& {
    auto& mine = *new Options;
    std::vector<std::string> complaints;
    override_from(environment(), mine, complaints);
    for (const auto& complaint : complaints) warn(complaint);
    return mine;
  }();
  return resolved;
}

const Options& options() { return options_of_this_process(); }

}  // namespace steelyard::base
