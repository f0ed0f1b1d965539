// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/binary.h"
#include "cli/decision.h"

namespace steelyard::cli {

/// What a command line starts, and what Steelyard does about it: `steelyard run` and `steelyard doctor` alike.
struct Started {
  std::string path;   ///< of the file that is executed
  std::string shown;  ///< the program that the decision is about, as the user wrote it: behind `env`, not `env`
  Binary binary;      ///< that program
  Decision decision;
};

/// A shell by its name: sh, bash, zsh, ...
bool is_shell(std::string_view program);

/// `words`, with a single simple command after a shell's -c as words of their own: `sh -c "nice ./app"`. They end
/// before any other commands, such as `sh -c "cd x && ./app"`: the preload library sees what these execute.
std::vector<std::string> with_shell_words(const std::vector<std::string>& words);

/// How a wrapper takes Steelyard's library out of LD_PRELOAD: `env -i`, `env -u LD_PRELOAD`, `env LD_PRELOAD=x.so`.
enum class Removal { none, clears, unsets, sets };

/// The program in `words` that the wrappers before it execute, as in `env OMP_NUM_THREADS=4 numactl -l ./app`: the
/// first that uses MPI or is Julia. A shell counts as a wrapper of the command after its -c.
struct Wrapped {
  std::size_t place = 0;  ///< 0: the first word is no known wrapper, there is no such program, or it is not certain
                          ///< that LD_PRELOAD reaches it (`time mpirun`)
  Binary binary = {};
  Removal removal = Removal::none;
  std::string remover;     ///< as a shell takes it: "env -i", or an assignment
  std::string assignment;  ///< of LD_PRELOAD without Steelyard's library, as a shell takes it; also behind `env -i`
};
Wrapped program_behind_wrappers(const std::vector<std::string>& words, const Site& site);

/// Decides about the program behind wrappers, if there is one, else about the first word. If the first word cannot
/// be executed, `error` is the reason (errno) and nothing else counts.
Started decide_on_command(const std::vector<std::string>& command, const base::Options& options, const Site& site,
                          int& error);

/// The command that a shell script becomes by its last `exec`, as in `exec ./app "$@"`, with the script's `arguments`.
/// Words from the first one on that only a shell can tell are left out. Empty if there is no such command, or if the
/// script changes its directory.
std::vector<std::string> command_of_script(const Binary& script, const std::vector<std::string>& arguments);

/// Says why `program`, as the user wrote it, cannot be executed, and what to do. `error`: that of decide_on_command().
std::string not_run_reason(const std::string& program, int error);

}  // namespace steelyard::cli
