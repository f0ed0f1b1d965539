// SPDX-License-Identifier: BSD-3-Clause
#include "partition/readable_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

namespace steelyard::partition {

namespace {

/// The index behind the bracket that closes the bracket at `open`.
std::size_t behind_brackets(std::string_view text, std::size_t open) {
  std::string expected;  // the closing brackets, the innermost last
  for (std::size_t at = open; at < text.size(); ++at) {
    switch (text[at]) {
      case '(': expected += ')'; break;
      case '{': expected += '}'; break;
      case '<':
        if (expected.empty() || expected.back() != ')')
          expected += '>';  // otherwise it is an operator in an expression
        break;
      default:
        if (text[at] == expected.back()) expected.pop_back();
    }
    if (expected.empty()) return at + 1;
  }
  return text.size();
}

/// A demangled name without template arguments, parameters and the return type, which only templates have. If nothing
/// were left, the whole name.
std::string shortened(std::string_view name) {
  constexpr std::string_view kOperator = "operator", kAnonymous = "(anonymous namespace)";
  std::string result;
  for (std::size_t at = 0; at < name.size();) {
    const std::string_view rest = name.substr(at);
    if (rest.starts_with(kOperator) && (result.empty() || result.back() == ':')) {
      const std::size_t own = kOperator.size() + (rest.substr(kOperator.size()).starts_with("()") ? 2 : 0);
      const std::size_t length = std::min(rest.find('(', own), rest.size());
      result += rest.substr(0, length);
      at += length;
    } else if (rest.starts_with(kAnonymous)) {
      result += kAnonymous;
      at += kAnonymous.size();
    } else if (rest.front() == '(') {
      at = behind_brackets(name, at);
      const std::size_t scope = name.find("::", at);  // of a lambda in a function
      if (scope != at && name.substr(at, scope - at) != " const") break;
      at = scope;
    } else if (rest.front() == '<' || rest.front() == '{') {
      const std::size_t end = behind_brackets(name, at);
      result += rest.front() == '<' ? "<...>" : name.substr(at, end - at);
      at = end;
    } else if (rest.front() == ' ') {
      result.clear();
      ++at;
    } else {
      result += rest.front();
      ++at;
    }
  }
  return result.empty() ? std::string(name) : result;
}

}  // namespace

std::string readable_name(std::string_view symbol) {
  // Compilers put a point between the name of a function and what they add to it, and no function of a program has one.
  const std::string name(symbol.substr(0, symbol.find('.', 1)));
  int status = 0;
  char* const demangled = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && demangled != nullptr ? shortened(demangled) : name;
  std::free(demangled);
  return result;
}

}  // namespace steelyard::partition
