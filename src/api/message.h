#pragma once
#include <string_view>

namespace steelyard::api {

/// The sentence that steelyard_message() gives to this thread from now on; cut at 511 characters.
void set_message(std::string_view sentence) noexcept;

}  // namespace steelyard::api
