// SPDX-License-Identifier: BSD-3-Clause
// list FILE: each thread query of a compiled file: its function, 1 where it is proved, and why it is not.
// list --bodies FILE: each body of a region with queries, and why its threads cannot run one after the other.
#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "partition/call_scan.h"
#include "partition/file_image.h"
#include "partition/independence.h"
#include "partition/query_summary.h"

using namespace steelyard::partition;

namespace {

int fail() { return fmt::print(stderr, "list: needs one ELF file for this machine\n"), 2; }

int list_bodies(const char* path) {
  const auto file = FileImage::open(path);
  if (!file) return fail();
  for (const std::uint64_t body : find_calls(file->image()).bodies)
    fmt::print("{}\t{}\n", file->function_name(body), why_not_independent(file->image(), body));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--bodies") return list_bodies(argv[2]);
  const auto summary = argc == 2 ? summarise(argv[1]) : std::nullopt;
  if (!summary) return fail();
  for (const auto& query : summary->queries)
    fmt::print("{}\t{:d}\t{} at {:x}\n", query.name, query.proved, query.reason, query.instruction);
}
