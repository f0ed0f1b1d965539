// SPDX-License-Identifier: BSD-3-Clause
#include "cli/decision.h"

#include <fmt/format.h>
#include <hwloc.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "base/launcher_program.h"
#include "base/locate.h"
#include "base/split.h"
#include "cli/launcher.h"
#include "cli/other_tools.h"
#include "cli/wrappers.h"

namespace steelyard::cli {
namespace {

using base::OpenMp;
using base::Options;

/// Names of LLVM's OpenMP runtime: as Debian builds it, and as all other distributions do.
const std::string llvm_runtimes[] = {"libomp.so.5", "libomp.so"};

constexpr std::string_view library_prefix = "libsteelyard-preload-", library_suffix = ".so";

Decision refuse(std::string reason, int status = refused) {
  return {Decision::Kind::refuse, status, std::move(reason), {}, false, {}, {}};
}
Decision pass_through(std::string reason) {
  return {Decision::Kind::pass_through, 0, std::move(reason), {}, false, {}, {}};
}

/// LD_PRELOAD separates its paths by blanks and colons.
bool fits_in_list(std::string_view path) { return path.find_first_of(": \t\n") == std::string_view::npos; }

Decision refuse_path(std::string_view path, std::string_view what) {
  return refuse(
      fmt::format("LD_PRELOAD cannot hold the path {}: install {} where no path has a blank or a colon", path, what));
}

bool is_this_program(const std::string& path, const Site& site) {
  std::error_code error;
  return std::filesystem::equivalent(path, site.self, error) || file_name(path) == "steelyard";
}

std::string_view flavour_of(Mpi mpi) { return mpi == Mpi::openmpi ? "openmpi" : mpi == Mpi::abi ? "abi" : "mpich"; }

Mpi mpi_of(base::MpiFamily family) {
  using base::MpiFamily;
  return family == MpiFamily::openmpi ? Mpi::openmpi
         : family == MpiFamily::mpich ? Mpi::mpich
         : family == MpiFamily::abi   ? Mpi::abi
                                      : Mpi::none;
}

/// Open MPI with its own ABI or with the standard's.
bool is_open_mpi(const Binary& binary) {
  return binary.mpi() == Mpi::openmpi || (binary.mpi() == Mpi::abi && binary.loads("libopen-pal.so"));
}

/// True only where the ranks could not find each other. A single rank needs no launcher; an MPI that speaks PMIx may be
/// started by another's mpirun.
bool launched_by_another_mpi(const Binary& binary, const Site& site) {
  const auto launcher = find_launcher(site.environment);
  const auto has = [&](std::string_view variable) { return !site.value_of(variable).empty(); };
  if (launcher.size < 2 || (binary.loads("libpmix.so") && has("PMIX_RANK"))) return false;
  if (is_open_mpi(binary)) return launcher.kind == Launcher::Kind::hydra && !has("PMIX_RANK");
  return launcher.kind == Launcher::Kind::openmpi && !has("PMI_RANK");
}

/// Whether the program can be measured with any MPI. Of kind `measure` if nothing speaks against it.
Decision decide_by_kind(const Binary& binary, const std::string& shown, const Site& site) {
  using Kind = Binary::Kind;
  if (binary.kind == Kind::damaged) {
    return refuse(fmt::format("cannot run {}: {}; build it again", shown, binary.remark), cannot_run);
  }
  if (is_this_program(binary.path, site)) return pass_through("");
  if (base::is_launcher_program(binary.path)) {
    return pass_through(
        fmt::format("{} starts the ranks itself: nothing is balanced; write `{} ... steelyard run ./app` instead",
                    shown, file_name(shown)));
  }
  if (file_name(shown) ==
      "valgrind") {  // a script or a program: it starts ./app without the libraries that are preloaded here
    return pass_through(fmt::format(
        "{} starts the program itself: nothing is balanced; write `valgrind --trace-children=yes steelyard run "
        "./app` instead",
        shown));
  }
  if (binary.kind == Kind::script && is_interpreter(binary)) {
    return pass_through(fmt::format(
        "{} is a script for {} and has no MPI when it starts: nothing is balanced; if it loads MPI later, as mpi4py "
        "does: `mpirun -n 2 steelyard run {}`; if it starts an MPI or OpenMP program, put `steelyard run` before that "
        "program",
        shown, binary.remark, shown));
  }
  if (binary.kind == Kind::script) {
    return pass_through(fmt::format(
        "{} is a script for {}: nothing is balanced; put `steelyard run` before the MPI or OpenMP program in it", shown,
        binary.remark));
  }
  if (is_shell(binary.path)) {
    return pass_through(fmt::format(
        "{} is a shell: nothing is balanced; put `steelyard run` before the MPI or OpenMP program that it starts",
        shown));
  }
  if (binary.kind == Kind::foreign) {
    return pass_through(
        fmt::format("nothing is balanced in {}: {}, and Steelyard's libraries are not", shown, binary.remark));
  }
  if (binary.kind == Kind::static_program) {
    return refuse(
        fmt::format("{} is statically linked and `steelyard run` works through the dynamic linker: link it without "
                    "-static, or start it without `steelyard run`",
                    shown));
  }
  if (binary.privileged) {
    return refuse(
        fmt::format("{} is setuid, setgid or has capabilities, and the dynamic linker lets no library into such a "
                    "program: run a copy without them, or start it without `steelyard run`",
                    shown));
  }
  return {};
}

/// The preload library of this flavour goes into the decision, or else a refusal. `need`: why this library is required.
Decision choose_flavour(std::string_view flavour, const std::string& need, const Site& site) {
  const auto installed = flavours_beside(site.self);
  const auto found =
      std::find_if(installed.begin(), installed.end(), [&](const Flavour& f) { return f.name == flavour; });
  if (found == installed.end()) {
    std::string others;
    for (const auto& other : installed) others += (others.empty() ? "" : ", ") + other.name;
    return refuse(fmt::format(
        "{} needs {}{}{}, which is not installed beside {} (found there: {}); build Steelyard with that MPI", need,
        library_prefix, flavour, library_suffix, site.self, others.empty() ? "no MPI at all" : others));
  }
  ElfImage image;
  if (const auto status = read_elf(found->path, image); !status) {
    return refuse(fmt::format("cannot use {}: {}; install Steelyard again", found->path, status.sentence()));
  }
  if (!fits_in_list(found->path)) return refuse_path(found->path, "Steelyard");
  Decision decision;
  decision.preload.push_back(found->path);
  return decision;
}

/// Where Debian keeps LLVM's libraries, the newest first.
std::vector<std::string> llvm_directories() {
  std::map<int, std::string, std::greater<>> by_version;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib", error)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("llvm-")) by_version[std::atoi(name.c_str() + 5)] = (entry.path() / "lib").string();
  }
  std::vector<std::string> directories;
  for (const auto& [version, directory] : by_version) directories.push_back(directory);
  return directories;
}

bool is_topology(const std::string& description) {
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return false;
  const bool valid = hwloc_topology_set_synthetic(topology, description.c_str()) == 0;
  hwloc_topology_destroy(topology);
  return valid;
}

}  // namespace

