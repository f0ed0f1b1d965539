// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace steelyard::base {

/// Environment variables by name. Everything that depends on the environment takes one of these, so that tests can make
/// one up; environment.cpp is the only file that reads the real one.
using Environment = std::map<std::string, std::string, std::less<>>;

/// A copy of this process's environment. Safe before main().
Environment environment();

/// This process's environment itself, and the value of a variable in such a list: no memory is allocated. Linux takes
/// nullptr for an empty list.
char** variables();
std::string_view value_of(char* const variables[], std::string_view name);

/// The value of a variable; "" where it is not set.
std::string_view value_of(const Environment& environment, std::string_view name);
/// The number that the value begins with (6 of "6,2"); 0 where there is none.
int number_of(const Environment& environment, std::string_view name);

}  // namespace steelyard::base
