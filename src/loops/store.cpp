// SPDX-License-Identifier: BSD-3-Clause
#include "loops/store.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "base/whole_file.h"

namespace steelyard::loops {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;                // Encoding: version of the file
constexpr int kMostThreads = UINT16_MAX;  // victims.h numbers threads by 16 bits

/// Members keep the names of format 1: "homes" are Measured::boundaries, "away_ns" is Measured::stolen_ns.
Json describe(const Loop::Regime& regime) {
  const Measured& measured = regime.history.measured();
  Json json;
  json["threads"] = regime.threads;
  json["magnitude"] = regime.magnitude;
  json["executions"] = regime.history.executions();
  json["mean_ns"] = regime.history.mean_ns();
  json["iteration_ns"] = measured.iteration_ns;
  json["away_ns"] = measured.stolen_ns;
  json["spread_ns"] = measured.spread_ns;
  if (const auto best = regime.policy.best()) {
    json["strategy"] = name_of(*best);
    json["reason"] = regime.policy.settled() ? regime.policy.reason() : "best before, and not yet compared anew";
  }
  if (!measured.boundaries.empty()) json["homes"] = measured.boundaries;
  if (measured.profile.known()) {
    json["profile"] = {{"iterations", regime.history.profile_count()},
                       {"place", measured.profile.place},
                       {"cost_ns", measured.profile.cost}};
  }
  for (int i = 0; i < regime.history.kept(); ++i) {
    const Execution& execution = regime.history.last(i);
    Json entry = {{"strategy", name_of(execution.strategy)},
                  {"iterations", execution.count},
                  {"elapsed_ns", execution.elapsed_ns}};
    for (const ThreadSample& sample : execution.threads) {
      entry["busy_ns"].push_back(sample.busy_ns);
      entry["idle_ns"].push_back(sample.idle_ns);
      entry["stolen"].push_back(sample.stolen);
      entry["chunks"].push_back(sample.chunks);
    }
    json["last"].push_back(std::move(entry));
  }
  return json;
}

Json describe(const Assignment& assignment) {
  Json json = {{"iterations", assignment.count}, {"threads", Json::array()}};
  for (const auto& thread : assignment.threads) {
    Json pieces = Json::array();
    for (const Assignment::Piece& piece : thread) pieces.push_back({piece.begin, piece.end});
    json["threads"].push_back(std::move(pieces));
  }
  return json;
}

/// What must hold for planning to make sense of it. A file may have been edited, or cut.
void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

bool are_boundaries(const std::vector<double>& places) {
  bool rising = places.size() >= 2 && places.front() == 0 && places.back() == 1;
  for (std::size_t i = 1; i < places.size(); ++i) rising = rising && places[i] >= places[i - 1];
  return rising;
}

double positive(const Json& json, const char* name) {
  const auto value = json.at(name).get<double>();
  require(std::isfinite(value) && value >= 0, "a time is negative");
  return value;
}

Loop::Regime regime_from(const Json& json) {
  Loop::Regime regime;
  regime.threads = json.at("threads").get<int>();
  regime.magnitude = json.at("magnitude").get<int>();
  require(regime.threads > 0 && regime.threads <= kMostThreads, "a thread count is out of range");
  Measured measured;
  measured.iteration_ns = positive(json, "iteration_ns");
  measured.stolen_ns = positive(json, "away_ns");
  measured.spread_ns = positive(json, "spread_ns");
  double profile_count = 0;
  if (json.contains("homes")) {
    measured.boundaries = json["homes"].get<std::vector<double>>();
    require(are_boundaries(measured.boundaries) && static_cast<int>(measured.boundaries.size()) == regime.threads + 1,
            "\"homes\" are not boundaries from 0 to 1, one more than threads");
  }
  if (json.contains("profile")) {
    const Json& profile = json["profile"];
    profile_count = positive(profile, "iterations");
    measured.profile = {profile.at("place").get<std::vector<double>>(),
                        profile.at("cost_ns").get<std::vector<double>>()};
    require(are_boundaries(measured.profile.place) && measured.profile.cost.size() + 1 == measured.profile.place.size(),
            "a profile has no cost for each of its pieces");
    for (const double cost : measured.profile.cost) require(std::isfinite(cost) && cost >= 0, "a cost is negative");
  }
  regime.history = History(regime.threads);
  regime.history.restore(std::move(measured), json.at("executions").get<long>(), positive(json, "mean_ns"),
                         profile_count);
  if (json.contains("strategy")) {
    Strategy strategy{};
    const base::Status status = parse_strategy(json["strategy"].get<std::string>(), strategy);
    require(static_cast<bool>(status), "a strategy is unknown");
    regime.policy = Policy({}, strategy);
  }
  return regime;
}

Assignment assignment_from(const Json& json) {
  Assignment assignment;
  assignment.count = json.at("iterations").get<std::uint64_t>();
  for (const Json& thread : json.at("threads")) {
    auto& pieces = assignment.threads.emplace_back();
    for (const Json& piece : thread) pieces.push_back({piece.at(0), piece.at(1)});
  }
  require(assignment.complete(), "an assignment does not hold each iteration exactly once");
  return assignment;
}

}  // namespace