LibrarySearch Site::libraries() const { return LibrarySearch(value_of("LD_LIBRARY_PATH")); }

Site this_site() {
  std::error_code error;
  auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {  // /proc is not mounted
    // NOLINTNEXTLINE(performance-no-int-to-ptr): getauxval() gives every value as an integer
    const auto* const started_as = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
    self = std::filesystem::canonical(started_as != nullptr ? started_as : "", error);
  }
  return {base::environment(), self.string()};
}

std::vector<std::string> users_preload(const Site& site) {
  std::vector<std::string> kept;
  for (const std::string_view entry : base::words_of(site.value_of("LD_PRELOAD"), ": ")) {
    if (!file_name(entry).starts_with("libsteelyard-")) kept.emplace_back(entry);
  }
  return kept;
}

namespace {

/// Files in the first of the places of our libraries, as installed and as built, that has any of these.
template <class Wanted>
std::vector<std::filesystem::path> beside(const std::string& self, Wanted&& wanted) {
  namespace fs = std::filesystem;
  std::vector<fs::path> found;
  for (const char* relative : {STEELYARD_LIBRARIES_FROM_PROGRAM, "../lib/steelyard", "../intercept"}) {
    std::error_code error;
    const auto directory = fs::weakly_canonical(fs::path(self).parent_path() / relative, error);
    for (const auto& entry : fs::directory_iterator(directory, error)) {
      if (wanted(entry.path().filename().string())) found.push_back(entry.path());
    }
    if (!found.empty()) break;
  }
  return found;
}

}  // namespace

