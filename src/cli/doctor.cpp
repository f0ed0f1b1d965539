// SPDX-License-Identifier: BSD-3-Clause
#include "cli/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "base/printable.h"
#include "cli/doctor_ranks.h"
#include "cli/gathering.h"
#include "cli/launcher.h"
#include "cli/other_tools.h"
#include "cli/slurm.h"
#include "cli/source_lines.h"
#include "cli/wrappers.h"
#include "node/binding.h"
#include "node/cgroup.h"
#include "node/topology.h"
#include "observe/text.h"
#include "partition/proof.h"
#include "partition/query_summary.h"

namespace steelyard::cli {
namespace {

using Level = Finding::Level;

class Findings {
 public:
  template <typename... Args>
  void ok(fmt::format_string<Args...> format, Args&&... args) {
    list_.push_back({Level::ok, fmt::format(format, std::forward<Args>(args)...)});
  }
  template <typename... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    list_.push_back({Level::note, fmt::format(format, std::forward<Args>(args)...)});
  }
  template <typename... Args>
  void problem(fmt::format_string<Args...> format, Args&&... args) {
    list_.push_back({Level::problem, fmt::format(format, std::forward<Args>(args)...)});
  }
  std::vector<Finding> take() { return std::move(list_); }

 private:
  std::vector<Finding> list_;
};

std::string path_of(const Library& library) {
  return library.path.empty() ? "not found by the dynamic linker" : library.path;
}

std::string_view name_of(Mpi mpi) {
  switch (mpi) {
    case Mpi::openmpi: return "Open MPI";
    case Mpi::mpich: return "MPICH or an MPI with its ABI";
    case Mpi::abi: return "the MPI standard's ABI";
    case Mpi::none:
    case Mpi::unknown: break;
  }
  return "unknown";
}

void examine_mpi(const Binary& binary, const Decision& decision, Findings& findings) {
  const auto* library = binary.mpi_library();
  if (!library) {
    if (decision.awaits_mpi) {
      findings.note(
          "MPI: none when the program starts; if it loads MPI later, as mpi4py does, or starts an MPI program, cores "
          "are balanced from MPI_Init on; otherwise nothing is");
    } else if (decision.kind == Decision::Kind::measure)
      findings.note(
          "MPI: none; loops are balanced between the threads of a process, and each process writes its own run record");
    return;
  }
  findings.ok("MPI: {}, {} ({})", name_of(binary.mpi()), library->name, path_of(*library));
  const bool f08 = std::any_of(binary.imports.begin(), binary.imports.end(), [](const std::string& name) {
    return name.starts_with("mpi_") && (name.ends_with("_f08_") || name.ends_with("_f08ts_"));
  });
  const bool fortran = std::any_of(binary.imports.begin(), binary.imports.end(), [](const std::string& name) {
    return name.starts_with("mpi_") && name.ends_with('_');
  });
  const bool c = std::any_of(binary.imports.begin(), binary.imports.end(),
                             [](const std::string& name) { return name.starts_with("MPI_"); });
  if (c) findings.ok("MPI calls from C or C++");
  if (f08) findings.ok("MPI calls from Fortran (mpi_f08)");
  if (fortran && !f08) findings.ok("MPI calls from Fortran (mpif.h or use mpi)");
  if (!c && !fortran)
    findings.note("MPI calls: none in the executable itself; calls from its libraries are intercepted");
}

/// The first of the texts that the file holds; empty if it holds none.
std::string_view held_text(const std::string& path, std::initializer_list<std::string_view> texts) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto* found =
      std::ranges::find_if(texts, [&](std::string_view text) { return bytes.find(text) != std::string::npos; });
  return found != texts.end() ? *found : "";
}

/// An OpenMP runtime within the executable, by the texts of its messages: a stripped program has no names.
std::string_view static_openmp(const Binary& binary) {
  constexpr std::string_view gnu = "libgomp: ";
  const auto text = held_text(binary.path, {gnu, "KMP_AFFINITY"});
  return text == gnu ? "GNU's" : !text.empty() ? "LLVM's" : "";
}