std::string to_json(const std::vector<const Loop*>& loops) {
  Json json = {{"steelyard_loops", kFormat}, {"loops", Json::array()}};
  for (const Loop* loop : loops) {
    Json entry = {{"key", loop->key()}, {"regimes", Json::array()}};
    for (const Loop::Regime& regime : loop->regimes()) entry["regimes"].push_back(describe(regime));
    for (const Assignment& assignment : loop->assignments()) entry["assignments"].push_back(describe(assignment));
    json["loops"].push_back(std::move(entry));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

std::string storable(std::string_view key) try {
  (void)Json(key).dump();  // throws at what is not UTF-8
  return std::string(key);
} catch (const Json::type_error&) {
  std::string text;
  for (const char each : key) {
    const auto byte = static_cast<unsigned char>(each);
    if (byte < 0x80) {
      text += each;
    } else {
      text += static_cast<char>(0xc0 | byte >> 6);
      text += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return text;
}

base::Status from_json(const std::string& text, const std::string& where, std::vector<Stored>& stored) try {
  const Json json = Json::parse(text);
  require(json.value("steelyard_loops", 0) == kFormat, "it is no file of loops of this version");
  std::vector<Stored> read;
  for (const Json& entry : json.at("loops")) {
    Stored& loop = read.emplace_back();
    loop.key = entry.at("key");
    for (const Json& regime : entry.at("regimes")) loop.regimes.push_back(regime_from(regime));
    if (entry.contains("assignments")) {
      for (const Json& assignment : entry["assignments"]) loop.assignments.push_back(assignment_from(assignment));
    }
  }
  stored = std::move(read);
  return {};
} catch (const Json::parse_error&) {
  return base::Status::failure(
      base::Code::invalid_argument,
      fmt::format("{} is not used, and left as it is: it is no file that --loops-learn has written", where));
} catch (const std::exception& exception) {
  return base::Status::failure(
      base::Code::invalid_argument,
      fmt::format("{} is not used, and left as it is: {}; give another name, or delete it", where, exception.what()));
}

base::Status read_file(const std::string& path, std::vector<Stored>& stored) {
  std::ifstream file(path);
  if (!file) {
    return base::Status::failure(base::Code::system,
                                 fmt::format("{} cannot be read: {}; run once with --loops-learn={} to have it written",
                                             path, std::strerror(errno), path));
  }
  std::ostringstream text;
  text << file.rdbuf();
  return from_json(text.str(), path, stored);
}

base::Status write_file(const std::string& path, const std::vector<const Loop*>& loops) {
  const int error = base::write_whole_file(path, to_json(loops) + "\n");
  if (error == 0) return {};
  return base::Status::failure(base::Code::system,
                               fmt::format("{} cannot be written: {}; name a file in a directory that you may write to",
                                           path, std::strerror(error)));
}

}  // namespace steelyard::loops
