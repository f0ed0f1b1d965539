// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "loops/loop.h"

// What is kept of loops across runs. nlohmann-json stays inside store.cpp.
namespace steelyard::loops {

/// One loop in a file.
struct Stored {
  std::string key;
  std::vector<Loop::Regime> regimes;
  std::vector<Assignment> assignments;
};

/// The key as it can stand in the file, which is UTF-8: another text is taken for Latin-1, so that each key stays one
/// of its own.
std::string storable(std::string_view key);

std::string to_json(const std::vector<const Loop*>& loops);
/// `where` names the source to the user. Failure: what is wrong with it. `stored` is then as before.
base::Status from_json(const std::string& text, const std::string& where, std::vector<Stored>& stored);

base::Status read_file(const std::string& path, std::vector<Stored>& stored);
/// Replaces the file as a whole or not at all.
base::Status write_file(const std::string& path, const std::vector<const Loop*>& loops);

}  // namespace steelyard::loops