/// Threads that no OpenMP runtime starts.
void examine_own_threads(const Binary& binary, const base::Options& options, Findings& findings) {
  const auto starts = std::ranges::find_if(binary.imports, [](const std::string& name) {
    return name == "pthread_create" || name == "thrd_create" || name.starts_with("_ZNSt6thread15_M_start_thread");
  });
  const bool calls = starts != binary.imports.end();
  if (!calls && !binary.loads("libtbb.so")) return;
  const std::string_view how = !calls ? "TBB" : starts->starts_with('_') ? "std::thread" : std::string_view(*starts);
  const bool lends = options.cores != base::Cores::off && !options.observe && options.lending;
  findings.note("threads: the program starts threads by {}, which Steelyard neither measures nor moves{}", how,
                lends
                    ? "; it lends the cores of a rank while the primary thread blocks in MPI: if such threads compute "
                      "meanwhile, use --lending=off"
                    : "");
}

void examine_openmp(const Binary& binary, const base::Options& options, const Site& site, Findings& findings) {
  const auto* llvm = binary.llvm_openmp();
  const auto* gnu = binary.gnu_openmp();
  const auto exchanged = exchanged_openmp(binary, options, site);
  if (const auto inside = llvm || gnu ? "" : static_openmp(binary); !inside.empty()) {
    findings.note(
        "OpenMP: {} runtime is linked statically into the program, so Steelyard sees none of its regions: only MPI "
        "calls are measured, and thread counts stay; to change this, link the shared OpenMP runtime",
        inside);
  } else if (!llvm && !gnu) {
    findings.note(
        "OpenMP: none; ranks are measured by their MPI calls; they lend their cores, and can use further cores only by "
        "steelyard/cores.h");
  } else if (!exchanged.empty()) {
    findings.ok("OpenMP: {} instead of GNU's {} (--openmp=llvm)", exchanged, gnu->name);
  } else if (llvm) {
    findings.ok("OpenMP: {} ({})", llvm->name, path_of(*llvm));
  }
  if (gnu && exchanged.empty()) findings.ok("OpenMP: GNU's {} ({})", gnu->name, path_of(*gnu));
  const std::string runtime = !exchanged.empty() ? exchanged : llvm ? llvm->path : "";
  if (!runtime.empty() &&
      !held_text(runtime, {"KMP_A_DEBUG"}).empty()) {  // Debian's build: dearer in each region and loop
    findings.note(
        "OpenMP: {} was built with debugging code, which slows down each region and each chunk of a dynamic loop; to "
        "avoid this, put a release build first in LD_LIBRARY_PATH",
        runtime);
  }
}

/// A query that is not proved, as the user finds it in the source.
struct QuerySite {
  std::uint64_t begin;  ///< of its function: each region of a source's function has one of its own
  std::string function;
  std::string line;    ///< "solver.c:88"; "" if it is not known
  std::string reason;  ///< "computes an address from the thread ID or the team size"

  std::string place() const { return line.empty() ? function : fmt::format("{} ({})", function, line); }
};

/// Those of region bodies first; a place once.
std::vector<QuerySite> sites_of(const partition::Summary& summary, const SourceLines& lines) {
  std::vector<QuerySite> sites;
  for (const bool in_body : {true, false}) {
    for (const auto& query : summary.queries) {
      if (query.proved || query.in_body != in_body) continue;
      QuerySite site{query.function, query.name, lines.at(query.return_address - 1), query.reason};
      if (site.function.empty()) site.function = fmt::format("function at {:#x}", query.function);
      if (std::ranges::find(sites, site.place(), &QuerySite::place) == sites.end()) sites.push_back(std::move(site));
    }
  }
  return sites;
}

