// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "api/guarded.h"
#include "api/hooks.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "node/cgroup.h"
#include "node/identity.h"
#include "phases/hold.h"
#include "phases/phase.h"
#include "wait/back_off.h"

#define STEELYARD_WITHOUT_MPI
#include "steelyard/phases.h"

// steelyard/phases.h over src/phases: checks arguments, turns failures into a status and a message, lets no exception
// pass.
using namespace steelyard::phases;
using steelyard::api::Code;
using steelyard::api::invalid_argument;
using steelyard::api::outcome;
using steelyard::base::Status;

struct steelyard_node {
  std::shared_ptr<Context> context;
};

struct steelyard_phase {
  Phase phase;
  View gathered, scattered;  // what the views given to the program point into
};

namespace {

template <class Call>
steelyard_status_t guarded(const char* name, const void* handle, Call&& call) {
  return steelyard::api::guarded(name, handle == nullptr, "handle or pointer", std::forward<Call>(call));
}

/// For calls with a result, which is reset first. A null result is refused as a null handle is.
template <class Result, class Call>
steelyard_status_t guarded(const char* name, const void* handle, Result* result, Call&& call) {
  if (result != nullptr) *result = {};
  return guarded(name, result == nullptr ? nullptr : handle, std::forward<Call>(call));
}

/// Tells the measurement that the calling thread waits, for as long as this lives.
struct Waiting {
  explicit Waiting(bool quiesced) { steelyard_internal_wait_begins(quiesced ? 1 : 0); }
  ~Waiting() { steelyard_internal_wait_ends(); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
};

Status known(steelyard_resource_t resource) {
  if (resource >= STEELYARD_MACHINE && resource <= STEELYARD_PU) return {};
  return invalid_argument("{} is not a type of resource: use STEELYARD_MACHINE to STEELYARD_PU",
                          static_cast<int>(resource));
}

Resource settled(const Context& context, steelyard_resource_t resource) {
  return context.settle(static_cast<Resource>(resource));
}

Status known(const Context& context, steelyard_resource_t resource, int index) {
  if (Status kind = known(resource); !kind) return kind;
  const int count = context.machine().count(settled(context, resource));
  if (index >= 0 && index < count) return {};
  return invalid_argument("there is no {} {}: this machine has {}, counted from 0",
                          name_of(static_cast<Resource>(resource)), index, count);
}

Status positive(int max_processes) {
  if (max_processes > 0) return {};
  return invalid_argument("max_processes is {}: pass 1 or more", max_processes);
}

Status threads_known(int threads) {
  if (threads >= STEELYARD_THREADS_KEEP) return {};
  return invalid_argument(
      "the thread count is {}: pass a number from 1, STEELYARD_THREADS_ONE_PER_CORE or STEELYARD_THREADS_KEEP",
      threads);
}

steelyard_cpuset_t to_c(const CpuSet& set) {
  steelyard_cpuset_t cpus;
  steelyard::node::SharedCpuSet shared;
  static_assert(sizeof(cpus.words) == sizeof(shared.words));
  (void)shared.assign(set);  // within the machine, for which Context::create() has found room
  std::memcpy(cpus.words, shared.words.data(), sizeof(cpus.words));
  return cpus;
}

CpuSet from_c(const steelyard_cpuset_t& cpus) { return CpuSet::from_words(cpus.words, std::size(cpus.words)); }

int rank_in_world = -1;  // as the program's MPI says

/// The program's own MPI, called through the functions of the transport.
class CalledTransport final : public Transport {
 public:
  explicit CalledTransport(const steelyard_node_transport_t& by) : by_(by) {}
  int rank() const override { return by_.rank; }
  int size() const override { return by_.size; }
  int rank_in_communicator() const override { return by_.rank_in_communicator; }
  int rank_in_world() const override { return ::rank_in_world >= 0 ? ::rank_in_world : by_.rank_in_communicator; }
  void broadcast(void* bytes, std::size_t size) override {
    if (by_.size == 1) return;
    const Waiting waiting(false);
    by_.broadcast(by_.self, bytes, size);
  }
  bool all_agree(bool mine) override {
    if (by_.size == 1) return mine;
    const Waiting waiting(false);
    return by_.all_agree(by_.self, mine ? 1 : 0) != 0;
  }

