// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace steelyard::cli {

/// `steelyard clean`: removes shared memory of this user's runs that died before their ranks had found each other. A
/// run that goes on keeps what it has. Returns the exit status.
int clean(const std::string& directory = "/dev/shm");

}  // namespace steelyard::cli
