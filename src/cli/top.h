// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include "cli/jobs.h"

namespace steelyard::cli {

/// One look as text, or as one line of JSON. Rates are those since `before`, the last look at the same jobs, where
/// there is one; else since the start. `now`: base::now_ns().
std::string jobs_as_text(const std::vector<observe::LiveView>& jobs, const std::vector<observe::LiveView>& before,
                         std::int64_t now);
std::string jobs_as_json(const std::vector<observe::LiveView>& jobs, const std::vector<observe::LiveView>& before,
                         std::int64_t now);

struct TopForm {
  bool once = false, json = false;
  bool prometheus = false;  ///< once, in Prometheus' text format
  std::string output;       ///< the file of this text; empty: standard output
};

/// `steelyard top`: each second, until interrupted, or once. Returns the exit status.
int top(const TopForm& form);

}  // namespace steelyard::cli
