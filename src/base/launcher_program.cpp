// SPDX-License-Identifier: BSD-3-Clause
#include "base/launcher_program.h"

#include <algorithm>
#include <iterator>

namespace steelyard::base {

bool is_launcher_program(std::string_view program) {
  program.remove_prefix(program.rfind('/') + 1);
  constexpr std::string_view names[] = {"mpirun", "mpiexec", "orterun", "prterun", "srun", "flux", "aprun", "jsrun"};
  const auto named = [&](std::string_view name) {
    return program == name || (program.starts_with(name) && program[name.size()] == '.');  // Debian's mpirun.mpich
  };
  return std::any_of(std::begin(names), std::end(names), named);
}

}  // namespace steelyard::base
