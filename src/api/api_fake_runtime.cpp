#include "api/api_fake_runtime.h"

#include "runtime/runtime.h"

namespace steelyard::runtime {

void step() { ++api::fake::steps; }
std::string inactive_reason() { return api::fake::reason; }
bool weighs_this_call() { return api::fake::in_primary; }

}  // namespace steelyard::runtime
