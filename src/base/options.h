// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/environment.h"
#include "base/status.h"
#include "base/strategy.h"
#include "decide/settings.h"

// The one option table. What a user can set is a member of Options and a row of option_table(); the environment
// variables, the command line, the config file, `steelyard options`, the man page and the run record follow from it.
namespace steelyard::base {

enum class CoresDomain { automatic, package, numa, l3, node };
enum class ThreadLocalData { automatic, keep, resize };
enum class ThreadIds { automatic, keep, resize };
enum class Wait { sleep, poll };
enum class OpenMp { keep, llvm };
enum class MpiFamily { automatic, openmpi, mpich, abi };
enum class Cores { on, sabo, off };
enum class Collectives { automatic, on, called, off };
enum class CollectivesTree { automatic, sort, swap, binomial, library, soga };

/// The values in force, with their defaults. The table (options.cpp) says what each option means. An integer that is 0
/// where its row prints as `auto`, and an empty text, are not set.
struct Options {
  bool observe = false;
  Cores cores = Cores::on;
  bool lending = true;
  Collectives collectives = Collectives::automatic;

  double confidence = decide::Settings().confidence;
  double exploration = decide::Settings().exploration;

  long balance_every = 0;
  long balance_at = 0;
  CoresDomain cores_domain = CoresDomain::automatic;
  long max_threads = 0;
  ThreadLocalData thread_local_data = ThreadLocalData::automatic;
  ThreadIds thread_ids = ThreadIds::automatic;
  bool smt = false;

  Strategy loops = Strategy::automatic;
  long loops_static_percent = 90;
  long loops_chunk = 0;
  long virtual_threads = 0;  ///< of each thread, in every region that can have them; 0: in regions that borrow cores
  std::string loops_learn;
  std::string loops_replay;

  CollectivesTree collectives_tree = CollectivesTree::automatic;
  long collectives_tree_every = 16;
  long collectives_tree_threshold = 50;

  Wait wait = Wait::sleep;
  long spin = 20;
  long blocktime = -1;  ///< us; -1: not set

  OpenMp openmp = OpenMp::keep;
  MpiFamily mpi = MpiFamily::automatic;
  std::string config;

  std::string record = "auto";  ///< "auto": a free name like record_if_auto
  bool summary = true;
  long timeline_samples = 2048;
  bool verbose = false;

  long ranks_per_node = 0;
  std::string emulate;

  // Handed from `steelyard run` to the preload library; hidden from users.
  std::string record_if_auto;       ///< path of the run record if `record` is "auto" and no such file exists yet
  bool launched = false;            ///< this process was started by `steelyard run`
  std::string preload;              ///< LD_PRELOAD as the user had it: what the program's own children get back
  bool counts_set = false;          ///< the user has set OMP_NUM_THREADS
  bool schedule_set = false;        ///< the user has set OMP_SCHEDULE
  long thread_local_bytes = 0;      ///< thread-local data of the executable
  bool blocktime_chosen = false;    ///< blocktime is Steelyard's choice: the user has set none
  bool kmp_blocktime_set = false;   ///< KMP_BLOCKTIME is Steelyard's, not the user's
  bool gomp_spincount_set = false;  ///< GOMP_SPINCOUNT is Steelyard's, not the user's
  std::string mask;                 ///< CPUs that the launcher gave to the process
  std::string program;              ///< its executable
  bool awaits_mpi = false;          ///< the program has no MPI: it may load MPI, or start a program that has MPI
  long process = 0;                 ///< ID of the process that `steelyard run` became
  long expected_threads = 0;        ///< first number of OMP_NUM_THREADS if awaits_mpi; has no row in the table
  bool speaks = true;               ///< of all ranks of the job, this rank prints messages about the job
  std::string command;              ///< program and arguments, separated by \x1f
  std::string batch_job;            ///< ID of the batch job, of any scheduler; empty outside of one
  std::string slurm_job, slurm_step, slurm_nodes;  ///< where Slurm runs it; empty elsewhere

