// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "cli/decision.h"

namespace steelyard::cli {

/// What `steelyard report` leaves to the Python package that is installed beside this program: pages, traces,
/// comparisons.
struct Pages {
  std::vector<std::string> records;
  std::string html, perfetto, paraver, talp;  ///< files to write; empty ones are not asked for

  bool wanted() const {
    return records.size() > 1 || !(html.empty() && perfetto.empty() && paraver.empty() && talp.empty());
  }
};

/// Refuses a file to write that is a run record, as in `steelyard report --html run.json`; "" if there is none.
std::string refusal_to_overwrite(const Pages& pages);

/// Becomes `python3`. Returns an exit status only where that cannot be, having said what is missing and how to install
/// it.
int make_pages(const Pages& pages, const Site& site);

}  // namespace steelyard::cli