std::vector<Flavour> flavours_beside(const std::string& self) {
  std::vector<Flavour> flavours;
  const auto libraries = beside(
      self, [](const std::string& name) { return name.starts_with(library_prefix) && name.ends_with(library_suffix); });
  for (const auto& library : libraries) {
    const auto name = library.filename().string();
    const auto length = name.size() - library_prefix.size() - library_suffix.size();
    flavours.push_back({name.substr(library_prefix.size(), length), library.string()});
  }
  std::sort(flavours.begin(), flavours.end(), [](const Flavour& a, const Flavour& b) { return a.name < b.name; });
  return flavours;
}

std::string library_beside(const std::string& self, std::string_view wanted) {
  const auto found = beside(self, [&](const std::string& name) { return name == wanted; });
  return found.empty() || !fits_in_list(found[0].string()) ? "" : found[0].string();
}

std::string exchanged_openmp(const Binary& binary, const Options& options, const Site& site) {
  if (!binary.gnu_openmp() || options.openmp != OpenMp::llvm) return {};
  // With both runtimes in the program, LLVM's in front serves the calls to GNU's as well: one set of threads, not two.
  if (const auto* own = binary.llvm_openmp(); own && !own->path.empty()) return own->path;
  auto directories = llvm_directories();
  for (const auto& bundled : beside(site.self, [](const std::string& name) { return name == llvm_runtimes[0]; }))
    directories.insert(directories.begin(), bundled.parent_path().string());
  return site.libraries().find(llvm_runtimes, binary.machine, directories);
}

std::string refused_openmp(const Binary& binary, const std::string& runtime) {
  ElfImage llvm, gnu;
  const Library* const own = binary.gnu_openmp();
  // If one of them cannot be read, the dynamic linker will say so.
  if (own == nullptr || !read_elf(runtime, llvm) || !read_elf(own->path, gnu)) return {};
  std::set<std::string_view> only_gnu(gnu.hooks.begin(), gnu.hooks.end());
  for (const auto& name : llvm.hooks) only_gnu.erase(name);
  const auto sentence = [&](const std::string& caller, const std::vector<std::string>& imports) {
    const auto lacked = std::ranges::find_if(imports, [&](const auto& name) { return only_gnu.contains(name); });
    if (lacked == imports.end()) return std::string();
    return fmt::format("{} calls {}(), which {} lacks, and results could be wrong: leave --openmp=llvm out", caller,
                       *lacked, runtime);
  };
  auto refusal = sentence(binary.path, binary.hooks.openmp_imports);
  for (const auto& library : binary.libraries) {
    if (refusal.empty()) refusal = sentence(library.path, library.hooks.openmp_imports);
  }
  return refusal;
}

