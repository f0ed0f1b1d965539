// SPDX-License-Identifier: BSD-3-Clause
#include "observe/left_broadcasts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "observe/text.h"

namespace steelyard::observe {
namespace {

// In the order of kLeftFields.
constexpr const char* kReasons[] = {
    "the program uses MPI_THREAD_MULTIPLE: only those on MPI_COMM_WORLD are taken over then",
    "all 16 shared-memory broadcast buffers of the node were in use",
    ("their communicator had no tree between nodes yet: its third broadcast builds the tree, with --collectives=auto "
     "its 64th"),
    "they were longer than 2 MiB on a node or 1 MiB between nodes",
    "no measurement had shown shorter waits without the library",
    "the node had no shared memory left for their data",
    "their communicator spans nodes"};
static_assert(std::size(kReasons) == std::size(kLeftFields));

std::vector<std::string> left(const RunRecord& record, Broadcasts RankRecord::* operation, const char* name) {
  struct Left {
    long count;
    const char* reason;
  };
  std::vector<Left> all;
  long calls = 0;
  for (const RankRecord& rank : record.ranks) calls = std::max(calls, (rank.*operation).calls);
  for (std::size_t i = 0; i < std::size(kLeftFields); ++i) {
    Left left{0, kReasons[i]};
    for (const RankRecord& rank : record.ranks)
      left.count = std::max(left.count, (rank.*operation).*kLeftFields[i].count);
    if (left.count > 0) all.push_back(left);
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &Left::count);
  std::vector<std::string> sentences;
  for (const Left& left : all) {
    sentences.push_back(
        fmt::format("handled by the MPI library: {} of {}, because {}", left.count, plural(calls, name), left.reason));
  }
  return sentences;
}

}  // namespace

std::vector<std::string> left_broadcasts(const RunRecord& record) {
  return left(record, &RankRecord::broadcasts, "broadcast");
}

std::vector<std::string> left_scatters(const RunRecord& record) {
  return left(record, &RankRecord::scatters, "scatter");
}

std::string why_gain_is_unknown(const RunRecord& record) {
  if (option_of(record, "collectives") == "auto") return "the gain is not known: too few of them were compared";
  return "the gain is not known: only --collectives=auto compares";
}

bool asked_for_broadcasts(const RunRecord& record) {
  const std::string asked = option_of(record, "collectives");
  return asked == "on" || asked == "called";
}

}  // namespace steelyard::observe
