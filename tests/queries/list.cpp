// list FILE: each thread query of a compiled file: its function, 1 where it is proved, and why it is not.
#include <fmt/format.h>

#include <cstdio>

#include "partition/summary.h"

int main(int argc, char** argv) {
  const auto summary = argc == 2 ? steelyard::partition::summarise(argv[1]) : std::nullopt;
  if (!summary) return fmt::print(stderr, "list: needs one ELF file for this machine\n"), 2;
  for (const auto& query : summary->queries)
    fmt::print("{}\t{:d}\t{} at {:x}\n", query.name, query.proved, query.reason, query.instruction);
}