/// The largest function that was too long to be analysed, as a user can change that; "" if there is none.
std::string about_too_long(const partition::Summary& summary, const SourceLines& lines) {
  std::map<std::uint64_t, const partition::Summary::Query*> functions;
  for (const auto& query : summary.queries) {
    if (!query.proved && query.reason == partition::kTooLong) functions.try_emplace(query.function, &query);
  }
  if (functions.empty()) return "";
  const auto& [begin, query] =
      *std::ranges::max_element(functions, {}, [](const auto& entry) { return entry.second->size; });
  const QuerySite site{begin, query->name.empty() ? fmt::format("function at {:#x}", begin) : query->name,
                       lines.at(query->return_address - 1), ""};
  const std::string which =
      functions.size() == 1 ? site.place()
                            : fmt::format("{} functions, the largest of which is {},", functions.size(), site.place());
  return fmt::format("; too long to be analysed: {} with {} kB of machine code; split {}", which,
                     (query->size + 500) / 1000, functions.size() == 1 ? "its region" : "their regions");
}

/// Whether regions that query thread IDs can be resized: those of the file `path`, the program itself or its library
/// `library`.
void examine_queries(const std::string& path, const std::string& library, const std::string& shown, bool tells_all,
                     Findings& findings) {
  constexpr std::size_t most_places = 5;  // Size: lines of text for one finding
  const auto summary = partition::summarise(path);
  const std::size_t proved = summary ? summary->proved() : 0, all = summary ? summary->queries.size() : 0;
  if (all == 0) {
    if (library.empty())
      findings.note(
          "thread counts: the program queries thread IDs; regions that do so keep their thread count, others can "
          "change it");
    return;
  }
  const std::string count = fmt::format("{} of {} thread-ID queries{} are proved to be gcc's own loop division", proved,
                                        all, library.empty() ? "" : " in " + library);
  if (proved == all) {
    findings.ok("thread counts: {}; none of them fixes a thread count", count);
    return;
  }
  const SourceLines lines(path);
  const auto sites = sites_of(*summary, lines);
  std::vector<std::string> places;  // one of each function
  std::set<std::uint64_t> functions;
  for (const auto& site : sites) {
    if (functions.insert(site.begin).second) places.push_back(site.place());
  }
  std::string where;
  if (!tells_all) {
    const std::size_t left = places.size() - std::min(places.size(), most_places);
    places.resize(places.size() - left);
    where = fmt::format(": {}", fmt::join(places, ", "));
    if (left > 0) where += fmt::format(", and {} more (`steelyard doctor --verbose {}` lists all)", left, shown);
    where += about_too_long(*summary, lines);
  }
  if (!reads_source_lines()) {
    where += "; their source lines need a Steelyard that is built with libdw";
  } else if (std::ranges::all_of(sites, &std::string::empty, &QuerySite::line)) {
    where += "; to see their source lines, compile with -g";
  }
  findings.note("thread counts: {}; regions with other queries keep their thread count{}", count, where);
  if (!tells_all) return;
  for (const auto& site : sites) findings.note("thread-ID query: {} {}", site.place(), site.reason);
}

void examine_thread_counts(const Binary& binary, const std::string& shown, const base::Options& options,
                           Findings& findings) {
  const auto calls = [&](std::string_view name) { return binary.imports_function(name); };
  if (calls("omp_set_num_threads")) {
    findings.note(
        "thread counts: the program calls omp_set_num_threads; a count that it sets during the run is not changed");
  }
  if (calls("__kmpc_push_num_threads")) {
    findings.note(
        "thread counts: the program has num_threads clauses; regions with such a clause keep their thread count");
  }
  const bool queries = calls("omp_get_thread_num") || calls("omp_get_num_threads");
  if (queries && options.thread_ids == base::ThreadIds::automatic) {
    examine_queries(binary.path, "", shown, options.verbose, findings);
  } else if (queries && options.thread_ids == base::ThreadIds::keep) {
    findings.note(
        "thread counts: the program queries thread IDs, as gcc's schedule(static) loops do; regions that do so keep "
        "their thread count (--thread-ids=keep), others can change it");
  } else if (queries) {
    findings.note(
        "thread counts: the program queries thread IDs, and --thread-ids=resize lets these teams grow: if the "
        "program sizes an array by a thread count (omp_get_max_threads) and indexes it by thread IDs, it then writes "
        "past the end");
  }
  for (const Library& library : binary.libraries) {
    if (library.has_regions && options.thread_ids == base::ThreadIds::automatic)
      examine_queries(library.path, library.name, shown, options.verbose, findings);
  }
  if (binary.thread_local_bytes == 0) {
    findings.ok("thread-local data: none in the program");
  } else if (options.thread_local_data == base::ThreadLocalData::resize) {
    findings.note(
        "thread-local data: {} bytes, and --thread-local-data=resize lets thread counts change: threadprivate data "
        "are then lost between regions",
        binary.thread_local_bytes);
  } else {
    findings.note(
        "thread-local data: {} bytes{}; they persist between regions only if the thread count stays the same, so "
        "Steelyard does not change it",
        binary.thread_local_bytes,
        binary.thread_local_in.empty() ? "" : fmt::format(" (also in {})", fmt::join(binary.thread_local_in, ", ")));
  }
}

