// SPDX-License-Identifier: BSD-3-Clause
// consumer.c in C++17.
#include <functional>
#include <iostream>
#include <steelyard/loops.hpp>
#include <steelyard/regions.hpp>
#include <steelyard/steelyard.hpp>

int main() {
  const steelyard::ScopedRegion region("main");
  const auto status = steelyard::step();
  std::cout << "consumer in C++: version " << steelyard::version() << ", " << steelyard::message() << '\n';
  try {
    steelyard::Loop loop("wrong", {"no such strategy"});
    return 2;
  } catch (const steelyard::Error& error) {
    if (error.status() != steelyard::Status::invalid_argument) return 3;
  }
  const int sum = steelyard::reduce(1, 11, 0, std::plus<>(), [](int i) { return i; });
  return sum == 55 && status == steelyard::Status::inactive && !steelyard::active() ? 0 : 1;
}
