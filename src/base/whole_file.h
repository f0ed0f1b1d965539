// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace steelyard::base {

/// Writes `text` to a temporary file beside `path` and renames that to `path`. A reader sees the old file or the whole
/// new file, also if the disk is full or the process is killed. An incomplete temporary file is removed. Symbolic links
/// are followed, also to a file that does not exist yet.
///
/// `path` is written directly if it is not a regular file (a pipe, a device). The same holds if its directory permits
/// no temporary file or no rename: EACCES, EPERM or EROFS; EBUSY for a file that is a mount point.
/// @return 0, or errno of the call that failed
int write_whole_file(const std::string& path, const std::string& text);

/// Whether write_whole_file() could write JSON to `path` now. Creates nothing.
/// @return 0, or errno that it would return; EEXIST if the file holds something else, such as a program that was named
///         by mistake; EACCES if the file is read-only, though write_whole_file() would replace it
int check_json_file(const std::string& path);
/// What such an error says to the user.
std::string json_file_error(int error);

/// Creates an empty file under a name that was free, also if other processes do the same: `path` or, if it exists,
/// `path` with "-2", "-3" and so on before ".json" or, without that, at its end. Afterwards, `path` is the name.
/// @return 0, or errno of the call that failed
int create_free_file(std::string& path);

/// Whether create_free_file() could create `path` or a file beside it now. Creates nothing.
/// @return 0, or errno that it would return
int check_free_file(const std::string& path);

}  // namespace steelyard::base
