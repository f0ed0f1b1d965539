// SPDX-License-Identifier: BSD-3-Clause
#include "cores/holding.h"

#include <algorithm>
#include <limits>

#include "base/clock.h"

namespace steelyard::cores {

namespace {

bool contains(const std::vector<int>& cores, int core) {
  return std::find(cores.begin(), cores.end(), core) != cores.end();
}

}  // namespace

Holding::Holding(CoreTable& table, std::vector<int> domain, int surplus)
    : table_(table), domain_(std::move(domain)), surplus_(surplus) {
  read_owned();
  take_owned();
  update_cores();
}

void Holding::read_owned() {
  generation_ = table_.generation();
  former_.insert(former_.end(), owned_.begin(), owned_.end());
  owned_.clear();
  for (int c = 0; c < table_.cores(); ++c) {
    if (table_.is_own(c)) owned_.push_back(c);
  }
  // owned_ was read in one pass: the next plan may change the table meanwhile.
  const auto is_owned = [this](int c) { return contains(owned_, c); };
  std::vector<int> in_use;
  for (const std::vector<int>* cores : {&in_use_, &kept_, &borrowed_})
    std::copy_if(cores->begin(), cores->end(), std::back_inserter(in_use), is_owned);
  std::copy_if(in_use_.begin(), in_use_.end(), std::back_inserter(kept_), [&](int c) { return !is_owned(c); });
  in_use_ = in_use;
  std::erase_if(borrowed_, is_owned);
  std::erase_if(kept_, is_owned);
  std::erase_if(former_, is_owned);
  std::erase_if(kept_, [this](int c) {
    const bool withdrawn = table_.is_withdrawn(c);
    if (withdrawn) table_.give_up(c);
    return withdrawn;
  });
  std::erase_if(offered_, [&](int c) { return !is_owned(c); });
}

bool Holding::is_offered(int core) const { return contains(offered_, core); }

// While a plan is written, the table may name a new owner before the generation changes.
bool Holding::is_foreign(int core) const { return !table_.is_own(core) && !contains(owned_, core); }

void Holding::take_owned() {
  in_use_.clear();
  for (const int c : owned_) {
    if (!is_offered(c) && table_.take_own(c)) in_use_.push_back(c);
  }
  keep_former_cores();
}

// A core that the plan gave to another process stays in use here until that process asks for it, or until this process
// has all cores that it owns now. Otherwise two processes that exchange cores would both run a region on few cores.
void Holding::keep_former_cores() {
  const std::size_t lacking = owned_.size() - in_use_.size() - offered_.size();
  while (kept_.size() > lacking) {
    table_.give_up(kept_.back());
    kept_.pop_back();
  }
  for (const int c : former_) {
    if (kept_.size() >= lacking) break;
    if (!contains(kept_, c) && !contains(borrowed_, c) && table_.take_back(c)) kept_.push_back(c);
  }
  if (lacking == 0) former_.clear();
}

void Holding::update_cores() {
  cores_ = in_use_;
  cores_.insert(cores_.end(), kept_.begin(), kept_.end());
  cores_.insert(cores_.end(), borrowed_.begin(), borrowed_.end());
  // A process always has a core to run on. If none of its own is free, it shares its first one with the borrower.
  shares_ = cores_.empty() && !owned_.empty();
  if (!shares_) return;
  const auto own = std::find_if(owned_.begin(), owned_.end(), [this](int c) { return !is_offered(c); });
  // A plan may have left it none but cores that the program has offered.
  cores_.push_back(own != owned_.end() ? *own : owned_.front());
}

void Holding::leave(int core, std::int64_t now) {
  table_.is_wanted(core) ? table_.give_up(core) : table_.lend(core, now);
}

// An owner that wakes during the region has to do without these cores until it ends.
void Holding::give_back_needed(const Terms& terms) {
  std::erase_if(borrowed_, [&](int c) {
    if (table_.owner_waits_until(c, terms.until)) return false;
    leave(c, base::now_ns());
    return true;
  });
}

void Holding::borrow(int most, const Terms& terms) {
  const int near = cores_.empty() ? 0 : domain_[cores_.front()];
  const auto held = static_cast<int>(in_use_.size() + kept_.size() + borrowed_.size());
  int left = std::min(most - held, borrowable(terms));
  for (const bool neighbours : {true, false}) {
    for (int c = 0; c < table_.cores() && left > 0; ++c) {
      if ((domain_[c] == near) != neighbours || !is_foreign(c) || !table_.borrow(c, terms)) continue;
      borrowed_.push_back(c);
      --left;
    }
  }
}

// A slot whose owner computes soon does not count: its core will be in use.
int Holding::borrowable(const Terms& terms) const {
  if (surplus_ == 0) return std::numeric_limits<int>::max();
  int count = -surplus_;
  for (int c = 0; c < table_.cores(); ++c) count += is_foreign(c) && table_.can_be_borrowed(c, terms) ? 1 : 0;
  return count;
}

void Holding::return_borrowed(std::int64_t now) {
  for (const int c : borrowed_) leave(c, now);
  borrowed_.clear();
}

void Holding::leave_foreign_cores(std::int64_t now) {
  if (generation_ != table_.generation()) read_owned();
  for (const int c : kept_) table_.give_up(c);
  kept_.clear();
  return_borrowed(now);
  update_cores();
}

bool Holding::settle(int most, bool may_borrow, const Terms& terms) {
  const bool replanned = generation_ != table_.generation();
  // Another process may compute by now where a borrowed slot had its core: slots are borrowed anew for each region.
  const bool anew = surplus_ > 0 && !borrowed_.empty();
  const bool free = static_cast<int>(cores_.size()) < most && table_.lent_idle() > 0;
  const bool room = may_borrow && (anew || free);
  const auto needed = [&](int c) { return anew || !table_.owner_waits_until(c, terms.until); };
  const bool leaves = may_borrow ? std::any_of(borrowed_.begin(), borrowed_.end(), needed) : !borrowed_.empty();
  if (!replanned && has_all_owned() && !room && !leaves) return false;
  const std::vector<int> before = cores_;
  if (replanned) read_owned();
  may_borrow && !anew ? give_back_needed(terms) : return_borrowed(base::now_ns());
  if (replanned || !has_all_owned()) take_owned();
  if (room) borrow(most, terms);
  update_cores();
  return cores_ != before;
}

std::vector<int> Holding::find_given() {
  std::vector<int> given;
  for (int c = 0; c < table_.cores(); ++c) {
    if (table_.uses(c) && !contains(owned_, c) && !contains(cores_, c)) given.push_back(c);
  }
  borrowed_.insert(borrowed_.end(), given.begin(), given.end());
  update_cores();
  return given;
}

void Holding::give_back_wanted() {
  if (!table_.asked_back()) return;
  table_.clear_asked_back();
  return_wanted([](int) { return true; });
}

void Holding::return_wanted(const std::function<bool(int core)>& left) {
  const auto give_back = [&](int c) {
    const bool wanted = table_.is_wanted(c) && left(c);
    if (wanted) table_.give_up(c);
    return wanted;
  };
  std::erase_if(kept_, give_back);
  std::erase_if(borrowed_, give_back);
  update_cores();
}

void Holding::lend_all(std::int64_t now, const Wait& wait, bool keeps_first) {
  leave_foreign_cores(now);
  for (std::size_t n = keeps_first ? 1 : 0; n < in_use_.size(); ++n) table_.lend(in_use_[n], now);
  table_.begin_wait(wait);
  lending_ = true;
}

int Holding::offer(int most, std::int64_t now) {
  if (generation_ != table_.generation()) read_owned();
  int count = 0;
  // The first core runs the primary thread.
  for (; count < most && in_use_.size() > 1; ++count) {
    offered_.push_back(in_use_.back());
    in_use_.pop_back();
    table_.offer(offered_.back(), now);
  }
  update_cores();
  return count;
}

int Holding::reclaim() {
  offered_.clear();
  take_free_cores();
  return static_cast<int>(owned_.size() - in_use_.size());
}

void Holding::take_free_cores() {
  if (generation_ != table_.generation()) read_owned();
  if (!has_all_owned()) take_owned();
  update_cores();
}

int Holding::acquire(int most, const Terms& terms) {
  take_free_cores();
  const std::size_t before = borrowed_.size();
  borrow(static_cast<int>(in_use_.size() + kept_.size() + before) + std::min(most, table_.cores()), terms);
  update_cores();
  return static_cast<int>(borrowed_.size() - before);
}

void Holding::release(std::int64_t now) {
  return_borrowed(now);
  update_cores();
}

std::vector<int> Holding::cores_without_wanted() const {
  std::vector<int> cores = cores_;
  std::erase_if(cores, [this](int c) { return !contains(owned_, c) && table_.is_wanted(c); });
  return cores;
}

void Holding::come_back() {
  if (!lending_) return;
  lending_ = false;
  table_.end_wait();
  in_use_.clear();  // lent
  if (generation_ != table_.generation()) read_owned();
  take_owned();
  update_cores();
}

}  // namespace steelyard::cores
