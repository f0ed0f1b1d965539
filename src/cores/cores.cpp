// SPDX-License-Identifier: BSD-3-Clause
#include "cores/cores.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/clock.h"
#include "cores/planner.h"
#include "cores/resize.h"
#include "node/binding.h"
#include "node/run_delay.h"

namespace steelyard::cores {

namespace {
// Each process has a slot for each core, at most.
int most_slots(int cores, int processes) { return cores * processes; }
// A core counts for late-join if it comes before the last tenth of the region. A region without late-join threads would
// have saved half of what is left when a core comes, so a tenth of the shorter region is a fifth of this one.
constexpr std::int64_t kLeftForLateJoin = 10;
constexpr std::int64_t kLeftToBegin = kLeftForLateJoin / 2;
}  // namespace

std::size_t Cores::footprint(int cores, int processes) {
  return CoreTable::footprint(most_slots(cores, processes), processes) + LateJoin::footprint(processes);
}

Cores::Cores(node::Segment& segment, node::Process* processes, int count, int me, const node::Topology& topology,
             observe::Activity& activity, Options options)
    : processes_(processes),
      count_(count),
      me_(me),
      topology_(topology),
      activity_(activity),
      domain_(node::domains(topology, options.level)),
      options_(options),
      table_(segment, most_slots(static_cast<int>(topology.pus.size()), count), count, me),
      late_join_(segment, count, me),
      late_join_regions_(options.policy.decision),
      borrowing_(options.policy.decision),
      borrowed_from_(static_cast<std::size_t>(count)) {}

Cores::~Cores() = default;

void Cores::settle_owners(Owners owners, bool leader) {
  owners_ = std::move(owners);
  usable_at_start_ = owners_.usable;
  alone_ = count_ == 1 && owners_.immovable_reason.empty();
  immovable_reason_ = count_ == 1 ? observe::kOneRank : owners_.immovable_reason;
  const std::vector<int>& owner = slots() ? owners_.slots : owners_.owner;
  table_.shrink(static_cast<int>(owner.size()));
  if (!leader) return;
  table_.settle(owner);
  planner_ = std::make_unique<Planner>(options_.policy, processes_, count_);
}

void Cores::begin() {
  generation_ = table_.generation();
  if (slots()) {
    const auto count = owners_.slots.size();
    holding_ = std::make_unique<Holding>(table_, std::vector<int>(count), surplus_slots());
    return;
  }
  holding_ = std::make_unique<Holding>(table_, domain_);
  count_cores_without_owner();
  // If the launcher bound the processes apart, a core of another process lies outside of this process's affinity mask.
  bind_ = !owners_.masks_overlap && !topology_.emulated;
  thread_cpus_ = cpus();
  run_delays_known_ = !topology_.emulated && node::run_delay(node::thread_id()) >= 0;
  if (topology_.emulated) binding_.store(1, std::memory_order_relaxed);  // there, bindings are only noted
}

void Cores::count_cores_without_owner() {
  const std::vector<int> owner = table_.owners();
  without_owner_ = 0;
  for (std::size_t core = 0; core < owner.size(); ++core)
    without_owner_ += owners_.usable[core] && owner[core] == -1 ? 1 : 0;
}

std::vector<int> Cores::cpus(const std::vector<int>& cores) const {
  std::vector<int> cpus;
  for (const int core : cores) cpus.push_back(topology_.pus[core].os_index);
  return cpus;
}

std::vector<int> Cores::poll() {
  holding_->take_free_cores();
  return cpus(holding_->cores_without_wanted());
}

// A core that was asked for after poll() is kept until the next one: the program has not been told.
void Cores::keep_only(const std::vector<int>& kept, std::int64_t now) {
  holding_->return_wanted(
      [&](int core) { return std::find(kept.begin(), kept.end(), topology_.pus[core].os_index) == kept.end(); });
  if (!acquired_.empty()) note_by_call(now, borrowed_cores());
}

void Cores::note_by_call(std::int64_t now, std::span<const int> acquired) {
  const std::int64_t used = add_borrowed(acquired_, std::max<std::int64_t>(0, now - acquired_since_));
  activity_.hold_by_call(holding_->offered(), used, now);
  acquired_.assign(acquired.begin(), acquired.end());
  acquired_since_ = now;
}

// A core that a plan has given to this process meanwhile, or that has lost its owner, is not borrowed.
std::int64_t Cores::add_borrowed(std::span<const int> cores, std::int64_t length) {
  std::int64_t sum = 0;
  for (const int core : cores) {
    const int owner = table_.owner(core);
    if (owner < 0 || owner == me_) continue;
    borrowed_from_[static_cast<std::size_t>(owner)] += length;
    sum += length;
  }
  return sum;
}

std::span<const int> Cores::borrowed_cores() const {
  return std::span(holding_->cores()).last(static_cast<std::size_t>(holding_->borrowed()));
}

// After a region, none: what is borrowed then was for the region.
std::span<const int> Cores::still_acquired() const {
  return acquired_.empty() ? std::span<const int>() : borrowed_cores();
}

int Cores::offer(int most, std::int64_t now) {
  by_call_ = true;
  const int offered = holding_->offer(most, now);
  note_by_call(now, still_acquired());
  return offered;
}

int Cores::reclaim(std::int64_t now) {
  const int missing = holding_->reclaim();
  if (by_call_) note_by_call(now, still_acquired());
  return missing;
}

int Cores::acquire(int most, const Terms& terms) {
  by_call_ = true;
  const int acquired = holding_->acquire(most, terms);
  note_by_call(base::now_ns(), borrowed_cores());
  return acquired;
}

void Cores::release(std::int64_t now) {
  holding_->release(now);
  note_by_call(now);
}

// True if the cores that are held are those for which threads were last bound.
bool Cores::threads_are_placed() const {
  return std::equal(holding_->cores().begin(), holding_->cores().end(), thread_cpus_.begin(), thread_cpus_.end(),
                    [this](int core, int cpu) { return topology_.pus[core].os_index == cpu; });
}

// At least one, and at most as many as the region and the rank can use.
int Cores::threads_on(int cores, int most) const {
  const int ceiling = processes_[me_].thread_ceiling.load(std::memory_order_relaxed);
  return std::max(1, std::min({cores, most, ceiling}));
}

int Cores::threads_for_region(const RegionAhead& region) {
  if (!changes_threads()) return 0;
  const bool fixed = processes_[me_].fixed.load(std::memory_order_relaxed) != 0;
  const int most = threads_on(slots() ? owners_.cores : std::numeric_limits<int>::max(), region.most);
  region_ = region;
  region_.worth_borrowing = region.worth_borrowing && options_.lend && !fixed && borrowing_.allowed(region.begin);
  if (late_join_.changed()) find_given();
  note_by_call(region.begin);
  had_ = static_cast<int>(holding_->cores().size());
  const int own = holding_->owned_count();
  const int worth = region_.worth_borrowing ? borrowing_.threads_worth(own, region.own_length, region.begin) : own;
  region_.worth_borrowing = worth > own;
  const int pays = std::min(most, std::max(worth, had_));
  const bool changed = holding_->settle(pays, region_.worth_borrowing, region.terms);
  borrowed_since_ = changed && holding_->borrowed() > 0 ? base::now_ns() : region.begin;
  const bool replanned = generation_ != table_.generation();
  const int held = static_cast<int>(holding_->cores().size());
  late_join_count_ = late_join_threads(held, pays);
  if (slots()) {  // no thread is bound, and without additional slots the program's count remains
    threads_ = threads_on(held + late_join_count_, most);
    return holding_->borrowed() + late_join_count_ > 0 ? threads_ : 0;
  }
  if (replanned || rebind_ || !threads_are_placed() ||
      (late_join_count_ > 0 && binding_.load(std::memory_order_relaxed) == 0)) {
    // Unbound processes with one affinity mask share its cores until a plan assigns each core to a process, or until a
    // late-join thread has to keep off the cores of other processes.
    generation_ = table_.generation();
    count_cores_without_owner();
    rebind_ = false;
    bind_ = bind_ || ((replanned || late_join_count_ > 0) && !topology_.emulated);
    thread_cpus_ = cpus();
    if (bind_ || topology_.emulated) binding_.fetch_add(1, std::memory_order_relaxed);
  }
  if (late_join_count_ > 0) late_join_.request(held, thread_cpus_, region.terms.until);
  threads_ = threads_on(held + late_join_count_, most);
  choose_measurement();
  return fixed ? 0 : threads_;
}

bool Cores::at_rest() const {
  if (slots()) return holding_->at_rest();
  if (!immovable_reason_.empty()) return true;
  return holding_ && holding_->at_rest() && generation_ == table_.generation() && !rebind_ &&
         !late_join_.will_be_changed() && threads_are_placed();
}

int Cores::threads_at_rest(int most) const {
  const bool fixed = !immovable_reason_.empty() || processes_[me_].fixed.load(std::memory_order_relaxed) != 0;
  return fixed ? 0 : threads_on(static_cast<int>(holding_->cores().size()), most);
}

// One late-join thread for each thread, or none: if a loop has equal parts, a core with two threads delays the cores
// with one. Only if threads are really bound, and no core is shared with a borrower already. With slots, the kernel
// moves the additional threads to cores that come free.
int Cores::late_join_threads(int held, int most) {
  // On an emulated node, an additional thread would compute before a core is free.
  if (!region_.worth_borrowing || topology_.emulated || holding_->shares() || holding_->borrowed() > 0) return 0;
  if (slots()) return std::clamp(late_join_regions_.likely(region_.key, held), 0, std::max(0, most - held));
  const bool fits = held > 0 && held <= LateJoin::kMost && 2 * held <= most;
  return fits && late_join_regions_.likely(region_.key, held) >= held && late_join_.possible() ? held : 0;
}

std::vector<int> Cores::find_given() {
  rebind_ = true;
  return holding_->find_given();
}

int Cores::threads_without_core(int team) const {
  if (!immovable_reason_.empty() || !holding_) return 0;
  const int without = team - static_cast<int>(holding_->cores().size());
  return std::max(0, bind_ ? without : without - without_owner_);
}

observe::TeamCores Cores::after_region(std::int64_t now, int team, const observe::Activity& activity) {
  if (!holding_) return {};
  late_join_.withdraw();
  const int borrowed = holding_->borrowed();
  const int own = static_cast<int>(holding_->cores().size()) - borrowed;
  observe::TeamCores cores = time_on_held_cores(now, team, own);
  const std::vector<int> given = cores_given_meanwhile(now);
  add_time_on_given_cores(now, team, given, cores);
  // Not comparable: a team that was cut short can use no further core, and one with borrowed cores is shorter.
  if (region_.worth_borrowing && team == threads_ && borrowed == 0) learn_from_late_join(now, given);
  if (team == threads_ && team <= activity.cells()) {
    if (comparable_) learn_from_borrowing(now, borrowed, activity);
    if (borrowed > 0 && late_join_count_ == 0) learn_how_threads_begin(now, team, own, activity);
  }
  late_join_count_ = 0;
  holding_->give_back_wanted();
  return cores;
}

int Cores::late_joined(int team) const { return std::clamp(team - (threads_ - late_join_count_), 0, late_join_count_); }

observe::TeamCores Cores::time_on_held_cores(std::int64_t now, int team, int own) {
  const auto used = static_cast<std::size_t>(std::clamp(team - own, 0, holding_->borrowed()));
  const std::int64_t since = std::max<std::int64_t>(0, now - borrowed_since_);
  return {.without = std::max(late_joined(team), threads_without_core(team)) * (now - region_.begin),
          .borrowed = add_borrowed(borrowed_cores().first(used), since)};
}

// A lender may have passed a core without having announced it yet.
std::vector<int> Cores::cores_given_meanwhile(std::int64_t now) {
  const bool asked = late_join_count_ > 0;
  if (slots()) return asked ? idle_cores(now) : std::vector<int>();
  return late_join_.changed() || asked ? find_given() : std::vector<int>();
}

void Cores::add_time_on_given_cores(std::int64_t now, int team, const std::vector<int>& given,
                                    observe::TeamCores& cores) {
  for (std::size_t i = 0; i < given.size() && static_cast<int>(i) < late_joined(team); ++i) {
    const std::int64_t with = std::clamp<std::int64_t>(now - table_.lent_since(given[i]), 0, now - region_.begin);
    cores.came_late += add_borrowed(std::span(given).subspan(i, 1), with);
    cores.without -= with;
  }
  cores.borrowed += cores.came_late;
}

void Cores::learn_from_late_join(std::int64_t now, const std::vector<int>& given) {
  const bool asked = late_join_count_ > 0;
  const int came =
      asked ? came_in_time(given, now, kLeftForLateJoin) : came_in_time(idle_cores(now), now, kLeftToBegin);
  late_join_regions_.learn(region_.key, {came, asked, threads_ - late_join_count_, now - region_.begin});
}

void Cores::learn_how_threads_begin(std::int64_t now, int team, int own, const observe::Activity& activity) {
  if (team <= had_) return;
  std::int64_t begun = region_.begin;
  for (int thread = own; thread < team; ++thread) begun = std::max(begun, activity.begun(thread));
  borrowing_.learn_begin(team - had_, begun - region_.begin, now);
}

// Threads on borrowed cores have the highest thread IDs (Holding::cores()) and are bound there. Otherwise the kernel
// may move every thread to a free CPU, and no core holds up the team.
void Cores::choose_measurement() {
  const int own = threads_ - holding_->borrowed();
  const bool bound = run_delays_known_ && binding_.load(std::memory_order_relaxed) != 0;
  comparable_ = bound && late_join_count_ == 0 && own > 0 && own < threads_;
  const bool measured = comparable_ && borrowing_.wants_measurement(region_.begin, region_.terms.until - region_.begin);
  if (measured) begun_.assign(static_cast<std::size_t>(threads_ - own), {});
  const int first = measured ? own : kNone;
  if (measured_from_.load(std::memory_order_relaxed) != first) measured_from_.store(first, std::memory_order_relaxed);
}

void Cores::learn_from_borrowing(std::int64_t now, int borrowed, const observe::Activity& activity) {
  const int own = threads_ - borrowed;
  BorrowedRegion region{.threads = threads_, .borrowed = borrowed, .wall = now - region_.begin};
  for (int thread = 0; thread < own; ++thread) region.own_busy = std::max(region.own_busy, activity.busy(thread, now));
  if (measured_from_.load(std::memory_order_relaxed) == own) {
    int slowest = own;
    for (int thread = own + 1; thread < threads_; ++thread) {
      if (activity.busy(thread, now) > activity.busy(slowest, now)) slowest = thread;
    }
    const Begin& begin = begun_[static_cast<std::size_t>(slowest - own)];
    const std::int64_t at_end = begin.run_delay < 0 ? -1 : node::run_delay(begin.thread_id);
    region.measured = at_end >= 0;
    if (region.measured) region.run_delay = at_end - begin.run_delay;
  }
  borrowing_.learn(region, now);
}

int Cores::came_in_time(const std::vector<int>& cores, std::int64_t now, std::int64_t left) const {
  const std::int64_t latest = now - (now - region_.begin) / left;
  return static_cast<int>(std::ranges::count_if(cores, [&](int core) {
    const std::int64_t since = table_.lent_since(core);
    return since > region_.begin && since < latest;
  }));
}

std::vector<int> Cores::idle_cores(std::int64_t now) const {
  std::vector<int> idle;
  if (table_.lent_idle() == 0) return idle;
  for (int core = 0; core < table_.cores(); ++core) {
    if (!table_.is_own(core) && table_.can_be_borrowed(core, {.until = now})) idle.push_back(core);
  }
  if (!slots()) return idle;
  // While there are more threads ready than cores, a slot that comes free leaves no core idle.
  std::ranges::sort(idle, {}, [this](int slot) { return table_.lent_since(slot); });
  idle.erase(idle.begin(), idle.begin() + std::min(surplus_slots(), static_cast<int>(idle.size())));
  return idle;
}

void Cores::lend(std::int64_t now, const Wait& wait, bool keeps_first) {
  if (!lends()) return;
  late_join_.withdraw();
  if (late_join_.changed()) find_given();
  holding_->lend_all(now, wait, keeps_first);
  give_to_late_join_threads(now);
}

void Cores::expect_wait(std::int64_t now, std::int64_t until) {
  if (!holding_) return;
  // The lender gave the core for a region that this process has left since.
  if (late_join_.changed() && !find_given().empty()) holding_->leave_foreign_cores(now);
  holding_->expect_wait(until);
  give_to_late_join_threads(now);
}

void Cores::give_to_late_join_threads(std::int64_t now) {
  if (!late_join_.has_requests() || table_.lent_idle() == 0) return;
  for (int core = 0; core < table_.cores(); ++core) {
    // Any process may borrow an offered core at the begin of a region.
    const bool is_ours = table_.is_lent(core) && table_.is_own(core) && !table_.is_offered(core);
    // If unbound, this process is woken by the kernel on the core of the process that it waits for.
    if (is_ours && late_join_.give(table_, core, topology_.pus[core].os_index, now) && !bind_) bind_ = rebind_ = true;
  }
}

void Cores::come_back() {
  if (lends()) holding_->come_back();
}

// The kernel wakes an unbound thread on any core that it takes for idle, and may leave it on another rank's core for
// long.
void Cores::return_to_own_core() {
  if (!holding_ || !immovable_reason_.empty() || binding_.load(std::memory_order_relaxed) != 0 || topology_.emulated)
    return;
  const auto here = std::ranges::find(topology_.pus, node::this_cpu(), &node::Pu::os_index);
  if (here == topology_.pus.end()) return;
  bool in_use = false;
  for (int pu = 0; pu < table_.cores(); ++pu) {
    if (topology_.pus[pu].core != here->core) continue;
    if (table_.is_own(pu) && !table_.is_offered(pu)) return;
    in_use = in_use || table_.is_in_use(pu);
  }
  // A program that has bound itself keeps its binding.
  const node::CpuSet mask = node::affinity_mask();
  if (!in_use || mask != processes_[me_].mask.set()) return;
  if (node::bind_this_thread(node::CpuSet(cpus()))) node::bind_this_thread(mask);
}

void Cores::bind_thread(int thread) {
  if (!late_join_.place_if_late(thread)) bind_to_its_cpu(thread);
  if (const int first = measured_from_.load(std::memory_order_relaxed); thread >= first) {
    const auto place = static_cast<std::size_t>(thread - first);
    const int id = node::thread_id();
    if (place < begun_.size()) begun_[place] = {id, node::run_delay(id)};
  }
}

void Cores::bind_to_its_cpu(int thread) {
  thread_local std::uint64_t bound_for = 0;
  const std::uint32_t binding = binding_.load(std::memory_order_relaxed);
  const std::uint64_t wanted = std::uint64_t{binding} << 32 | static_cast<std::uint32_t>(thread);
  if (binding == 0 || wanted == bound_for) return;
  bound_for = wanted;
  if (topology_.emulated) {
    const auto place = static_cast<std::size_t>(thread);
    node::note_binding(place < thread_cpus_.size() ? node::CpuSet{thread_cpus_[place]} : node::CpuSet(thread_cpus_));
    return;
  }
  // A team larger than what is held (a clause asked for it, or threads join late) shares all of it. The primary thread
  // is bound to its CPU first, and may then leave it: the threads and programs that it starts inherit the wider
  // affinity mask.
  if (thread == 0 && !thread_cpus_.empty()) {
    node::bind_this_thread({thread_cpus_.front()});
    node::bind_this_thread(node::CpuSet(thread_cpus_));
  } else if (thread < static_cast<int>(thread_cpus_.size())) {
    node::bind_this_thread({thread_cpus_[static_cast<std::size_t>(thread)]});
  } else {
    node::bind_this_thread(node::CpuSet(thread_cpus_));
  }
  late_join_.note_thread(thread);
}

void Cores::unbind() {
  if (binding_.load(std::memory_order_relaxed) != 0 && !topology_.emulated)
    node::bind_this_thread(processes_[me_].mask.set());
}

int Cores::owned() const {
  if (!immovable_reason_.empty()) return processes_[me_].threads_at_start;
  return holding_ ? std::max(1, holding_->owned_count()) : owners_.threads[me_];
}

NodeShape Cores::shape() const {
  NodeShape shape = shape_of(table_.owners(), owners_.usable, domain_, static_cast<std::size_t>(count_));
  shape.budget = std::accumulate(owners_.threads.begin(), owners_.threads.end(), 0);
  shape.openmp = has_openmp();
  return shape;
}

void Cores::consider(const observe::TickBoard& ticks, observe::TickSource source, int ticks_per_step,
                     std::int64_t start) {
  if (!planner_ || !immovable_reason_.empty() || count_ == 1) return;
  if (const int process = process_fixed_after_move(); process >= 0) {
    change_owners(owners_.owner);
    planner_->start_again(base::seconds(base::now_ns() - start), processes_[process].world_rank);
    return;
  }
  const Plan* plan = planner_->consider(ticks, source, ticks_per_step, start, [this] { return shape(); });
  if (plan != nullptr)
    change_owners(owners_after(table_.owners(), owners_.usable, joined_by_core(domain_, shape()), *plan));
}

void Cores::change_owners(std::vector<int> owner) {
  for (std::size_t core = 0; core < owner.size(); ++core) {
    if (usable_at_start_[core] && !owners_.usable[core]) owner[core] = CoreTable::kWithdrawn;
  }
  table_.change_owners(owner);
}

std::string Cores::resize(const node::CpuSet& cpus, double time, const std::string& user) {
  if (!resizable()) return immovable_reason_;
  const std::vector<int> before = table_.owners();
  std::vector<Claim> claims;
  for (int p = 0; p < count_; ++p) {
    const node::Process& process = processes_[p];
    const auto own = static_cast<int>(std::ranges::count(before, p));
    const int ceiling = process.thread_ceiling.load(std::memory_order_relaxed);
    const int pool = process.pool_threads.load(std::memory_order_relaxed);  // 0: it has none
    claims.push_back({.cores = own,
                      .fixed = process.fixed.load(std::memory_order_relaxed) != 0,
                      .ceiling = pool > 0 ? std::min(ceiling, std::max(pool, own)) : ceiling});
  }
  std::vector<bool> usable = usable_at_start_;
  for (std::size_t core = 0; core < usable.size(); ++core)
    usable[core] = usable[core] && cpus.has(topology_.pus[core].os_index);
  observe::DecisionRecord decision;
  decision.time = time;
  decision.capability = "cores";
  decision.reason = "requested from outside by " + user;
  const std::string refusal = too_few_reason(claims, static_cast<int>(std::ranges::count(usable, true)));
  if (refusal.empty()) {
    if (alone_) owners_.immovable_reason = std::exchange(immovable_reason_, "");
    owners_.usable = usable;
    owners_.owner = resized(before, usable, domain_, claims);
    for (int p = 0; p < count_; ++p) owners_.threads[p] = static_cast<int>(std::ranges::count(owners_.owner, p));
    change_owners(owners_.owner);
    std::vector<int> threads;
    for (const Claim& claim : claims) threads.push_back(claim.cores);
    decision.what =
        fmt::format("CPUs {} -> {}, threads {} -> {}", to_text(owned_cpus(before)), to_text(owned_cpus(owners_.owner)),
                    fmt::join(threads, ","), fmt::join(owners_.threads, ","));
    decision.outcome = observe::Outcome::requested;
  } else {
    decision.what = fmt::format("CPUs {} stay", to_text(owned_cpus(before)));
    decision.reason += "; " + refusal;
  }
  planner_->requested(std::move(decision));
  return refusal;
}

node::CpuSet Cores::owned_cpus(const std::vector<int>& owner) const {
  node::CpuSet cpus;
  for (std::size_t core = 0; core < owner.size(); ++core) {
    if (owner[core] >= 0) cpus.add(topology_.pus[core].os_index);
  }
  return cpus;
}

// The primary thread may be bound to a withdrawn core, and stay there for long: its threads move at its next region.
void Cores::leave_withdrawn() {
  withdrawals_ = table_.withdrawals();
  node::CpuSet withdrawn;
  for (int core = 0; core < table_.cores(); ++core) {
    if (table_.is_withdrawn(core)) withdrawn.add(topology_.pus[core].os_index);
  }
  if (!node::bound_to().meets(withdrawn)) return;
  const node::CpuSet held(cpus());
  topology_.emulated ? node::note_binding(held) : void(node::bind_this_thread(held));
}

void Cores::show_siblings(observe::LiveBoard& board) const {
  node::CpuSet all;
  for (int p = 0; p < count_; ++p) all = all | processes_[p].mask.set();
  for (const node::Pu& pu : topology_.pus) {
    if (topology_.emulated || all.has(pu.os_index)) board.show_owner(pu.os_index, observe::LiveJob::kSibling);
  }
}

void Cores::show_owners(observe::LiveBoard& board) const {
  using observe::LiveJob;
  if (slots()) return;
  const std::vector<int> owner = table_.owners();
  for (std::size_t core = 0; core < owner.size(); ++core) {
    if (!usable_at_start_[core]) continue;
    const int code = owner[core] >= 0                       ? LiveJob::kFirstProcess + owner[core]
                     : owner[core] == CoreTable::kWithdrawn ? LiveJob::kWithdrawn
                                                            : LiveJob::kFree;
    board.show_owner(topology_.pus[core].os_index, code);
  }
  board.show_unreleased(table_.withdrawn_in_use());
}

// A process whose thread count became fixed after its cores had changed; -1 if there is none. It would have too few or
// too many cores to the end of the run.
int Cores::process_fixed_after_move() const {
  std::vector<int> now(static_cast<std::size_t>(count_)), start(now);
  for (const int owner : table_.owners()) {
    if (owner >= 0) ++now[owner];
  }
  for (const int owner : owners_.owner) {
    if (owner >= 0) ++start[owner];
  }
  for (int p = 0; p < count_; ++p) {
    if (now[p] != start[p] && processes_[p].fixed.load(std::memory_order_relaxed) != 0) return p;
  }
  return -1;
}

const std::vector<observe::DecisionRecord>& Cores::decisions() const {
  static const auto& none = *new std::vector<observe::DecisionRecord>;
  return planner_ ? planner_->decisions() : none;
}

void Cores::report(observe::NodeRecord& node, std::vector<observe::DecisionRecord>& decisions) const {
  NodeShape without_cores;
  without_cores.openmp = has_openmp();
  if (planner_) planner_->report(node, decisions, immovable_reason_.empty() ? shape() : without_cores);
  // Without OpenMP, fewer threads or ranks would let no core move either.
  if (!immovable_reason_.empty() && node.nothing_moved != observe::kNoOpenMp) {
    node.nothing_moved = immovable_reason_;
    if (immovable_reason_ == owners_.immovable_reason) node.oversubscribed = owners_.oversubscribed;
  }
  if (alone_ && immovable_reason_.empty()) node.nothing_moved = owners_.immovable_reason;
}

}  // namespace steelyard::cores
