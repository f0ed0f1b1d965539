// SPDX-License-Identifier: BSD-3-Clause
#include "cli/launch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/clock.h"
#include "base/log.h"
#include "base/whole_file.h"
#include "cli/launcher.h"
#include "cli/refusal.h"
#include "cli/slurm.h"
#include "cli/wrappers.h"
#include "node/binding.h"
#include "wait/back_off.h"

namespace steelyard::cli {
namespace {

using base::Options;

/// Program and arguments for the record. The kernel takes no variable of 128 KiB or more: very long ones are cut.
std::string joined_command(const std::vector<std::string>& program) {
  const auto command = fmt::format("{}", fmt::join(program, "\x1f"));
  return command.substr(0, std::size_t{32} * 1024);
}

/// Without MPI no rank gathers the parts of the others.
bool is_alone(const Binary& binary, bool awaits_mpi) { return binary.mpi() == Mpi::none && !awaits_mpi; }

/// Each rank has a file of its own, where it is one of several.
std::string of_this_rank(const std::string& path, const Launcher& launcher) {
  return launcher.size > 1 && launcher.rank >= 0 ? fmt::format("{}.{}", path, launcher.rank) : path;
}

/// 0 if the path of --record can be written. All ranks must decide alike, or MPICH's mpirun waits for ever for those
/// that have not called MPI_Init: on several nodes, which may mount other file systems, the library warns instead. It
/// does so of the default path, too, and the run goes on without a record.
int check_record(const Options& options, bool alone, const Launcher& launcher) {
  const bool on_one_node = launcher.size < 2 || launcher.size == launcher.ranks_on_node;
  if (options.record.empty() || options.record == "auto" || !on_one_node) return 0;
  const std::string path = alone ? of_this_rank(options.record, launcher) : options.record;
  const int error = base::check_json_file(path);
  if (error == 0) return 0;
  return refuse_to_start(fmt::format("--record={}: {}; use a path that can be written, or --record=none", path,
                                     base::json_file_error(error)),
                         refused, launcher);
}

/// The options as the preload library will read them.
void hand_down(const std::vector<std::string>& program, const Binary& binary, bool awaits_mpi, Options& options,
               const Site& site) {
  // The program may change its directory before the record is written.
  const auto launcher = find_launcher(site.environment);
  options.record_if_auto = std::filesystem::absolute(record_name(site.environment)).string();
  if (!options.record.empty() && options.record != "auto")
    options.record = std::filesystem::absolute(options.record).string();
  const bool alone = is_alone(binary, awaits_mpi);
  if (alone) {
    options.record_if_auto = of_this_rank(options.record_if_auto, launcher);
    if (!options.record.empty() && options.record != "auto") options.record = of_this_rank(options.record, launcher);
  }
  for (auto* const file : {&options.loops_learn, &options.loops_replay}) {
    if (!file->empty()) *file = of_this_rank(std::filesystem::absolute(*file).string(), launcher);
  }
  options.launched = true;
  options.awaits_mpi = awaits_mpi;
  // A run around this one, as of a script that has `steelyard run` in it, is told of MPI instead.
  const int around = base::number_of(site.environment, base::find_option("internal-process")->variable());
  options.process = around > 0 ? around : awaits_mpi ? getpid() : 0;
  options.speaks = launcher.speaks();
  if (alone) options.cores = base::Cores::off;  // there is no other rank to exchange cores with
  options.preload = fmt::format("{}", fmt::join(users_preload(site), ":"));
  options.counts_set = !site.value_of("OMP_NUM_THREADS").empty();
  options.schedule_set = !site.value_of("OMP_SCHEDULE").empty();
  // The program that a wrapper starts is another one: the preload library looks at what it has loaded.
  if (!awaits_mpi)
    options.thread_local_bytes = static_cast<long>(std::min<std::uint64_t>(binary.thread_local_bytes, 1L << 62));
  options.program = std::filesystem::absolute(binary.path).string();
  options.command = joined_command(program);
  options.batch_job = batch_job(site.environment);
  const auto slurm = find_slurm_job(site.environment);
  options.slurm_job = slurm.job;
  options.slurm_step = slurm.step;
  options.slurm_nodes = slurm.node_list;
  options.mask = node::to_text(node::affinity_mask());
}

void set_environment(const Options& options) {
  for (const auto& [name, value] : base::exported(options)) {
    if (value.empty()) {
      unsetenv(name.c_str());
    } else {
      setenv(name.c_str(), value.c_str(), 1);
    }
  }
}

/// Rounds of the loop in which idle threads of GNU's OpenMP runtime spin, for so many us on this machine.
long spin_count(long us) {
  constexpr long kRounds = 5L * wait::kSpins;  // about 25 us: long beside a read of the clock
  const std::int64_t begin = base::now_ns();
  for (long i = 0; i < kRounds; ++i) wait::relax();
  const std::int64_t took = std::max<std::int64_t>(1, base::now_ns() - begin);
  return us * 1000 * kRounds / took;
}

/// How many CPUs of this node the launcher may use, whatever part of them it has given to this rank.
int cpus_of_launcher(const Launcher& launcher) {
  const pid_t process = process_of(launcher);
  const int cpus = process > 0 ? node::affinity_mask(process).count() : 0;
  return cpus > 0 ? cpus : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

/// True if this rank has more threads than CPUs, or its node would have, if all its ranks have as many threads. Where
/// the user sets no count, ranks share the CPUs, down to one thread for each. Not known before the ranks are connected:
/// that some of these ranks share CPUs while others of the node lie idle, as with
/// `mpirun -n 2 taskset -c 0 steelyard run ./app` on 2 CPUs.
bool has_more_threads_than_cpus(const Launcher& launcher, const Site& site) {
  const long threads = std::max(1, base::number_of(site.environment, "OMP_NUM_THREADS"));
  return threads > node::affinity_mask().count() || threads * launcher.ranks_on_node > cpus_of_launcher(launcher);
}

/// Idle threads spin for 200 ms (LLVM's runtime) or some ms (GNU's) unless told otherwise, on cores that other ranks
/// could use. If no core moves, only a length that the user gives is worth a change of what the program does.
/// LLVM's runtime spins as natively where no other rank is on the node: beside a busy process, threads that sleep wait
/// long for a CPU (LULESH: 2.1 of the native time). GNU's runtime is as slow then if it spins.
void shorten_spinning(const Binary& binary, bool alone_on_node, bool more_threads_than_cpus, Options& options,
                      const Site& site) {
  const auto set = [&](std::string_view variable) { return !site.value_of(variable).empty(); };
  const bool given = options.blocktime != Options().blocktime;
  // A choice that this process inherits from another `steelyard run` is not the user's.
  options.blocktime_chosen =
      options.blocktime_chosen && site.value_of("STEELYARD_BLOCKTIME") == std::to_string(options.blocktime);
  const bool cores_move = !options.observe && options.cores != base::Cores::off;
  if (!(given || cores_move) || set("OMP_WAIT_POLICY")) return;
  // A program without a runtime may load either later.
  const bool exchanged = !exchanged_openmp(binary, options, site).empty();
  const bool gnu_alone = binary.openmp() == OpenMpRuntime::gnu && !exchanged;
  const bool llvm_alone = binary.openmp() == OpenMpRuntime::llvm || exchanged;
  const bool helps_llvm = given || !alone_on_node || more_threads_than_cpus;
  options.kmp_blocktime_set = helps_llvm && !gnu_alone && !set("KMP_BLOCKTIME");
  options.gomp_spincount_set = !llvm_alone && !set("GOMP_SPINCOUNT");
  if (!options.kmp_blocktime_set && !options.gomp_spincount_set) return;
  // A thread that spins may occupy the CPU which the thread that it waits for needs.
  if (!given) {
    options.blocktime = more_threads_than_cpus ? 0 : 100;
    options.blocktime_chosen = true;
  }
  if (options.kmp_blocktime_set) setenv("KMP_BLOCKTIME", fmt::format("{}us", options.blocktime).c_str(), 1);
  if (options.gomp_spincount_set) setenv("GOMP_SPINCOUNT", std::to_string(spin_count(options.blocktime)).c_str(), 1);
}

/// Open MPI polls while it waits, unless it has started more ranks than cores: it counts no threads. This is its own
/// parameter for such jobs, for the waits that the preload library leaves to it, too.
void let_open_mpi_yield(const Options& options) {
  if (options.observe || options.cores == base::Cores::off || options.wait == base::Wait::poll) return;
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

int become(const std::string& path, const std::vector<std::string>& program) {
  std::vector<char*> arguments;
  for (const auto& argument : program) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(path.c_str(), arguments.data());
  base::warn(fmt::format("cannot run {}: {}", program.front(), std::strerror(errno)));
  return errno == ENOENT ? not_found : cannot_run;
}

}  // namespace

int run(const std::vector<std::string>& program, Options options, const Site& site) {
  const auto launcher = find_launcher(site.environment);
  const auto say = [&](const std::string& sentence) {
    if (launcher.speaks() && !sentence.empty()) base::say(sentence);
  };
  int error = 0;
  const auto started = decide_on_command(program, options, site, error);
  const auto& [path, shown, about, decision] = started;
  if (error != 0) {
    return refuse_to_start(not_run_reason(program.front(), error), error == ENOENT ? not_found : cannot_run, launcher);
  }
  if (decision.kind == Decision::Kind::refuse) return refuse_to_start(decision.reason, decision.status, launcher);
  if (decision.kind == Decision::Kind::pass_through) {
    say(decision.reason);
    set_environment(options);
    return become(path, program);
  }
  // Behind a wrapper, the program is found again once it runs.
  const auto binary = about.path == path ? about : read_binary(path, site.libraries());
  const bool alone = is_alone(binary, decision.awaits_mpi);
  if (const int refusal = check_record(options, alone, launcher); refusal != 0) return refusal;
  for (const auto& remark : decision.remarks) say(remark);
  const auto preload = preload_list(decision, site);
  if (options.verbose) say(fmt::format("LD_PRELOAD={} {}", fmt::join(preload, ":"), path));
  hand_down(program, binary, decision.awaits_mpi, options, site);
  const bool crowded = has_more_threads_than_cpus(launcher, site);
  shorten_spinning(binary, launcher.is_alone_on_node(), crowded, options, site);
  if (crowded) let_open_mpi_yield(options);
  set_environment(options);
  if (!options.emulate.empty()) setenv("HWLOC_SYNTHETIC", options.emulate.c_str(), 1);
  setenv("LD_PRELOAD", fmt::format("{}", fmt::join(preload, ":")).c_str(), 1);
  return become(path, program);
}

}  // namespace steelyard::cli
