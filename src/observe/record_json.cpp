// SPDX-License-Identifier: BSD-3-Clause
// The run record as JSON and, between ranks, as CBOR. Writing, reading and the sentences about what is wrong follow
// from record_fields.h. schema/run-record.schema.json says the same to others.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "base/hash.h"
#include "observe/record_fields.h"

namespace steelyard::observe {
namespace {

using Json = nlohmann::ordered_json;  // members stay in the order in which they are written

struct Writer {
  Json object = Json::object();

  template <class T>
  void operator()(const char* name, const T& value) {
    object[name] = json(value);
  }
  /// A member that is left out unless it is `present`.
  template <class T>
  void optional(const char* name, const T& value, bool present) {
    if (present) operator()(name, value);
  }
  template <class T>
  void renamed(const char* name, const char* /*old*/, const T& value) {
    operator()(name, value);
  }
  void former(const char* /*name*/) {}
  void bounds(const std::string& name, const char* /*half_width*/, double /*value*/, double low, double high,
              bool present = true) {
    optional((name + "_low").c_str(), low, present);
    optional((name + "_high").c_str(), high, present);
  }

  template <class T>
  static Json json(const T& record) {
    Writer writer;
    fields(writer, record);
    return std::move(writer.object);
  }
  static Json json(const std::string& text) { return text; }
  template <std::integral T>
  static Json json(const T& number) {
    return number;
  }
  static Json json(Outcome outcome) { return kOutcomeNames[static_cast<int>(outcome)]; }
  // To the nanosecond, which keeps the file short. JSON has no word for infinity.
  static Json json(double number) { return std::isfinite(number) ? std::round(number * 1e9) / 1e9 : 0; }
  template <class T>
  static Json json(const std::vector<T>& list) {
    Json array = Json::array();
    for (const T& element : list) array.push_back(json(element));
    return array;
  }
  static Json json(const std::map<std::string, std::string>& map) { return map; }
  static Json json(const std::map<int, double>& map) {
    Json members = Json::object();
    for (const auto& [key, value] : map) members[std::to_string(key)] = json(value);
    return members;
  }
};

std::string in_short(const Json& json) {
  if (json.is_object()) return "an object";
  if (json.is_array()) return "a list";
  const std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= 40 ? text : text.substr(0, 36) + " ...";
}

struct Problem {
  std::string sentence;
};

[[noreturn]] void expected(const std::string& path, const std::string& what, const Json& found) {
  throw Problem{(path.empty() ? "the whole" : path) + ": expected " + what + ", found " + in_short(found)};
}

/// Throws Problem.
struct Reader {
  Reader(const Json& json, std::string where) : object(json), path(std::move(where)) {}

  const Json& object;
  std::string path;
  std::set<std::string> known;  // the members asked for so far

  template <class T>
  void operator()(const char* name, T& value) {
    known.insert(name);
    const auto member = object.find(name);
    const std::string where = path.empty() ? name : path + "." + name;
    if (member == object.end()) throw Problem{where + ": missing"};
    read(*member, where, value);
  }
  template <class T>
  void optional(const char* name, T& value, bool /*present*/) {
    if (object.contains(name)) operator()(name, value);
  }
  /// A member that records of earlier versions have under its old name.
  template <class T>
  void renamed(const char* name, const char* old, T& value) {
    operator()(!object.contains(name) && object.contains(old) ? old : name, value);
  }
  /// A member that only records of earlier versions have; its value is not read.
  void former(const char* name) { known.insert(name); }
  /// Bounds around `value`. Records of schema 1 have the half width of the interval instead.
  void bounds(const std::string& name, const char* half_width, double value, double& low, double& high,
              bool required = true) {
    if (double half = 0; object.contains(half_width)) {
      operator()(half_width, half);
      low = value - half;
      high = value + half;
    } else if (required || object.contains(name + "_low")) {
      operator()((name + "_low").c_str(), low);
      operator()((name + "_high").c_str(), high);
    }
  }

