// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <mutex>

namespace steelyard::session {

/// The element of a list that only grows, made where it is not there yet. Looking takes no lock. `make` is given the
/// first of the others, which becomes its `next`.
template <class Element, class Same, class Make>
Element& found_or_made(std::atomic<Element*>& list, std::mutex& mutex, const Same& same, const Make& make) {
  const auto find = [&]() -> Element* {
    Element* element = list.load(std::memory_order_acquire);
    while (element != nullptr && !same(*element)) element = element->next;
    return element;
  };
  if (Element* const known = find()) return *known;
  const std::lock_guard lock(mutex);
  if (Element* const known = find()) return *known;
  Element* const made = make(list.load(std::memory_order_relaxed));
  list.store(made, std::memory_order_release);
  return *made;
}

}  // namespace steelyard::session