namespace {

/// `decision`, with the OpenMP runtime that the user wants.
Decision with_openmp(Decision decision, const Binary& binary, const Options& options, const Site& site) {
  if (!binary.gnu_openmp() || options.openmp != OpenMp::llvm) return decision;
  const auto runtime = exchanged_openmp(binary, options, site);
  if (runtime.empty()) {
    return refuse(
        "--openmp=llvm needs libomp.so.5 or libomp.so, and neither was found: install LLVM's OpenMP runtime (Debian: "
        "libomp5, Fedora: libomp), or add its directory to LD_LIBRARY_PATH, or leave --openmp=llvm out");
  }
  if (auto refusal = refused_openmp(binary, runtime); !refusal.empty()) return refuse(std::move(refusal));
  if (!fits_in_list(runtime)) return refuse_path(runtime, "LLVM's OpenMP runtime");
  decision.preload.push_back(runtime);
  return decision;
}

/// Libraries can be put before the libraries of this program, or of the interpreter of this script. The interpreter may
/// be a script itself, as pyenv's python is: the program that it becomes inherits them.
bool takes_libraries(Binary binary, const Site& site) {
  constexpr int deepest = 5;  // Format: interpreters of interpreters in Linux, exec_binprm() in its fs/exec.c
  for (int depth = 0; binary.kind == Binary::Kind::script && depth < deepest; ++depth) {
    const auto interpreter = base::locate(script_interpreter(binary), site.value_of("PATH"));
    if (interpreter.error != 0) return false;
    binary = read_binary(interpreter.path, site.libraries());
  }
  return binary.kind == Binary::Kind::program && !binary.privileged;
}

}  // namespace

bool is_julia(const Binary& binary) {
  return file_name(binary.path).starts_with("julia") ||
         (binary.kind == Binary::Kind::script && file_name(script_interpreter(binary)).starts_with("julia"));
}

bool is_interpreter(const Binary& binary) {
  const bool is_script = binary.kind == Binary::Kind::script;
  const std::string name = is_script ? script_interpreter(binary) : binary.path;
  return file_name(name).starts_with("python") || is_julia(binary);
}

