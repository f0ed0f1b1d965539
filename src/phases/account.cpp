// SPDX-License-Identifier: BSD-3-Clause
#include "phases/account.h"

#include <algorithm>
#include <list>

namespace steelyard::phases {

Account& Account::open(int size, int me, bool autotuned, const std::vector<Configuration>& configurations) {
  static auto* const all = new std::list<Account>;  // a phase may be freed after main()
  const auto alike = std::ranges::find_if(*all, [&](const Account& it) {
    return !it.open_ && it.size_ == size && it.me_ == me && it.autotuned_ == autotuned &&
           it.configurations_ == configurations;
  });
  if (alike == all->end()) {
    all->push_back(Account(static_cast<int>(all->size()), size, me, autotuned, configurations));
    return all->back();
  }
  alike->open_ = true;
  ++alike->created_;
  return *alike;
}

}  // namespace steelyard::phases
