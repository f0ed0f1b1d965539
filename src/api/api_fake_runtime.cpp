#include "api/api_fake_runtime.h"

#include "runtime/runtime.h"

namespace steelyard::runtime {

void step() { ++api::fake::steps; }
void tasks_ended(const observe::TasksRecord& pool) { api::fake::tasks += static_cast<int>(pool.executed); }
void phases_begin() { ++api::fake::phases; }
std::string inactive_reason() { return api::fake::reason; }
bool weighs_this_call() { return api::fake::in_primary; }

}  // namespace steelyard::runtime
