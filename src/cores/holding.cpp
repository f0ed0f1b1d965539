#include "cores/holding.h"

#include <algorithm>

#include "base/clock.h"

namespace steelyard::cores {

Holding::Holding(CoreTable& table, std::vector<int> domain) : table_(table), domain_(std::move(domain)) {
  read_homes();
  take_homes();
}

void Holding::read_homes() {
  generation_ = table_.generation();
  home_.clear();
  for (int c = 0; c < table_.cores(); ++c) {
    if (table_.is_home(c)) home_.push_back(c);
  }
  // What the plan gave to others goes to its new home alone; what was borrowed stays until it is asked for.
  std::vector<int> guests;
  for (const int c : cores_) {
    if (table_.is_home(c)) continue;
    const bool was_borrowed = std::find(cores_.end() - borrowed_, cores_.end(), c) != cores_.end();
    if (was_borrowed) {
      guests.push_back(c);
    } else {
      table_.give_up(c);
    }
  }
  borrowed_ = static_cast<int>(guests.size());
  cores_ = std::move(guests);
}

// Rebuilds cores_ as the home cores that could be had, followed by the borrowed ones.
void Holding::take_homes() {
  std::vector<int> now;
  for (const int c : home_) {
    if (table_.take_home(c)) now.push_back(c);
  }
  complete_ = now.size() == home_.size();
  now.insert(now.end(), cores_.end() - borrowed_, cores_.end());
  cores_ = std::move(now);
  shares_ = false;
  share_if_without();
}

// A process always has somewhere to run: without a core of its own for the moment, beside the guest on its first one.
void Holding::share_if_without() {
  if (!cores_.empty() || home_.empty()) return;
  shares_ = true;
  cores_.push_back(home_.front());
}

void Holding::borrow(int most, std::int64_t lent_after) {
  const int near = cores_.empty() ? 0 : domain_[cores_.front()];
  for (const bool neighbours : {true, false}) {
    for (int c = 0; c < table_.cores() && static_cast<int>(cores_.size()) < most; ++c) {
      if ((domain_[c] == near) != neighbours || table_.is_home(c) || !table_.borrow(c, lent_after)) continue;
      if (shares_) cores_.clear();
      shares_ = false;
      cores_.push_back(c);
      ++borrowed_;
    }
  }
}

void Holding::return_borrowed(std::int64_t now) {
  for (; borrowed_ > 0; --borrowed_) {
    table_.is_wanted(cores_.back()) ? table_.give_up(cores_.back()) : table_.lend(cores_.back(), now);
    cores_.pop_back();
  }
  share_if_without();
}

bool Holding::settle(int most, bool may_borrow, std::int64_t lent_after) {
  const bool replanned = generation_ != table_.generation();
  const bool room = may_borrow && static_cast<int>(cores_.size()) < most && table_.lent_idle() > 0;
  if (!replanned && complete_ && !room && (may_borrow || borrowed_ == 0)) return false;
  const std::vector<int> before = cores_;
  if (replanned) read_homes();
  if (!may_borrow) return_borrowed(base::now_ns());
  if (replanned || !complete_) take_homes();
  if (room) borrow(most, lent_after);
  return cores_ != before;
}

void Holding::give_back_wanted() {
  if (!table_.asked_back()) return;
  table_.clear_asked_back();
  const std::size_t homes = cores_.size() - borrowed_;
  for (std::size_t i = cores_.size(); i-- > homes;) {
    if (!table_.is_wanted(cores_[i])) continue;
    table_.give_up(cores_[i]);
    cores_.erase(cores_.begin() + static_cast<std::ptrdiff_t>(i));
    --borrowed_;
  }
  share_if_without();
}

void Holding::lend_all(std::int64_t now) {
  return_borrowed(now);
  for (const int c : cores_) table_.lend(c, now);
  lending_ = true;
}

void Holding::come_back() {
  if (!lending_) return;
  lending_ = false;
  if (generation_ != table_.generation()) read_homes();
  take_homes();
}

}  // namespace steelyard::cores
