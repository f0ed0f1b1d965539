// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

#include "cli/launcher.h"

namespace steelyard::cli {

/// Says why this rank is not started, and returns `status`. Of the ranks of a node that have the same to say, one does,
/// whichever it is: a program that is missing on one node alone, or for one rank alone, is heard of, too.
int refuse_to_start(const std::string& sentence, int status, const Launcher& launcher);

/// Prints `text` on standard output, and returns `status`. Of the ranks of a node that print the same text, one does.
int print_for_user(const std::string& text, int status, const Launcher& launcher);

}  // namespace steelyard::cli
