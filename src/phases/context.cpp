// SPDX-License-Identifier: BSD-3-Clause
#include "phases/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/log.h"
#include "node/binding.h"

namespace steelyard::phases {
namespace {

/// Asks hwloc once a process: a machine does not change, and a context must be cheap. Only the leader of a node asks at
/// all.
const node::Topology& topology_of_this_machine() {
  static const node::Topology topology = node::discover();
  return topology;
}

/// All processes take the leader's view, so all count the same resources in the same order, on an emulated node as on a
/// real one.
void publish(const node::Topology& topology, Shared& shared, node::Pu* pus) {
  shared.outline = node::outline_of(topology);
  std::copy(topology.pus.begin(), topology.pus.end(), pus);
}

node::Topology published(const Shared& shared, const node::Pu* pus) {
  node::Topology topology = node::topology_with(shared.outline);
  std::copy_n(pus, topology.pus.size(), topology.pus.begin());
  return topology;
}

std::vector<Context*> contexts;  // of this process

}  // namespace

base::Status Context::create(Transport& transport, Rendezvous::Lost lost, const decide::Settings& decision,
                             std::shared_ptr<Context>& context) {
  const auto size = static_cast<std::size_t>(transport.size());
  const auto members_at = [](void* head) { return reinterpret_cast<Member*>(static_cast<Shared*>(head) + 1); };
  const auto pus_at = [&](void* head) { return reinterpret_cast<node::Pu*>(members_at(head) + size); };
  const bool leader = transport.rank() == 0;
  std::size_t bytes = sizeof(Shared) + size * sizeof(Member);
  if (leader) bytes += topology_of_this_machine().pus.size() * sizeof(node::Pu);

  std::optional<Machine> machine;
  const auto fill = [&](void* head) {
    auto& shared = *static_cast<Shared*>(head);
    if (leader) {
      publish(topology_of_this_machine(), shared, pus_at(head));
      shared.decision = decision;
    }
    machine.emplace(published(shared, pus_at(head)));
    Member& mine = members_at(head)[transport.rank()];
    sign(mine);
    mine.rank = transport.rank_in_communicator();
    mine.world = transport.rank_in_world();
    const bool emulated = shared.outline.emulated != 0;
    const BindingStack& stack = BindingStack::of_this_process();
    const CpuSet mask = stack.now(emulated) & machine->all();
    // The affinity mask on the real machine may have nothing to do with the emulated one.
    const CpuSet& home = emulated && stack.empty() ? machine->all() : mask;
    (void)mine.home.assign(home);
    publish(mine, home);
  };
  std::unique_ptr<SharedFile> file;
  if (base::Status made = SharedFile::create(transport, bytes, fill, file); !made) return made;
  // The same in all processes: they have the leader's machine.
  if (base::Status room = node::SharedCpuSet().assign(machine->all()); !room) return room;
  context.reset(new Context(std::move(*machine), std::move(file), transport.rank(), transport.size()));

  Context& it = *context;
  it.rendezvous_ = std::make_unique<Rendezvous>(*it.shared_, it.members_, it.me_, std::move(lost));
  for (const Member& member : it.members_) it.job_ = it.job_ | member.home.set();
  it.exchange_ = std::make_unique<Exchange>(*it.shared_, it.members_, it.me_, *it.file_, *it.rendezvous_);
  contexts.push_back(&it);
  BindingStack::of_this_process().tell(&it.members_[static_cast<std::size_t>(it.me_)]);
  return {};
}

Context::Context(Machine machine, std::unique_ptr<SharedFile> file, int me, int size)
    : machine_(std::move(machine)),
      file_(std::move(file)),
      shared_(static_cast<Shared*>(file_->head())),
      emulated_(shared_->outline.emulated != 0),
      members_(reinterpret_cast<Member*>(shared_ + 1), static_cast<std::size_t>(size)),
      me_(me) {}

void Context::finalize_all() {
  for (Context* context : contexts) context->rendezvous_->finalize();
}

Context::~Context() {
  std::erase(contexts, this);
  BindingStack& stack = BindingStack::of_this_process();
  while (stack.depth(this) > 0 && stack.pop(this)) continue;
  stack.tell_no_more(&members_[static_cast<std::size_t>(me_)]);
}

ProcessInfo Context::process(int index) const {
  const Member& member = members_[static_cast<std::size_t>(index)];
  ProcessInfo info{member.rank, member.life.pid, member.home.set(), {}, false};
  info.bound = !machine_.all().within(info.home);
  const bool visible = member.life.pid_namespace == members_[static_cast<std::size_t>(me_)].life.pid_namespace;
  if (!emulated_ && visible) info.now = node::affinity_mask(member.life.pid);
  if (info.now.empty()) info.now = published(member);
  return info;
}

std::vector<int> Context::processes_in(Resource resource, int index) const {
  std::vector<int> found;
  for (int member = 0; member < size(); ++member) {
    if (machine_.holder(resource, members_[static_cast<std::size_t>(member)].home.set()) == index)
      found.push_back(member);
  }
  return found;
}

Resource Context::settle(Resource resource) const {
  const Resource there = machine_.nearest(resource);
  if (there != resource && me_ == 0) {
    base::warn_once(
        fmt::format("this machine tells of no {}: the {} is taken instead", name_of(resource), name_of(there)));
  }
  return there;
}

Distribution Context::distribute(Resource resource, int max_processes) const {
  std::vector<CpuSet> homes;
  for (const Member& member : members_) homes.push_back(member.home.set());
  return phases::distribute(machine_, homes, resource, max_processes);
}

base::Status Context::outside(const char* call) const {
  if (!in_phase) return {};
  return base::Status::failure(base::Code::invalid_state,
                               fmt::format("{} while a phase of this context is entered and not left: call "
                                           "steelyard_phase_leave() first, in every process, "
                                           "chosen or not",
                                           call));
}

base::Status Context::barrier(Rendezvous::Wait wait) {
  base::Status free = outside("a barrier or a quiesce is called");
  return free ? rendezvous_->meet({Call::Kind::barrier, 0}, wait) : free;
}

base::Status Context::pop() {
  BindingStack& stack = BindingStack::of_this_process();
  if (in_phase && stack.depth(this) > 0 && stack.depth(this) <= phase_depth) {
    return base::Status::failure(base::Code::invalid_state,
                                 "a pop in a phase of a binding that was pushed before the phase, or by it: call "
                                 "steelyard_phase_leave() first; pushes "
                                 "and pops must nest");
  }
  return stack.pop(this);
}

base::Status Context::push(const CpuSet& set, int threads) {
  const CpuSet allowed = set & job_;
  if (allowed.empty()) {
    return base::Status::failure(
        base::Code::invalid_argument,
        fmt::format("CPUs {} are not among those that the processes of this context were given ({})",
                    set.empty() ? "(none)" : to_text(set), to_text(job_)));
  }
  const int wanted = threads == 0 ? machine_.cores(allowed) : threads;
  return BindingStack::of_this_process().push(this, allowed, wanted, emulated_);
}

base::Status Context::push(Resource resource, int index, int threads) {
  const Resource there = settle(resource);
  if (index < 0 || index >= machine_.count(there)) {
    return base::Status::failure(base::Code::invalid_argument,
                                 fmt::format("there is no {} {}: this machine has {}, counted from 0", name_of(there),
                                             index, machine_.count(there)));
  }
  return push(machine_.cpus(there, index), threads);
}

base::Status Context::push_enclosing(Resource resource, int threads) {
  const CpuSet mine = now() & machine_.all();
  for (Resource there = settle(resource); there != Resource::machine;
       there = machine_.nearest(static_cast<Resource>(static_cast<int>(there) - 1))) {
    const int holder = machine_.holder(there, mine);
    if (holder >= 0) return push(machine_.cpus(there, holder), threads);
  }
  return push(machine_.all(), threads);
}

int Context::closest(Resource resource) const { return machine_.closest(resource, now() & job_); }

CpuSet Context::now() const {
  const BindingStack& stack = BindingStack::of_this_process();
  return emulated_ && stack.empty() ? members_[static_cast<std::size_t>(me_)].home.set() : stack.now(emulated_);
}

}  // namespace steelyard::phases