namespace {

bool begins_regions(const Binary& binary) {
  return binary.imports_function("__kmpc_fork_call") ||
         std::ranges::any_of(binary.imports,
                             [](const std::string& name) { return name.starts_with("GOMP_parallel"); }) ||
         std::ranges::any_of(binary.libraries, &Library::has_regions);
}

/// A program that has no MPI when it starts may load MPI, or start a program that has MPI. Of kind `pass_through` if
/// nothing says which MPI that would be.
Decision decide_to_await(const Binary& binary, const Options& options, const Site& site) {
  const bool chosen = options.mpi != base::MpiFamily::automatic;
  const auto expected = mpi_of(chosen ? options.mpi : mpi_of_launcher(site.environment));
  const bool other_kind = is_this_program(binary.path, site) || base::is_launcher_program(binary.path) ||
                          file_name(binary.path) == "valgrind" || !takes_libraries(binary, site);
  if (binary.mpi() != Mpi::none || expected == Mpi::none || other_kind) return pass_through("");
  // A program with OpenMP and without MPI is balanced as one process, unless the user knows better.
  if (!chosen && begins_regions(binary)) return pass_through("");
  const auto flavour = flavour_of(expected);
  auto decision =
      choose_flavour(flavour, chosen ? fmt::format("--mpi={}", flavour) : "a program of this launcher's MPI", site);
  if (decision.kind == Decision::Kind::refuse && !chosen) return pass_through("");
  decision.awaits_mpi = decision.kind == Decision::Kind::measure;
  if (const auto lookups = library_beside(site.self, "libsteelyard-lookups.so");
      decision.awaits_mpi && is_julia(binary) && !lookups.empty())
    decision.preload.push_back(lookups);
  return decision;
}

/// A program without MPI has loops, whose iterations can move; preloads nothing where it has not.
Decision decide_without_mpi(const Binary& binary, const Options& options, const Site& site) {
  if (!begins_regions(binary) || binary.openmp() == OpenMpRuntime::none ||
      (options.loops == base::Strategy::off && !options.observe))
    return {};
  const auto library = library_beside(site.self, "libsteelyard-alone.so");
  if (library.empty()) return {};
  Decision decision;
  decision.preload.push_back(library);
  return with_openmp(std::move(decision), binary, options, site);
}

Decision decide_alone(const Binary& binary, const std::string& shown, const Options& options, const Site& site) {
  if (auto decision = decide_to_await(binary, options, site); decision.kind != Decision::Kind::pass_through)
    return decision;
  if (auto decision = decide_by_kind(binary, shown, site); decision.kind != Decision::Kind::measure) return decision;
  if (binary.mpi() == Mpi::none) {
    if (auto decision = decide_without_mpi(binary, options, site);
        !decision.preload.empty() || decision.kind == Decision::Kind::refuse)
      return decision;
    const Mpi launchers = mpi_of(mpi_of_launcher(site.environment));
    const bool known = launchers != Mpi::none;
    const auto by_launcher = known ? "" : fmt::format("`mpirun -n 2 steelyard run {}`, or ", shown);
    const std::string_view other_names = known ? "" : " (or =mpich, =abi)";
    return pass_through(fmt::format(
        "{} uses no MPI library{}: nothing is balanced; if it loads MPI later or starts an MPI program: "
        "{}`steelyard run --mpi={} {}`{}",
        shown, options.loops != base::Strategy::off ? "" : ", and --loops=off leaves its loops to their OpenMP runtime",
        by_launcher, flavour_of(known ? launchers : Mpi::openmpi), shown, other_names));
  }
  const auto& mpi = binary.mpi_library()->name;
  if (binary.mpi() == Mpi::unknown) {
    return pass_through(
        fmt::format("{} uses {}, an MPI that Steelyard does not know: nothing is balanced; it knows Open MPI "
                    "(libmpi.so.40), MPICH, and what has MPICH's ABI: Intel MPI, MVAPICH, Cray MPICH (libmpich.so.12, "
                    "libmpi.so.12, libmpi_*.so.12), and the MPI standard's ABI (libmpi_abi.so.1)",
                    shown, mpi));
  }
  if (launched_by_another_mpi(binary, site)) {
    return refuse(fmt::format("{} uses {} ({}) and was started by {}: start it with the mpirun of its own MPI", shown,
                              is_open_mpi(binary) ? "Open MPI" : "MPICH", mpi, find_launcher(site.environment).name()));
  }
  if (!options.emulate.empty() && !is_topology(options.emulate)) {
    return refuse(
        fmt::format("--emulate is '{}', which hwloc does not understand; it must be a synthetic topology such as "
                    "\"package:2 core:24 pu:1\"",
                    options.emulate));
  }
  auto decision = choose_flavour(flavour_of(binary.mpi()), fmt::format("{} uses {} and", shown, mpi), site);
  return decision.kind == Decision::Kind::refuse ? decision : with_openmp(std::move(decision), binary, options, site);
}

}  // namespace

Decision decide(const Binary& binary, const std::string& shown, const Options& options, const Site& site) {
  auto decision = decide_alone(binary, shown, options, site);
  if (decision.kind != Decision::Kind::measure) return decision;
  const auto tools = other_tools(binary, site);
  for (const auto& tool : tools) {
    if (!tool.goes_first()) continue;
    if (!fits_in_list(tool.path)) return refuse_path(tool.path, "this tool");
    decision.before.push_back(tool.path);
  }
  for (auto& [text, at_start] : remarks_on(tools, binary, options, site)) {
    if (at_start) decision.remarks.push_back(std::move(text));
  }
  return decision;
}

std::vector<std::string> preload_list(const Decision& decision, const Site& site) {
  auto list = decision.before;
  list.insert(list.end(), decision.preload.begin(), decision.preload.end());
  for (const auto& entry : users_preload(site)) {
    const auto is_entry = [&](const std::string& tool) {
      return file_name(tool) == entry || is_same_file(tool, entry);
    };
    if (std::ranges::none_of(decision.before, is_entry)) list.push_back(entry);
  }
  return list;
}

}  // namespace steelyard::cli