 private:
  const steelyard_node_transport_t& by_;
};

/// Tells the run record how a phase has run until now.
void tell(const Account& account) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  const double seconds = 1e-9 * static_cast<double>(account.time());
  std::vector<steelyard_internal_configuration> told;
  for (const Configuration& it : account.configurations()) {
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): names of resources are literals.
    const char* const resource = name_of(it.resource).data();
    steelyard_internal_configuration configuration{resource, it.max_per_resource, it.processes, it.threads, 0,
                                                   0,        -kUnknown,           kUnknown};
    const auto candidate = static_cast<int>(told.size());
    if (!account.contest) {
      configuration.seconds = seconds / static_cast<double>(account.runs());
    } else {
      configuration.seconds = account.contest->typical(candidate);
      if (candidate != account.contest->leader()) {
        const auto gain = account.contest->gain_over(candidate);
        configuration.gain = gain.value;
        configuration.gain_low = gain.interval.low;
        configuration.gain_high = gain.interval.high;
      }
    }
    told.push_back(configuration);
  }
  const steelyard_internal_phase phase{account.number(),
                                       account.size(),
                                       account.created(),
                                       account.autotuned() ? 1 : 0,
                                       account.runs(),
                                       seconds,
                                       static_cast<int>(account.best()),
                                       static_cast<int>(told.size()),
                                       told.data()};
  steelyard_internal_phase_left(&phase);
}

void show(const View& view, steelyard_view_t* shown) {
  *shown = {view.data, static_cast<int>(view.members.size()), view.sizes.data(), view.members.data()};
}

}  // namespace

