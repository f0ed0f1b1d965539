// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstdint>

namespace steelyard::phases {

/// A hold: from the moment when this process enters a phase or pushes a binding until it has left all phases and popped
/// all bindings. Meanwhile the program decides where its threads run and how many they are; before and after, others
/// may (`cores`).
class Hold {
 public:
  struct Listener {
    void (*begins)() = nullptr;
    /// `phases`: ns of the hold in which phases ran: all processes of the context had entered, and the chosen ones had
    /// not left. -1 if there was no phase.
    void (*ends)(std::int64_t phases) = nullptr;
  };
  static void tell(const Listener& listener) { state().listener = listener; }

  static void begin() {
    State& now = state();
    if (now.depth++ > 0) return;
    now.phases = -1;
    if (now.listener.begins != nullptr) now.listener.begins();
  }
  static void end() {
    State& now = state();
    if (--now.depth == 0 && now.listener.ends != nullptr) now.listener.ends(now.phases);
  }
  /// A phase that lies in this hold has run for so long, ns.
  static void had_phase(std::int64_t length) {
    State& now = state();
    now.phases = std::max<std::int64_t>(now.phases, 0) + length;
  }

 private:
  struct State {
    int depth = 0;
    std::int64_t phases = -1;
    Listener listener;
  };
  static State& state() {
    static State of_this_process;
    return of_this_process;
  }
};

}  // namespace steelyard::phases
