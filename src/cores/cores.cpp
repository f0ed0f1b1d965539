#include "cores/cores.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/clock.h"
#include "cores/planner.h"
#include "node/binding.h"

namespace steelyard::cores {

std::size_t Cores::footprint(int cores, int processes) { return CoreTable::footprint(cores, processes); }

Cores::Cores(node::Segment& segment, node::Process* processes, int count, int me, const node::Topology& topology,
             Homes homes, Options options)
    : processes_(processes),
      count_(count),
      me_(me),
      topology_(topology),
      domain_(node::domains(topology, options.level)),
      homes_(std::move(homes)),
      options_(options),
      problem_(homes_.problem),
      table_(segment, static_cast<int>(topology.pus.size()), count, me) {
  if (count_ == 1) problem_ = "this node runs one rank: there is no other to take cores from or give them to";
}

Cores::~Cores() = default;

void Cores::settle_homes() {
  table_.settle(homes_.home);
  planner_ = std::make_unique<Planner>(options_.policy, processes_, count_);
}

void Cores::begin() {
  holding_ = std::make_unique<Holding>(table_, domain_);
  generation_ = table_.generation();
  // Where the launcher bound the processes apart, a core that comes in lies outside of this process's mask.
  bind_ = !homes_.masks_overlap && !topology_.emulated;
}

int Cores::threads_for_region(bool worth_borrowing, const Terms& terms) {
  const node::Process& self = processes_[me_];
  if (!problem_.empty()) return 0;
  const bool fixed = self.fixed.load(std::memory_order_relaxed) != 0;
  const int most = std::max(1, self.thread_ceiling.load(std::memory_order_relaxed));
  const bool changed = holding_->settle(most, options_.lend && worth_borrowing && !fixed, terms);
  const bool replanned = generation_ != table_.generation();
  if (changed || replanned) {
    // Unbound processes share their mask peacefully until a plan says which core is whose.
    generation_ = table_.generation();
    bind_ = bind_ || (replanned && !topology_.emulated);
    seats_.clear();
    for (const int core : holding_->cores()) seats_.push_back(topology_.pus[core].os_index);
    if (bind_) binding_.fetch_add(1, std::memory_order_relaxed);
  }
  return fixed ? 0 : std::min(most, std::max(1, static_cast<int>(holding_->cores().size())));
}

void Cores::after_region() {
  if (holding_) holding_->give_back_wanted();
}

void Cores::lend(std::int64_t now, const Wait& wait) {
  if (lends()) holding_->lend_all(now, wait);
}

void Cores::come_back() {
  if (lends()) holding_->come_back();
}

void Cores::bind_thread(int thread) {
  thread_local std::uint64_t seat_taken = 0;
  const std::uint32_t binding = binding_.load(std::memory_order_relaxed);
  const std::uint64_t seat = std::uint64_t{binding} << 32 | static_cast<std::uint32_t>(thread);
  if (binding == 0 || seat == seat_taken) return;
  seat_taken = seat;
  // A team larger than what is held (a clause asked for it) shares all of it. The primary thread is put in its place, and
  // may then leave it: what it starts, threads and programs, inherits where it may run.
  if (thread == 0 && !seats_.empty()) {
    node::bind_this_thread(seats_.front());
    node::bind_this_thread(seats_);
  } else if (thread < static_cast<int>(seats_.size())) {
    node::bind_this_thread(seats_[static_cast<std::size_t>(thread)]);
  } else {
    node::bind_this_thread(seats_);
  }
}

void Cores::unbind() {
  if (binding_.load(std::memory_order_relaxed) != 0) node::bind_this_thread(node::mask_of(processes_[me_]));
}

int Cores::owned() const {
  if (!problem_.empty()) return processes_[me_].threads_at_start;
  return holding_ ? std::max(1, holding_->home_count()) : homes_.threads[me_];
}

NodeShape Cores::shape() const {
  NodeShape shape;
  const int domains = domain_.empty() ? 1 : *std::max_element(domain_.begin(), domain_.end()) + 1;
  shape.capacity.assign(domains, 0);
  shape.held.assign(count_, std::vector<int>(domains, 0));
  const std::vector<int> home = table_.homes();
  for (std::size_t core = 0; core < home.size(); ++core) {
    if (homes_.usable[core]) ++shape.capacity[domain_[core]];
    if (home[core] >= 0) ++shape.held[home[core]][domain_[core]];
  }
  for (const int threads : homes_.threads) shape.budget += threads;
  return shape;
}

void Cores::consider(const observe::TickBoard& ticks, observe::TickSource source, int ticks_per_phase,
                     std::int64_t start) {
  if (!planner_ || !problem_.empty()) return;
  if (const int process = fixed_away_from_home(); process >= 0) {
    table_.rehome(homes_.home);
    planner_->start_again(base::seconds(base::now_ns() - start), processes_[process].world_rank);
    return;
  }
  const Plan* plan = planner_->consider(ticks, source, ticks_per_phase, start, [this] { return shape(); });
  if (plan != nullptr) table_.rehome(seat(table_.homes(), homes_.usable, joined(), *plan));
}

// A process whose count has become fixed after its cores had changed would share too few, or keep too many, to the end.
int Cores::fixed_away_from_home() const {
  std::vector<int> now(static_cast<std::size_t>(count_)), start(now);
  for (const int home : table_.homes()) {
    if (home >= 0) ++now[home];
  }
  for (const int home : homes_.home) {
    if (home >= 0) ++start[home];
  }
  for (int p = 0; p < count_; ++p) {
    if (now[p] != start[p] && processes_[p].fixed.load(std::memory_order_relaxed) != 0) return p;
  }
  return -1;
}

// By core: its domain as the plan means it.
std::vector<int> Cores::joined() const {
  const std::vector<int> first = joined_domains(shape());
  std::vector<int> domain = domain_;
  for (int& d : domain) d = first[static_cast<std::size_t>(d)];
  return domain;
}

const std::vector<observe::DecisionRecord>& Cores::decisions() const {
  static const auto& none = *new std::vector<observe::DecisionRecord>;
  return planner_ ? planner_->decisions() : none;
}

void Cores::report(observe::NodeRecord& node, std::vector<observe::DecisionRecord>& decisions) const {
  if (planner_) planner_->report(node, decisions);
  if (!problem_.empty()) node.nothing_moved = problem_;
}

std::vector<int> seat(const std::vector<int>& home, const std::vector<bool>& usable, const std::vector<int>& domain,
                      const Plan& plan) {
  std::vector<int> seated(home.size(), -1);
  std::vector<int> wanted = plan.threads;
  const auto suits = [&](std::size_t core, int process) {
    return usable[core] && (plan.domain[process] < 0 || domain[core] == plan.domain[process]);
  };
  for (std::size_t core = 0; core < home.size(); ++core) {
    const int process = home[core];
    if (process < 0 || wanted[process] == 0 || !suits(core, process)) continue;
    seated[core] = process;
    --wanted[process];
  }
  for (int process = 0; process < static_cast<int>(wanted.size()); ++process) {
    for (std::size_t core = 0; core < home.size() && wanted[process] > 0; ++core) {
      if (seated[core] != -1 || !suits(core, process)) continue;
      seated[core] = process;
      --wanted[process];
    }
  }
  return seated;
}

}  // namespace steelyard::cores