extern "C" {

void steelyard_cpuset_format(const steelyard_cpuset_t* cpus, char* text, size_t size) {
  if (text == nullptr || size == 0) return;
  const std::string words = cpus == nullptr ? "" : to_text(from_c(*cpus));
  const std::size_t used = std::min(size - 1, words.size());
  std::memcpy(text, words.data(), used);
  text[used] = '\0';
}

steelyard_status_t steelyard_node_create_with_transport(const steelyard_node_transport_t* transport,
                                                        steelyard_node_t** node) {
  if (node != nullptr) *node = nullptr;
  return guarded("steelyard_node_create", transport == nullptr ? nullptr : static_cast<const void*>(node), [&] {
    if (transport->status != STEELYARD_SUCCESS)
      return Status::failure(static_cast<Code>(transport->status), transport->message);
    steelyard_internal_phases_begin(transport->size);
    steelyard::phases::Hold::tell({steelyard_internal_hold_begins, steelyard_internal_hold_ends});
    CalledTransport called(*transport);
    void (*const abort)() = transport->abort;
    std::shared_ptr<Context> context;
    Status made = Context::create(
        called,
        [abort](const std::string& sentence) {
          steelyard::base::warn(sentence);
          if (abort != nullptr) abort();
          std::abort();
        },
        steelyard::base::options().decision(), context);
    if (!made) return made;
    *node = new steelyard_node{std::move(context)};
    return made;
  });
}

void steelyard_node_free(steelyard_node_t* node) { delete node; }
int steelyard_node_size(const steelyard_node_t* node) { return node == nullptr ? 0 : node->context->size(); }
int steelyard_node_rank(const steelyard_node_t* node) { return node == nullptr ? 0 : node->context->me(); }

steelyard_status_t steelyard_node_count_resources(const steelyard_node_t* node, steelyard_resource_t resource,
                                                  int* count) {
  return guarded(__func__, node, count, [&] {
    Status kind = known(resource);
    if (kind) *count = node->context->machine().count(static_cast<Resource>(resource));
    return kind;
  });
}

steelyard_status_t steelyard_node_count_resources_in(const steelyard_node_t* node, steelyard_resource_t outer,
                                                     int index, steelyard_resource_t inner, int* count) {
  return guarded(__func__, node, count, [&] {
    const Context& context = *node->context;
    if (Status kind = known(inner); !kind) return kind;
    if (Status place = known(context, outer, index); !place) return place;
    *count = context.machine().count_in(settled(context, outer), index, static_cast<Resource>(inner));
    return Status();
  });
}

steelyard_status_t steelyard_node_get_cpuset(const steelyard_node_t* node, steelyard_resource_t resource, int index,
                                             steelyard_cpuset_t* cpus) {
  return guarded(__func__, node, cpus, [&] {
    const Context& context = *node->context;
    Status place = known(context, resource, index);
    if (place) *cpus = to_c(context.machine().cpus(settled(context, resource), index));
    return place;
  });
}

steelyard_status_t steelyard_node_get_processes(const steelyard_node_t* node, steelyard_resource_t resource, int index,
                                                int* processes, int capacity, int* count) {
  return guarded(__func__, node, count, [&] {
    const Context& context = *node->context;
    if (Status place = known(context, resource, index); !place) return place;
    const std::vector<int> found = context.processes_in(settled(context, resource), index);
    *count = static_cast<int>(found.size());
    if (processes != nullptr && capacity > 0) std::copy_n(found.begin(), std::min(capacity, *count), processes);
    return Status();
  });
}

steelyard_status_t steelyard_node_find_closest(const steelyard_node_t* node, steelyard_resource_t resource,
                                               int* index) {
  return guarded(__func__, node, index, [&] {
    Status kind = known(resource);
    if (kind) *index = node->context->closest(settled(*node->context, resource));
    return kind;
  });
}

steelyard_status_t steelyard_node_get_process(const steelyard_node_t* node, int process,
                                              steelyard_process_info_t* info) {
  return guarded(__func__, node, info, [&] {
    const Context& context = *node->context;
    if (process < 0 || process >= context.size()) {
      return invalid_argument("there is no process {} in this context: its node has {}, counted from 0", process,
                              context.size());
    }
    const ProcessInfo found = context.process(process);
    *info = {found.rank, found.pid, found.bound ? 1 : 0, to_c(found.home), to_c(found.now)};
    return Status();
  });
}

steelyard_status_t steelyard_node_get_machine(const steelyard_node_t* node, steelyard_machine_info_t* info) {
  return guarded(__func__, node, info, [&] {
    const Context& context = *node->context;
    *info = {context.machine().threads_per_core(), context.machine().kinds(),     context.emulated() ? 1 : 0,
             steelyard::node::cpu_quota(),         to_c(context.machine().all()), to_c(context.job())};
    return Status();
  });
}

steelyard_status_t steelyard_node_get_cpu_kind(const steelyard_node_t* node, int cpu, int* kind) {
  return guarded(__func__, node, kind, [&] {
    const int found = node->context->machine().kind(cpu);
    if (found < 0)
      return invalid_argument("this job has no CPU {}: pass one of job_cpuset (steelyard_node_get_machine())", cpu);
    *kind = found;
    return Status();
  });
}

steelyard_status_t steelyard_binding_push_cpuset(steelyard_node_t* node, const steelyard_cpuset_t* cpus, int threads) {
  return guarded(__func__, cpus == nullptr ? nullptr : node, [&] {
    Status count = threads_known(threads);
    return count ? node->context->push(from_c(*cpus), threads) : count;
  });
}

steelyard_status_t steelyard_binding_push_resource(steelyard_node_t* node, steelyard_resource_t resource, int index,
                                                   int threads) {
  return guarded(__func__, node, [&] {
    if (Status count = threads_known(threads); !count) return count;
    if (Status kind = known(resource); !kind) return kind;
    return node->context->push(static_cast<Resource>(resource), index, threads);
  });
}

steelyard_status_t steelyard_binding_push_enclosing(steelyard_node_t* node, steelyard_resource_t resource,
                                                    int threads) {
  return guarded(__func__, node, [&] {
    if (Status count = threads_known(threads); !count) return count;
    Status kind = known(resource);
    return kind ? node->context->push_enclosing(static_cast<Resource>(resource), threads) : kind;
  });
}

steelyard_status_t steelyard_binding_pop(steelyard_node_t* node) {
  return guarded(__func__, node, [&] { return node->context->pop(); });
}

steelyard_status_t steelyard_node_distribute(const steelyard_node_t* node, steelyard_resource_t resource,
                                             int max_processes, int* chosen) {
  return guarded(__func__, node, chosen, [&] {
    if (Status count = positive(max_processes); !count) return count;
    if (Status kind = known(resource); !kind) return kind;
    const Context& context = *node->context;
    *chosen = context.distribute(settled(context, resource), max_processes).chosen(context.me()) ? 1 : 0;
    return Status();
  });
}

steelyard_status_t steelyard_node_barrier(steelyard_node_t* node) {
  return guarded(__func__, node, [&] {
    const Waiting waiting(false);
    return node->context->barrier(Rendezvous::Wait::brief);
  });
}

steelyard_status_t steelyard_node_quiesce(steelyard_node_t* node) {
  return guarded(__func__, node, [&] {
    const Waiting waiting(true);
    return node->context->barrier(Rendezvous::Wait::asleep);
  });
}

steelyard_status_t steelyard_phase_create(steelyard_node_t* node, steelyard_resource_t resource, int max_processes,
                                          steelyard_phase_t** phase) {
  return guarded(__func__, node, phase, [&] {
    if (Status count = positive(max_processes); !count) return count;
    if (Status kind = known(resource); !kind) return kind;
    *phase = new steelyard_phase{Phase(node->context, static_cast<Resource>(resource), max_processes), {}, {}};
    return Status();
  });
}

steelyard_status_t steelyard_phase_create_autotuned(steelyard_node_t* node, const steelyard_phase_bounds_t* bounds,
                                                    steelyard_phase_t** phase) {
  return guarded(__func__, node, phase, [&] {
    Bounds within;
    if (bounds != nullptr)
      within = {bounds->min_processes, bounds->max_processes, bounds->max_threads, bounds->min_threads};
    if (std::min({within.min_processes, within.max_processes, within.max_threads, within.min_threads}) < 0) {
      return invalid_argument(
          "the bounds of a phase are {} to {} processes of {} to {} threads: pass numbers from 1, or 0 for no bound",
          within.min_processes, within.max_processes, within.min_threads, within.max_threads);
    }
    const std::vector<Configuration> configurations = configurations_between(*node->context, within);
    if (configurations.empty()) {
      return invalid_argument(
          "no configuration of the phase has {} to {} processes on this node of {}: widen the bounds",
          within.min_processes, within.max_processes == 0 ? node->context->size() : within.max_processes,
          node->context->size());
    }
    *phase = new steelyard_phase{Phase(node->context, configurations), {}, {}};
    return Status();
  });
}

void steelyard_phase_free(steelyard_phase_t* phase) { delete phase; }

steelyard_status_t steelyard_phase_enter(steelyard_phase_t* phase, int* chosen) {
  return guarded(__func__, phase, chosen, [&] {
    bool works = false;
    const Waiting waiting(false);
    Status entered = phase->phase.enter(works);
    *chosen = works ? 1 : 0;
    return entered;
  });
}

steelyard_status_t steelyard_phase_leave(steelyard_phase_t* phase) {
  return guarded(__func__, phase, [&] {
    Status left;
    {
      const Waiting waiting(!phase->phase.chosen());
      left = phase->phase.leave();
    }
    if (left && phase->phase.account().me() == 0) tell(phase->phase.account());
    return left;
  });
}

int steelyard_internal_node_id(void) { return steelyard::node::identity(); }

void steelyard_internal_pause(int turn) {
  thread_local std::int64_t begin = 0;
  const std::int64_t now = steelyard::base::now_ns();
  if (turn == 0) begin = now;
  const auto& back_off = steelyard::wait::kSetUp;
  if (back_off.stage(now - begin) == steelyard::wait::Stage::yield) {
    steelyard::wait::yield();
  } else {
    steelyard::wait::sleep_for(back_off.sleep(now - begin));
  }
}

void steelyard_internal_set_world_rank(int rank) { rank_in_world = rank; }

void steelyard_internal_phases_finalize(void) {
  Phase::leave_all("MPI_Finalize was called");
  Context::finalize_all();
}

steelyard_status_t steelyard_phase_get_configuration(const steelyard_phase_t* phase,
                                                     steelyard_phase_configuration_t* configuration) {
  return guarded(__func__, phase, configuration, [&] {
    const Phase& it = phase->phase;
    const int me = it.context().me();
    *configuration = {it.configuration().processes,
                      it.threads(),
                      it.settled() ? 1 : 0,
                      it.chosen() ? 1 : 0,
                      it.distribution().leader[static_cast<std::size_t>(me)],
                      it.typical()};
    return Status();
  });
}

steelyard_status_t steelyard_phase_gather(steelyard_phase_t* phase, const void* data, size_t size,
                                          steelyard_view_t* all) {
  return guarded(__func__, phase, all, [&] {
    Status done = phase->phase.gather(data, data == nullptr ? 0 : size, phase->gathered);
    show(phase->gathered, all);
    return done;
  });
}

steelyard_status_t steelyard_phase_scatter(steelyard_phase_t* phase, const void* data, const size_t* sizes,
                                           steelyard_view_t* mine) {
  return guarded(__func__, phase, mine, [&] {
    // A leader that passes nothing scatters 0 bytes to each, so that no process waits for ever.
    std::vector<std::size_t> parts(phase->phase.members_of_scatter());
    if (data != nullptr && sizes != nullptr) std::copy_n(sizes, parts.size(), parts.begin());
    Status done = phase->phase.scatter(data, parts, phase->scattered);
    show(phase->scattered, mine);
    return done;
  });
}
}