  std::vector<std::string> command_line() const;
  /// The settings of every decision of this process.
  decide::Settings decision() const { return {.confidence = confidence, .exploration = exploration}; }
};

/// How a source of options writes the name of one.
using NameShape = std::string (*)(std::string_view name);

/// The environment variable of the option of this name: "STEELYARD_BALANCE_EVERY" for "balance-every".
std::string variable_of(std::string_view name);

/// A member that is an enumeration, as the index of its value.
struct Choice {
  int (*get)(const Options&);
  void (*set)(Options&, int);
};

struct Option {
  std::string_view name;   ///< "balance-every"
  std::string_view group;  ///< heading on the options page
  std::string_view doc;    ///< sentences for the user; of an internal option, a phrase
  std::variant<bool Options::*, long Options::*, double Options::*, std::string Options::*, Choice> member;
  std::vector<std::string_view> choices;  ///< of a Choice, in the order of the enumeration
  std::vector<std::string_view> grammar;  ///< what users see in place of many choices
  std::vector<ShortName> short_names;     ///< of choices
  bool on_alone = false;                  ///< a Choice that means `on` on the command line without a value
  long least = 0, most = 0;               ///< of an integer
  double lowest = 0, highest = 0;         ///< of a real number
  std::string_view unit;                  ///< of a number
  std::string_view unset;        ///< the word for if_unset or for no text: "auto", "none"; empty: there is none
  long if_unset = 0;             ///< of an integer, the value that this word stands for
  std::string_view placeholder;  ///< of a text or a real number: PATH, TEXT, SHARE
  bool internal = false;         ///< handed down by the launcher, hidden from users

  bool is_switch() const { return std::holds_alternative<bool Options::*>(member); }
  /// The choices; `on` and `off` of a switch; none of a number or a text.
  std::vector<std::string_view> words() const;
  std::string variable() const { return variable_of(name); }
  std::string value_name() const;  ///< "on|off", "N", "PATH|none"
  std::string allowed() const;     ///< "on or off", "auto or an integer from 1 to 4096 (threads)"
};

const std::vector<Option>& option_table();
/// nullptr where there is none of this name. Finds internal ones, too.
const Option* find_option(std::string_view name);

std::string text_of(const Options& options, const Option& option);
/// `where` names the source to the user: "--spin", "STEELYARD_SPIN". On failure nothing has changed.
Status assign(Options& options, const Option& option, std::string_view text, std::string_view where);

/// What is wrong with a name that no option has: "unknown option --balence-every; did you mean --balance-every?", or,
/// for a name that an option had before, "--learn is now --loops-learn". `shape` writes a name as the source does.
std::string unknown_name(std::string_view kind, std::string_view seen, NameShape shape);

/// Overrides by STEELYARD_*. A bad value, and a variable named after an old name of an option, changes nothing and adds
/// a sentence to `complaints`.
void override_from(const Environment& environment, Options& options, std::vector<std::string>& complaints);
/// A sentence for each STEELYARD_* variable that is not in the table.
std::vector<std::string> unknown_variables(const Environment& environment);

/// What the child's environment must say for it to have these options. Empty: to be unset, as the default holds.
std::map<std::string, std::string> exported(const Options& options);

/// Name to value of all that a user can set: for the run record. `blocktime` is the value in use. `blocktime-auto` is
/// added: `on` if Steelyard chose that value, `off` if the user set it.
std::map<std::string, std::string> described(const Options& options);

/// The options of this process, read from its environment at first use; bad values are warned about. For the preload
/// library: no exceptions, no config file (the launcher has resolved that).
const Options& options();
/// The same, for the constructor of the preload library: a process that another program has started replaces what
/// `steelyard run` could not know of it.
Options& options_of_this_process();

}  // namespace steelyard::base
