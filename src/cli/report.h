#pragma once
#include <string>

namespace steelyard::cli {

enum class ReportForm { verdict, full, json };

/// Prints a run record. Returns the exit status, 1 where the record cannot be read (having said why).
int report(const std::string& path, ReportForm form);

}  // namespace steelyard::cli
