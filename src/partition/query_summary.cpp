// SPDX-License-Identifier: BSD-3-Clause
#include "partition/query_summary.h"

#include <algorithm>
#include <map>

#include "partition/call_scan.h"
#include "partition/file_image.h"
#include "partition/proof.h"

namespace steelyard::partition {

std::size_t Summary::proved() const {
  return static_cast<std::size_t>(
      std::count_if(queries.begin(), queries.end(), [](const Query& query) { return query.proved; }));
}

std::optional<Summary> summarise(const std::string& path) {
  const std::optional<FileImage> file = FileImage::open(path);
  if (!file) return std::nullopt;
  const Calls calls = find_calls(file->image());
  Summary summary;
  std::map<std::uint64_t, Proof> proofs;  // by function
  const auto add = [&](std::uint64_t address, const Function& function, bool proved, const std::string& reason,
                       std::uint64_t instruction) {
    summary.queries.push_back({address, function.begin, function.end - function.begin,
                               file->function_name(function.begin), calls.bodies.contains(function.begin), proved,
                               reason, instruction});
  };
  for (const std::uint64_t address : calls.queries) {
    const Function function = file->image().function_at(address - 1);
    const auto [found, is_new] = proofs.try_emplace(function.begin);
    Proof& proof = found->second;
    if (is_new) proof = prove(file->image(), address - 1, calls.bodies.contains(function.begin) ? function.begin : 0);
    const bool proved = std::any_of(proof.queries.begin(), proof.queries.end(), [&](const Query& query) {
      return query.return_address == address && query.proved;
    });
    add(address, function, proved, proof.reason, proof.instruction);
  }
  for (const std::uint64_t address : calls.fortran_queries)
    add(address, file->image().function_at(address - 1), false,
        "calls omp_get_thread_num or omp_get_num_threads in its Fortran source", address);
  return summary;
}

}  // namespace steelyard::partition
