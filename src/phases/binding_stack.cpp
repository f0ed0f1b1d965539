// SPDX-License-Identifier: BSD-3-Clause
#include "phases/binding_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "node/binding.h"
#include "phases/hold.h"
#include "phases/openmp_team.h"

namespace steelyard::phases {

BindingStack& BindingStack::of_this_process() {
  static BindingStack stack;
  return stack;
}

void BindingStack::publish_to_all(const CpuSet& set) const {
  for (Member* member : told_) publish(*member, set);
}

CpuSet BindingStack::now(bool emulated) const {
  if (emulated && !entries_.empty()) return entries_.back().set;
  return node::affinity_mask();
}

int BindingStack::depth(const void* owner) const {
  return static_cast<int>(std::ranges::count(entries_, owner, &Entry::owner));
}

base::Status BindingStack::push(const void* owner, const CpuSet& set, int threads, bool emulated) {
  Hold::begin();
  Entry entry{owner, emulated, set, {}, {}, 0};
  entry.before = emulated && !entries_.empty() ? entries_.back().set : node::affinity_mask();
  if (!emulated && !node::bind_this_thread(set)) {
    const int error = errno;
    Hold::end();
    return base::Status::failure(
        base::Code::system,
        fmt::format("CPUs {} cannot be bound to ({}): this job may use CPUs {}; push a set of those", to_text(set),
                    std::strerror(error), to_text(entry.before)));
  }
  const int had = openmp::max_threads();
  if (threads != kSameThreads && had > 0 && threads != had && !openmp::in_parallel()) {
    entry.threads_before = had;
    openmp::set_threads(threads);
  }
  // A team of one has no workers; the first team of a process inherits, unless the runtime has places of its own.
  const int widest = std::max(widest_, had);
  const bool workers_exist = widest > 1;
  widest_ = std::max(widest, threads);
  if (!emulated && widest_ > 1 && (workers_exist || openmp::binds_threads())) bind_workers(entry, set);
  entries_.push_back(std::move(entry));
  publish_to_all(set);
  return {};
}

// Each binds itself: that reaches exactly the threads that will work in the next regions, and no helper of the MPI
// library.
bool BindingStack::bind_workers(Entry& entry, const CpuSet& set) {
  const int team = openmp::max_threads();
  if (team < 2 || openmp::in_parallel()) return false;
  entry.workers_before.resize(static_cast<std::size_t>(team));
  const int cpus = std::max(1, set.count());
  return openmp::run_team([&](int thread) {
    if (thread >= team) return;
    if (thread > 0) entry.workers_before[static_cast<std::size_t>(thread)] = node::affinity_mask();
    // Each is put on a CPU of its own, which it may then leave: the kernel spreads threads over a set late.
    node::bind_this_thread(set.only(thread % cpus));
    node::bind_this_thread(set);
  });
}

// Workers that came while the set was in force get what the thread had that made them.
void BindingStack::unbind_workers(const Entry& entry) {
  if (openmp::max_threads() < 2 || openmp::in_parallel()) return;
  openmp::run_last_team([&](int thread) {
    if (thread == 0) return;
    const auto place = static_cast<std::size_t>(thread);
    const bool known = place < entry.workers_before.size() && !entry.workers_before[place].empty();
    node::bind_this_thread(known ? entry.workers_before[place] : entry.before);
  });
}

base::Status BindingStack::pop(const void* owner) {
  if (depth(owner) == 0) {
    return base::Status::failure(base::Code::invalid_state,
                                 "a pop without a push: this context has no pushed binding in force; call "
                                 "steelyard_binding_push_cpuset() first");
  }
  const Entry entry = entries_.back();
  if (entry.owner != owner) {
    return base::Status::failure(
        base::Code::invalid_state,
        "a pop out of order: another context (perhaps of another library) has pushed a binding since and must pop it "
        "first");
  }
  if (!entry.emulated && widest_ > 1) unbind_workers(entry);
  if (entry.threads_before > 0) openmp::set_threads(entry.threads_before);
  entries_.pop_back();
  const bool refused = !entry.emulated && !node::bind_this_thread(entry.before);
  const int error = errno;
  publish_to_all(refused ? node::affinity_mask() : entry.before);
  Hold::end();
  if (refused) {
    return base::Status::failure(base::Code::system,
                                 fmt::format("CPUs {}, which this thread had before, cannot be bound to any more ({})",
                                             to_text(entry.before), std::strerror(error)));
  }
  return {};
}

}  // namespace steelyard::phases
