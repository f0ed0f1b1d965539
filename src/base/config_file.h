// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>

#include "base/options.h"

namespace steelyard::base {

/// Overrides options by a TOML file with one `name = value` a line, e.g. `cores = false`, `spin = 50`, `wait = "poll"`.
/// Failure: the file, the line, what is wrong with it; `options` may then hold a part of it.
Status override_from_file(const std::string& path, Options& options);

/// The same from text that was read from `path`.
Status override_from_toml(std::string_view text, const std::string& path, Options& options);

}  // namespace steelyard::base