/// By the entry points that compilers emit. Static loops have none in gcc.
void examine_loops(const Binary& binary, const base::Options& options, Findings& findings) {
  const auto calls = [&](std::initializer_list<std::string_view> prefixes) {
    return std::ranges::any_of(binary.imports, [&](const std::string& name) {
      return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
    });
  };
  const bool taken = calls({"__kmpc_dispatch_init_", "GOMP_loop_nonmonotonic_", "GOMP_loop_maybe_nonmonotonic_",
                            "GOMP_loop_ull_nonmonotonic_", "GOMP_loop_ull_maybe_nonmonotonic_",
                            "GOMP_parallel_loop_nonmonotonic_", "GOMP_parallel_loop_maybe_nonmonotonic_"});
  const bool left = calls({"GOMP_loop_dynamic_start", "GOMP_loop_guided_start", "GOMP_loop_runtime_start",
                           "GOMP_loop_ordered_", "GOMP_loop_doacross_", "GOMP_parallel_loop_dynamic",
                           "GOMP_parallel_loop_guided", "GOMP_parallel_loop_runtime"});
  const bool fixed = calls({"__kmpc_for_static_init_"});
  if (taken && options.loops == base::Strategy::off) {
    findings.ok(
        "loops: the program has dynamic, guided, runtime or auto schedules; --loops=off leaves them to the OpenMP "
        "runtime");
  } else if (taken) {
    findings.ok(
        "loops: the program has dynamic, guided, runtime or auto schedules; their iterations move between threads "
        "(--loops={})",
        base::text_of(options, *base::find_option("loops")));
  } else if (fixed || !left) {
    findings.note(
        "loops: none with a dynamic, guided, runtime or auto schedule in the executable; to let the iterations of a "
        "loop move, write schedule(runtime)");
  }
  if (fixed && options.loops != base::Strategy::off)
    findings.ok("loops: the program has static loops; Steelyard does not change them");
  if (left) {
    findings.note(
        "loops: some are ordered, or compiled for chunks in ascending order (monotonic, or a compiler before "
        "OpenMP 5.0); the OpenMP runtime divides these");
  }
}

/// Cores of the CPUs that this process may use; 0 if hwloc shows another machine than this one.
int cores_here() {
  const auto topology = node::discover();
  if (topology.emulated) return 0;
  const auto mask = node::affinity_mask();
  std::set<int> cores;
  for (const auto& pu : topology.pus) {
    if (mask.has(pu.os_index)) cores.insert(pu.core);
  }
  return static_cast<int>(cores.size());
}

/// Notes CPUs that this machine gives and that the program, with the other ranks here, does not get. False if there are
/// none, or if it is not known.
bool examine_mask(int cpus, const Launcher& launcher, Findings& findings) {
  const auto topology = node::discover();
  const int all = static_cast<int>(topology.pus.size());
  if (topology.emulated || cpus >= all) return false;
  if (launcher.kind == Launcher::Kind::none) {
    findings.note(
        "CPUs: {} of {} in the affinity mask here (by taskset, a container or the batch system): a program that is "
        "started from here has no other CPUs",
        cpus, all);
    return true;
  }
  if (launcher.kind == Launcher::Kind::slurm) return false;  // examine_slurm() says it
  const int ranks = launcher.ranks_on_node;
  const int cores = static_cast<int>(node::one_pu_per_core(topology).pus.size());
  if (ranks < 1 || cpus * ranks >= cores) return false;
  findings.note(
      "CPUs: {} of {} in the affinity mask of each rank here ({}), so CPUs stay idle; use mpirun --map-by slot:PE={} "
      "(Open MPI) or -bind-to core:{} (MPICH)",
      cpus, all, observe::plural(ranks, "rank"), cores / ranks, cores / ranks);
  return true;
}

