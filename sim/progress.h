/* SPDX-License-Identifier: BSD-3-Clause */
// How far a long simulation is and how long it will take, on stderr: often on a terminal, seldom in a log. Short ones
// say nothing.
#pragma once
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

class Progress {
 public:
  /// `what` is done, when all is: "of the results have arrived". `every` so many seconds.
  Progress(std::string name, std::string what, double every = isatty(STDERR_FILENO) != 0 ? 5 : 30)
      : name_(std::move(name)), what_(std::move(what)), every_(every), next_(every) {}

  /// Of the machine that simulates. SimGrid replaces C's clock by its own, but not this one.
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  /// To be called now and then. `part` is done: 0 to 1.
  void look(double part) {
    const double now = seconds();
    if (now < next_) return;
    next_ = now + every_;
    std::string left;
    if (part > kEnoughToGuess && part < 1) left = ", about " + whole(now * (1 / part - 1)) + " s left";
    const std::string percent = whole(100 * (part < 1 ? part : 1));
    std::fprintf(stderr, "%s: %s %% %s after %.0f s%s\n", name_.c_str(), percent.c_str(), what_.c_str(), now,
                 left.c_str());
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kEnoughToGuess = 0.01;
  static std::string whole(double value) { return std::to_string(static_cast<long long>(value + 0.5)); }

  const std::string name_, what_;
  const Clock::time_point start_ = Clock::now();
  const double every_;
  double next_;
};
