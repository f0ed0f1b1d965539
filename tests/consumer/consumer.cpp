// consumer.c in C++17.
#include <iostream>
#include <steelyard/steelyard.hpp>

int main() {
  const auto status = steelyard::step();
  std::cout << "consumer in C++: version " << steelyard::version() << ", " << steelyard::message() << '\n';
  return status == steelyard::Status::inactive && !steelyard::active() ? 0 : 1;
}