void examine_place(const Binary& binary, const Site& site, Findings& findings) {
  const auto launcher = find_launcher(site.environment);
  if (launcher.kind == Launcher::Kind::none) {
    findings.note("launcher: none here; start the program with `mpirun -n N steelyard run ./app`");
  } else {
    findings.ok("launcher: {}, {}", launcher.name(), observe::plural(launcher.size, "rank"));
  }
  const int cpus = node::affinity_mask().count();
  const double quota = node::cpu_quota();
  if (cpus > 0 && !examine_mask(cpus, launcher, findings)) {
    const bool limited = quota > 0 && quota < cpus;
    findings.ok("CPUs: {} in the affinity mask here{}", cpus, limited ? "" : ", no lower cgroup limit");
  }
  const int cores = launcher.kind == Launcher::Kind::slurm ? cores_here() : 0;
  for (const auto& [fits, text] : examine_slurm(site.environment, cpus, binary.mpi(), cores)) {
    if (fits) {
      findings.ok("{}", text);
    } else {
      findings.note("{}", text);
    }
  }
  for (const auto& sentence : base::unknown_variables(site.environment)) findings.note("{}", sentence);
}

}  // namespace

std::vector<Finding> examine(const Started& started, const base::Options& options, const Site& site) {
  Findings findings;
  const auto& [path, shown, binary, decision] = started;
  if (!path.empty() && path != binary.path)
    findings.note("wrapper: {} starts {}, which is examined here", file_name(path), shown);
  examine_mpi(binary, decision, findings);
  const bool has_mpi = binary.mpi() != Mpi::none;
  if (binary.kind == Binary::Kind::program && (has_mpi || binary.openmp() != OpenMpRuntime::none)) {
    examine_openmp(binary, options, site, findings);
    if (has_mpi) examine_own_threads(binary, options, findings);
    if (has_mpi) examine_thread_counts(binary, shown, options, findings);
    if (binary.openmp() != OpenMpRuntime::none) examine_loops(binary, options, findings);
  }
  for (const auto& library : binary.libraries) {
    if (library.path.empty()) {
      findings.problem(
          "{} is not found by the dynamic linker: the program will not start; add its directory to LD_LIBRARY_PATH",
          library.name);
    }
  }
  for (const auto& remark : remarks_on(other_tools(binary, site), binary, options, site)) {
    findings.note("tool: {}", remark.text);
  }
  examine_place(binary, site, findings);
  const bool unlaunched = find_launcher(site.environment).kind == Launcher::Kind::none;
  const bool is_script = binary.kind == Binary::Kind::script;
  const bool runs_shell = is_shell(is_script ? script_interpreter(binary) : binary.path);
  const bool interprets = is_interpreter(binary);
  const bool only_launched =
      unlaunched && decision.kind == Decision::Kind::pass_through && (is_script || runs_shell || interprets);
  if (only_launched && interprets) {
    findings.note(
        "{} has no MPI when it starts; under mpirun, it is measured and balanced from MPI_Init on if its script loads "
        "MPI, as mpi4py does: `mpirun -n N steelyard run {}{}`",
        shown, shown, is_script ? "" : " SCRIPT");
  } else if (only_launched || (runs_shell && decision.awaits_mpi)) {
    findings.note("{} is {}: {}the MPI program that it starts is balanced; to check that program, name it here", shown,
                  is_script ? "a script for " + binary.remark : "a shell", only_launched ? "under mpirun, " : "");
  }
  if (decision.kind == Decision::Kind::measure) {
    findings.ok("preloaded by `steelyard run`: LD_PRELOAD={}", fmt::join(preload_list(decision, site), ":"));
  } else if (!only_launched) {
    findings.problem("{}", decision.reason.empty() ? shown + " is Steelyard itself" : decision.reason);
  }
  return findings.take();
}

