// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "base/options.h"
#include "cli/binary.h"

namespace steelyard::cli {

/// Format: env(1), exit statuses of a program that was not run.
inline constexpr int refused = 125, cannot_run = 126, not_found = 127;

/// Where Steelyard finds itself.
struct Site {
  base::Environment environment;
  std::string self;  ///< path of this executable; its preload libraries are looked for relative to it

  LibrarySearch libraries() const;
  std::string_view value_of(std::string_view variable) const { return base::value_of(environment, variable); }
};
Site this_site();

/// How a program will be started, and why.
struct Decision {
  enum class Kind { measure, pass_through, refuse };
  Kind kind = Kind::measure;
  int status = 0;                    ///< refuse: the exit status
  std::string reason;                ///< pass_through and refuse: a sentence
  std::vector<std::string> remarks;  ///< measure: what the user should know
  bool awaits_mpi = false;           ///< measure: the program has no MPI; it may load MPI, or start a program with MPI
  std::vector<std::string> preload;  ///< measure: Steelyard's library, and an OpenMP runtime where it is exchanged
  std::vector<std::string> before;   ///< measure: other tools that must be loaded before these
};

/// Reads the program at `path` and decides; starts nothing. `shown` is the program as the user wrote it.
Decision decide(const Binary& binary, const std::string& shown, const base::Options& options, const Site& site);

/// Julia, or a script for it: its MPI.jl looks up MPI functions by dlsym().
bool is_julia(const Binary& binary);
/// Python or Julia, or a script for it: it may load MPI after its start.
bool is_interpreter(const Binary& binary);

/// LD_PRELOAD of the program: tools that must be first, Steelyard's libraries, then the user's others.
std::vector<std::string> preload_list(const Decision& decision, const Site& site);

/// The OpenMP runtime that will serve the program: one to be put first, or "" where its own stays.
std::string exchanged_openmp(const Binary& binary, const base::Options& options, const Site& site);
/// Why `runtime` cannot replace GNU's OpenMP runtime in this program, as a sentence; "" if it can. A function that it
/// lacks would be served by GNU's, whose threads know nothing of regions and tasks of `runtime`.
std::string refused_openmp(const Binary& binary, const std::string& runtime);

/// Preload libraries that are installed beside this executable: {"openmpi", "/usr/lib/steelyard/libsteelyard-..."}.
struct Flavour {
  std::string name;
  std::string path;
};
std::vector<Flavour> flavours_beside(const std::string& self);

/// The path of a library that lies beside the preload libraries; "" where it is not installed.
std::string library_beside(const std::string& self, std::string_view name);

/// The user's own LD_PRELOAD, without a library of ours that a surrounding run has left there.
std::vector<std::string> users_preload(const Site& site);

}  // namespace steelyard::cli