  template <class T>
  static void read(const Json& json, const std::string& where, T& record) {
    if (!json.is_object()) expected(where, "an object", json);
    Reader reader(json, where);
    fields(reader, record);
    for (const auto& [name, value] : json.items()) {
      if (!reader.known.contains(name)) throw Problem{(where.empty() ? name : where + "." + name) + ": no such member"};
    }
  }
  /// Packed, or a list of samples in records of earlier versions.
  static void read(const Json& json, const std::string& where, PackedTimeline& timeline) {
    std::vector<Sample> samples;
    if (json.is_array()) {
      read(json, where, samples);
      timeline = observe::pack(samples);
      return;
    }
    if (!json.is_object()) expected(where, "an object or a list", json);
    read<PackedTimeline>(json, where, timeline);
    if (const base::Status good = observe::unpack(timeline, samples); !good)
      throw Problem{where + "." + good.sentence()};
  }
  static void read(const Json& json, const std::string& where, std::string& text) {
    if (!json.is_string()) expected(where, "text", json);
    text = json.get<std::string>();
  }
  static void read(const Json& json, const std::string& where, bool& value) {
    if (!json.is_boolean()) expected(where, "true or false", json);
    value = json.get<bool>();
  }
  template <std::integral T>
  static void read(const Json& json, const std::string& where, T& number) {
    if (!json.is_number_integer()) expected(where, "a whole number", json);
    const bool too_large = json.is_number_unsigned() && !std::in_range<T>(json.get<std::uint64_t>());
    if (too_large || !std::in_range<T>(json.get<std::int64_t>())) {
      expected(where, "a whole number of " + std::to_string(8 * sizeof(T)) + " bits", json);
    }
    number = json.get<T>();
  }
  static void read(const Json& json, const std::string& where, double& number) {
    if (!json.is_number()) expected(where, "a number", json);
    number = json.get<double>();
  }
  static void read(const Json& json, const std::string& where, Outcome& outcome) {
    int index = 0;
    for (const char* name : kOutcomeNames) {
      if (json.is_string() && json.get_ref<const std::string&>() == name) {
        outcome = static_cast<Outcome>(index);
        return;
      }
      ++index;
    }
    expected(where, "`declined`, `taken`, `confirmed`, `undone`, `undecided` or `requested`", json);
  }
  template <class T>
  static void read(const Json& json, const std::string& where, std::vector<T>& list) {
    if (!json.is_array()) expected(where, "a list", json);
    list.assign(json.size(), {});
    for (std::size_t i = 0; i < list.size(); ++i) read(json[i], where + "[" + std::to_string(i) + "]", list[i]);
  }
  static void read(const Json& json, const std::string& where, std::map<std::string, std::string>& map) {
    if (!json.is_object()) expected(where, "an object", json);
    map.clear();
    for (const auto& [name, value] : json.items()) read(value, where + "." + name, map[name]);
  }
  static void read(const Json& json, const std::string& where, std::map<int, double>& map) {
    if (!json.is_object()) expected(where, "an object", json);
    map.clear();
    for (const auto& [name, value] : json.items()) {
      const bool is_rank =
          !name.empty() && name.size() <= 9 && name.find_first_not_of("0123456789") == std::string::npos;
      if (!is_rank) expected(where, "ranks as names", name);
      read(value, where + "." + name, map[std::stoi(name)]);
    }
  }
};

constexpr std::size_t kLine = 160;  // Size: characters. What fits and holds nothing nested stands on one line

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

void print(const Json& json, const std::string& indent, std::string& out);

/// Stops when it gets longer than `most`; false then.
bool print_members(const Json& json, const std::string& before, const std::string& between, const std::string& after,
                   std::size_t most, const std::string& indent, std::string& out) {
  const std::size_t begin = out.size();
  const bool object = json.is_object();
  out += object ? '{' : '[';
  for (auto it = json.begin(); it != json.end(); ++it) {
    out += it == json.begin() ? before : between;
    if (object) out += text_of(it.key()) + ": ";
    print(*it, indent, out);
    if (out.size() - begin > most) return false;
  }
  out += after;
  out += object ? '}' : ']';
  return out.size() - begin <= most;
}

void print(const Json& json, const std::string& indent, std::string& out) {
  if (!json.is_structured()) {
    out += text_of(json);
    return;
  }
  const std::string inner = indent + "  ";
  const std::size_t begin = out.size();
  const bool nested = std::any_of(json.begin(), json.end(),
                                  [](const Json& member) { return member.is_structured() && !member.empty(); });
  if (!nested && print_members(json, "", ", ", "", kLine, inner, out)) return;
  out.resize(begin);
  print_members(json, "\n" + inner, ",\n" + inner, "\n" + indent, SIZE_MAX, inner, out);
}

/// Tells damaged bytes before they get to the CBOR parser, which recurses as deep as its input says.
std::uint64_t checksum(const std::string& bytes, std::size_t from) {
  return base::fnv1a(std::as_bytes(std::span(bytes).subspan(from)));
}

}  // namespace

std::string pack(const Contribution& contribution) {
  std::string bytes(sizeof(std::uint64_t), '\0');
  Json::to_cbor(Writer::json(contribution), bytes);
  const std::uint64_t sum = checksum(bytes, sizeof sum);
  std::memcpy(bytes.data(), &sum, sizeof sum);
  return bytes;
}

base::Status unpack(const std::string& bytes, Contribution& contribution) try {
  const auto damaged = [&](const std::string& how) {
    return base::Status::failure("the " + std::to_string(bytes.size()) +
                                 " bytes that a rank sent for the run record are " + "damaged (" + how +
                                 "): are all ranks running the same version of Steelyard?");
  };
  std::uint64_t sum = 0;
  if (bytes.size() <= sizeof sum) return damaged("too short");
  std::memcpy(&sum, bytes.data(), sizeof sum);
  if (sum != checksum(bytes, sizeof sum)) return damaged("wrong checksum");
  try {
    Contribution read;
    Reader::read(Json::from_cbor(bytes.begin() + sizeof sum, bytes.end()), "", read);
    contribution = std::move(read);
    return {};
  } catch (const Problem& problem) {
    return damaged(problem.sentence);
  }
} catch (const std::exception& error) {
  return base::Status::failure(std::string("a rank's part of the run record cannot be read: ") + error.what());
}

std::string to_json(const RunRecord& record) {
  std::string out;
  print(Writer::json(record), "", out);
  out += '\n';
  return out;
}

base::Status from_json(const std::string& text, RunRecord& record) try {
  using base::Status;
  constexpr const char* kNext = "; name a file that `steelyard run` wrote, or repeat the run";
  if (text.empty())
    return Status::failure(
        "the file is empty: a run writes its record when it ends; wait for that, or name "
        "another record");
  try {
    const Json json = Json::parse(text);
    int schema = kSchema;
    if (json.is_object() && json.contains("schema")) Reader::read(json["schema"], "schema", schema);
    if (schema < 1 || schema > kSchema) {
      return Status::failure("schema: this version of Steelyard reads 1 to " + std::to_string(kSchema) + ", found " +
                             std::to_string(schema) + "; read it with the version of Steelyard that wrote it");
    }
    RunRecord read;
    Reader::read(json, "", read);
    read.schema = kSchema;
    // Schema 1 called a move confirmed by its gain alone.
    for (DecisionRecord& decision : read.decisions) {
      if (decision.outcome == Outcome::confirmed && decision.measured_low <= 0) decision.outcome = Outcome::undecided;
    }
    record = std::move(read);
    return {};
  } catch (const Problem& problem) {
    return Status::failure(problem.sentence + "; it is no run record, or was changed after the run" + kNext);
  } catch (const Json::parse_error& error) {
    const std::string what = error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 1: ..."
    const std::size_t start = what.find("] ");
    return Status::failure("not JSON, or cut off: " + (start == std::string::npos ? what : what.substr(start + 2)) +
                           kNext);
  }
} catch (const std::exception& error) {
  return base::Status::failure(error.what());
}

}  // namespace steelyard::observe