namespace {

/// Threads that this rank has at least. Without OMP_NUM_THREADS Steelyard divides the CPUs that ranks share, if it may.
int least_threads(const Binary& binary, const base::Options& options, const Site& site, int cpus) {
  if (const int set = base::number_of(site.environment, "OMP_NUM_THREADS"); set > 0) return set;
  const bool divides = options.cores != base::Cores::off && !options.observe;
  return divides || binary.openmp() == OpenMpRuntime::none ? 1 : std::max(1, cpus);
}

/// Decides on `program`, or on the program that it becomes if it is a shell script: the preload library sees that, too.
Started follow(const std::vector<std::string>& program, const base::Options& options, const Site& site, int& error) {
  auto started = decide_on_command(program, options, site, error);
  if (error != 0 || started.binary.kind != Binary::Kind::script) return started;
  const auto command = command_of_script(started.binary, {program.begin() + 1, program.end()});
  if (command.empty()) return started;
  int not_run = 0;
  auto behind = decide_on_command(command, options, site, not_run);
  if (not_run != 0 || behind.binary.kind != Binary::Kind::program) return started;
  behind.path = started.path;
  return behind;
}

/// All findings for this node: `own` alone, or those of several of its ranks.
std::vector<Finding> findings_of_node(const std::vector<RankReport>& reports, const Launcher& launcher, int ranks) {
  Findings findings;
  if (reports.size() > 1 && ranks < launcher.size) {
    char host[HOST_NAME_MAX + 1] = {};
    gethostname(host, sizeof(host) - 1);
    std::vector<int> here;
    for (const auto& report : reports) here.push_back(report.rank);
    findings.ok("node: {}, {}", host, observe::rank_list(here));
  }
  if (const int absent = ranks - static_cast<int>(reports.size()); absent > 0) {
    findings.note(
        "ranks: nothing came from {} of this node within 5 s, so {} not included here: `steelyard doctor` was not run "
        "there, or it ran in another network namespace, as in a container with a network of its own",
        observe::plural(absent, "rank"), absent == 1 ? "it is" : "they are");
  }
  auto list = findings.take();
  for (const auto& part : {merged(reports), examine_node(reports, node::discover(), node::cpu_quota(), launcher.kind)})
    list.insert(list.end(), part.begin(), part.end());
  return list;
}

}  // namespace

int doctor(const std::vector<std::string>& program, const base::Options& options, const Site& site) {
  using std::chrono::seconds;
  const auto launcher = find_launcher(site.environment);
  const int ranks = launcher.ranks_on_node;
  Gathering gathering(name_on_node(site.environment, launcher), launcher.rank_on_node, ranks);

  int error = 0;
  const auto started = follow(program, options, site, error);
  const auto mask = node::affinity_mask();
  RankReport own{launcher.rank, least_threads(started.binary, options, site, mask.count()), mask, {}};
  if (error != 0) {
    own.findings.push_back({Level::problem, not_run_reason(program.front(), error)});
  } else {
    own.findings = examine(started, options, site);
  }

  std::vector<RankReport> reports;
  for (const auto& text : gathering.gather(to_text(own), seconds(5))) {
    if (auto report = report_from(text)) reports.push_back(*std::move(report));
  }
  if (!reports.empty()) {
    std::ranges::sort(reports, {}, &RankReport::rank);
    for (const auto& finding : findings_of_node(reports, launcher, gathering.gathers() ? ranks : 1)) {
      constexpr const char* levels[] = {"ok", "note", "problem"};
      fmt::print("{:8} {}\n", levels[static_cast<int>(finding.level)], base::printable(finding.text));
    }
    std::fflush(stdout);
    gathering.finish();
  }
  return std::ranges::none_of(own.findings, [](const Finding& f) { return f.level == Level::problem; }) ? 0 : 1;
}

}  // namespace steelyard::cli
