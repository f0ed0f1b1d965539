#pragma once
#include <string>

namespace steelyard::base {

/// Writes `text` to a file beside `path` and renames that to `path`: a reader sees the old file or all of the new one, also
/// where the disk is full or the process is killed. What is incomplete is removed. A path that is no regular file (a pipe, a
/// device) is written directly.
/// @return 0, or errno of the call that failed
int write_whole_file(const std::string& path, const std::string& text);

}  // namespace steelyard::base
