// SPDX-License-Identifier: BSD-3-Clause
#include "cli/hooks.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <string_view>

namespace steelyard::cli {

Hooks hooks_of(const ElfImage& image) {
  Hooks hooks;
  const std::set<std::string_view> defined(image.hooks.begin(), image.hooks.end());
  const std::set<std::string_view> called(image.undefined.begin(), image.undefined.end());
  for (const auto& name : image.hooks) {
    if (!name.starts_with("MPI_") || name.size() < 5 || std::isupper(static_cast<unsigned char>(name[4])) == 0)
      continue;
    const auto own_name = "P" + name;
    auto& kind = called.contains(own_name) ? hooks.wrapped : defined.contains(own_name) ? hooks.renamed : hooks.other;
    if (kind.empty() || name == "MPI_Init") kind = name;
  }
  // One that wraps some and redirects others is a wrapper.
  if (!hooks.wrapped.empty()) hooks.renamed = hooks.other = "";
  if (!hooks.renamed.empty()) hooks.other = "";
  std::ranges::copy_if(image.undefined, std::back_inserter(hooks.openmp_imports), is_openmp);
  hooks.openmp_tool = defined.contains("ompt_start_tool");
  hooks.moves_cores = defined.contains("DLB_Init");
  if (defined.contains("__asan_init")) hooks.sanitizer = "AddressSanitizer";
  if (defined.contains("__tsan_init")) hooks.sanitizer = "ThreadSanitizer";
  return hooks;
}

}  // namespace steelyard::cli
