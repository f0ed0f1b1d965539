// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <initializer_list>
#include <string_view>

// Messages for the user, on standard error. Each is one line and one write(2), so that lines of many ranks do not mix.
// If no process reads standard error any more, the line is lost, without a SIGPIPE.
namespace steelyard::base {

/// From now on warnings of this process carry its rank: "steelyard[3]: ...".
void set_log_rank(int rank);

/// A line about the whole run, to be said by one rank: "steelyard: ...".
void say(std::string_view line);

/// say() where a signal handler may be the caller: it allocates no memory, and cuts lines that are very long.
void say_in_handler(std::initializer_list<std::string_view> parts);

/// A line as it is: text that was laid out elsewhere, such as the summary.
void print(std::string_view line);

/// A line about this process. The same line is written at most five times.
void warn(std::string_view line);

/// The same, at most once.
void warn_once(std::string_view line);

/// The same where memory may be exhausted: it allocates none, and cuts lines that are very long. `warned`: of the place
/// that warns, which does so once, whatever it says.
void warn_once(std::atomic_flag& warned, std::initializer_list<std::string_view> parts) noexcept;

}  // namespace steelyard::base
