// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "api/guarded.h"
#include "api/hooks.h"
#include "base/address_cache.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/options.h"
#include "loops/gathering.h"
#include "loops/hidden_runtime.h"
#include "loops/setup.h"
#include "loops/space.h"
#include "steelyard/loops.h"

// steelyard/loops.h over src/loops: checks arguments, turns failures into a status and a message, lets no exception
// pass.
using namespace steelyard::loops;
using steelyard::api::Code;
using steelyard::api::Failure;
using steelyard::api::outcome;
using steelyard::base::Status;

struct steelyard_loop {
  Gathering gathering;
};

namespace {

/// The loops that have no handle, by place in the program.
Gathering& gathering_of(Loop& loop) {
  static auto& all = *new std::map<const Loop*, std::unique_ptr<Gathering>>;
  static auto& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  auto& known = all[&loop];
  if (!known) known = std::make_unique<Gathering>(loop);
  return *known;
}

constinit thread_local steelyard::base::AddressCache<Gathering> t_known;

Gathering& at_address(void* address) {
  const auto place = reinterpret_cast<std::uint64_t>(address);
  return t_known.at(place, [&]() -> Gathering& { return gathering_of(ready_registry().at(place)); });
}

Gathering& at_line(const char* file, int line) {
  // The text of a file's name has one address in it. No code has an address with the highest bit set.
  const auto place =
      (reinterpret_cast<std::uint64_t>(file) ^ steelyard::base::spread(static_cast<std::uint64_t>(line))) | UINT64_C(1)
                                                                                                                << 63;
  return t_known.at(place, [&]() -> Gathering& {
    const std::string_view path = file;
    return gathering_of(ready_registry().named(fmt::format("{}:{}", path.substr(path.rfind('/') + 1), line)));
  });
}

Status apply(const Settings& settings, Loop& loop) {
  if (compose(settings.strategy).slack) registry().want_slack();
  return loop.set(settings);
}

Status settings_of(const steelyard_loop_options_t* options, Settings& settings) {
  settings = ready_registry().defaults();
  if (options == nullptr) return {};
  if (options->strategy != nullptr) {
    if (Status status = parse_strategy(options->strategy, settings.strategy); !status) return status;
  }
  if (options->static_fraction != 0) settings.fraction = options->static_fraction;
  if (options->chunk_size > 0) settings.chunk = options->chunk_size;
  return check(settings);
}

/// What the check of a place in a loop says: where it is, so that copies and memory that was never begun are noticed.
std::uint64_t mark(const steelyard_iterations_t* mine, std::uint64_t state) {
  return reinterpret_cast<std::uint64_t>(mine) ^ state;
}
// Encoding: states of a place, "steelyar" and "loops!?".
constexpr std::uint64_t kBegun = 0x73746565'6c796172, kFailed = 0x6c6f6f70'73213f00;

constexpr char outside[] =
    "steelyard_loop_next() or steelyard_loop_end() was called outside a loop: call steelyard_loop_begin() first, "
    "with the same steelyard_iterations_t, and steelyard_loop_end() once";

constexpr char hidden[] =
    "a loop was begun by a thread whose team is not known: the program has an OpenMP runtime linked statically, "
    "which does not tell which threads are in a team. Only the first thread of the process gets iterations, all of "
    "them. Link the runtime as a shared library (without -static-openmp or -Wl,-Bstatic), or call steelyard::for_each";

/// Loops with as many iterations may still be different ones.
std::uint64_t bounds_of(const Space& space) { return steelyard::base::spread(space.first) ^ space.stride; }

steelyard_status_t failed(steelyard_iterations_t* mine, Code code, std::string_view sentence) noexcept {
  *mine = {};
  mine->internal.check = mark(mine, kFailed);
  mine->internal.status = static_cast<int>(code);
  return steelyard::api::fail(code, sentence);
}

/// Writes a warning, too: a program that ignores the status would miss iterations silently.
steelyard_status_t fail(steelyard_iterations_t* mine, Code code, std::string_view sentence) {
  steelyard::base::warn_once(sentence);
  return failed(mine, code, sentence);
}
steelyard_status_t fail(steelyard_iterations_t* mine, const Status& status) {
  return fail(mine, status.code(), status.sentence());
}
steelyard_status_t fail(steelyard_iterations_t* mine, const Failure& failure) noexcept {
  static std::atomic_flag warned;
  steelyard::base::warn_once(warned, {failure.sentence()});
  return failed(mine, failure.code(), failure.sentence());
}

/// The team of the calling thread 0 has begun it.
void executed(Loop& loop, std::uint64_t iterations) {
  loop.called(iterations);
  registry().executed(loop);
}

/// `end`: the program's own bound, beyond which no value is made. `place`: that of the program.
steelyard_status_t begin(Gathering* gathering, void* place, const std::optional<Space>& space, std::uint64_t end,
                         bool inclusive, steelyard_iterations_t* mine) try {
  if (mine == nullptr)
    return steelyard::api::fail(
        Code::invalid_argument,
        "steelyard_loop_begin() was called with null iterations: pass a steelyard_iterations_t");
  if (!space) {
    return fail(mine, Code::invalid_argument,
                "a loop with a stride of 0, or of 2^64 iterations, has no end: pass another stride to "
                "steelyard_loop_begin()");
  }
  *mine = {};
  mine->stride = static_cast<std::int64_t>(space->stride);
  mine->internal = {nullptr, nullptr, space->first, end, space->count, mark(mine, kBegun), inclusive ? 1 : 0, 0};
  const openmp::Position here = openmp::position();
  if (here.thread == 0) steelyard_internal_work_shared();
  if (here.threads < 2)
    return hidden_runtime::may_be_in_team(place) ? fail(mine, Code::unsupported, hidden) : STEELYARD_SUCCESS;
  if (gathering == nullptr) gathering = &at_address(place);
  Gathering::Seat* seat = nullptr;
  if (const Status status = gathering->begin(here, space->count, seat, bounds_of(*space)); !status)
    return fail(mine, status);
  mine->internal.seat = seat;
  mine->internal.member = &Gathering::member(*seat);
  if (here.thread == 0) executed(gathering->loop(), space->count);
  return STEELYARD_SUCCESS;
} catch (const std::exception& exception) {
  return fail(mine, Failure("steelyard_loop_begin", exception));
}

Gathering* gathering_of(steelyard_loop_t* loop) { return loop == nullptr ? nullptr : &loop->gathering; }

steelyard_status_t create(const std::string& name, const steelyard_loop_options_t* options, steelyard_loop_t** loop) {
  Settings settings;
  if (const Status status = settings_of(options, settings); !status) return outcome(status);
  Loop& named = ready_registry().named(name);
  if (const Status status = apply(settings, named); !status) return outcome(status);
  *loop = new steelyard_loop{Gathering(named, true)};
  return STEELYARD_SUCCESS;
}

template <class Call>
steelyard_status_t guarded(const char* name, bool null, Call&& call) {
  return steelyard::api::guarded(name, null, "pointer", std::forward<Call>(call));
}

}  // namespace

extern "C" {

steelyard_status_t steelyard_loop_create(const char* name, const steelyard_loop_options_t* options,
                                         steelyard_loop_t** loop) {
  void* const place = __builtin_return_address(0);
  if (loop != nullptr) *loop = nullptr;
  return guarded("steelyard_loop_create", loop == nullptr, [&] {
    return create(name != nullptr ? name : site_name(reinterpret_cast<std::uint64_t>(place)), options, loop);
  });
}

void steelyard_loop_free(steelyard_loop_t* loop) { delete loop; }

steelyard_status_t steelyard_loop_set_options(steelyard_loop_t* loop, const steelyard_loop_options_t* options) {
  return guarded("steelyard_loop_set_options", loop == nullptr, [&] {
    Settings settings;
    if (const Status status = settings_of(options, settings); !status) return outcome(status);
    return outcome(apply(settings, loop->gathering.loop()));
  });
}

steelyard_status_t steelyard_loop_tie(steelyard_loop_t* loop, steelyard_loop_t* other) {
  return guarded("steelyard_loop_tie", loop == nullptr || other == nullptr, [&] {
    loop->gathering.loop().tie(other->gathering.loop());
    return STEELYARD_SUCCESS;
  });
}

steelyard_status_t steelyard_loop_begin(steelyard_loop_t* loop, int64_t first, int64_t last, int64_t stride,
                                        steelyard_iterations_t* mine) {
  return begin(gathering_of(loop), __builtin_return_address(0), half_open(first, last, stride),
               static_cast<std::uint64_t>(last), false, mine);
}

steelyard_status_t steelyard_loop_begin_unsigned(steelyard_loop_t* loop, uint64_t first, uint64_t last, int64_t stride,
                                                 steelyard_iterations_t* mine) {
  return begin(gathering_of(loop), __builtin_return_address(0), half_open(first, last, stride), last, false, mine);
}

int steelyard_loop_next(steelyard_iterations_t* mine) {
  if (mine == nullptr || mine->internal.check != mark(mine, kBegun)) [[unlikely]] {
    // The message of a failed begin stays.
    if (mine == nullptr || mine->internal.check != mark(mine, kFailed)) {
      steelyard::api::fail(Code::invalid_state, outside);
      steelyard::base::warn_once(outside);
    }
    return 0;
  }
  auto& internal = mine->internal;
  Chunk chunk;
  if (internal.member != nullptr) [[likely]] {
    if (!static_cast<Member*>(internal.member)->next(chunk)) return 0;
  } else {
    // The only thread of its team gets all iterations, once.
    if (internal.count == 0) return 0;
    chunk = {0, internal.count};
  }
  const auto stride = static_cast<std::uint64_t>(mine->stride);
  mine->begin = static_cast<std::int64_t>(internal.start + chunk.begin * stride);
  if (internal.inclusive != 0)
    mine->end = static_cast<std::int64_t>(internal.start + (chunk.end - 1) * stride);
  else if (chunk.end == internal.count)
    mine->end = static_cast<std::int64_t>(internal.end);
  else
    mine->end = static_cast<std::int64_t>(internal.start + chunk.end * stride);
  if (internal.member == nullptr) internal.count = 0;
  return 1;
}

steelyard_status_t steelyard_loop_end(steelyard_iterations_t* mine) {
  if (mine != nullptr && mine->internal.check == mark(mine, kFailed)) {
    mine->internal.check = 0;
    return static_cast<steelyard_status_t>(mine->internal.status);
  }
  if (mine == nullptr || mine->internal.check != mark(mine, kBegun))
    return steelyard::api::fail(Code::invalid_state, outside);
  mine->internal.check = 0;
  if (mine->internal.seat != nullptr) {
    // An execution that was given up, because a begin came without an end before it, has ended already.
    if (!Gathering::end(*static_cast<Gathering::Seat*>(mine->internal.seat)))
      return steelyard::api::fail(Code::invalid_state, outside);
  } else if (mine->internal.member != nullptr) {
    static_cast<Member*>(mine->internal.member)->end();
  }
  return STEELYARD_SUCCESS;
}

void steelyard_loop_cancel(steelyard_iterations_t* mine) {
  if (mine == nullptr || mine->internal.check != mark(mine, kBegun)) return;
  if (mine->internal.member != nullptr)
    static_cast<Member*>(mine->internal.member)->cancel();
  else
    mine->internal.count = 0;
}

steelyard_status_t steelyard_loop_get_state(const steelyard_loop_t* loop, steelyard_loop_state_t* state) {
  if (state != nullptr) *state = {"", 0, 0, 0, 0};
  return guarded("steelyard_loop_get_state", loop == nullptr || state == nullptr, [&] {
    Loop::Regime regime;
    if (!loop->gathering.loop().latest(regime)) return STEELYARD_SUCCESS;
    state->strategy = name_of(regime.plan.strategy).data();
    state->settled = regime.policy.settled() ? 1 : 0;
    state->executions = regime.history.executions();
    state->seconds = regime.history.mean_ns() * 1e-9;
    state->stolen_fraction = regime.history.kept() > 0 ? regime.history.last(0).stolen_share() : 0;
    return STEELYARD_SUCCESS;
  });
}

steelyard_status_t steelyard_loops_save(const char* path) {
  return guarded("steelyard_loops_save", path == nullptr, [&] { return outcome(ready_registry().save(path)); });
}

steelyard_status_t steelyard_loops_load(const char* path) {
  return guarded("steelyard_loops_load", path == nullptr, [&] { return outcome(ready_registry().load(path)); });
}

int steelyard_loop_thread_num(int* threads) {
  // The caller was compiled for an OpenMP runtime, and asks the right one if a process has several. Under
  // `steelyard run` there is one, and the query must not count as one of the program.
  const bool answers = steelyard::base::options().launched && openmp::known();
  const openmp::Position here = answers ? openmp::position() : openmp::Position();
  if (threads != nullptr) *threads = answers ? here.threads : 0;
  return here.thread;
}

steelyard_status_t steelyard_loop_execution_begin(steelyard_loop_t* loop, const char* file, int line,
                                                  steelyard_loop_execution_t* execution) {
  return guarded("steelyard_loop_execution_begin", execution == nullptr || (loop == nullptr && file == nullptr), [&] {
    *execution = {loop, nullptr, nullptr};
    if (loop != nullptr && !loop->gathering.enter()) {
      return steelyard::api::fail(
          Code::invalid_state,
          fmt::format("loop {} is executed by two teams at the same time: give each a loop of its own",
                      loop->gathering.loop().key()));
    }
    Gathering& gathering = loop != nullptr ? loop->gathering : at_line(file, line);
    execution->record = &gathering;
    return STEELYARD_SUCCESS;
  });
}

steelyard_status_t steelyard_loop_execution_join(steelyard_loop_execution_t* execution, int thread, int threads,
                                                 uint64_t count, steelyard_iterations_t* mine) try {
  *mine = {};
  mine->stride = 1;
  mine->internal = {nullptr, nullptr, 0, count, count, mark(mine, kBegun), 0, 0};
  if (thread == 0) steelyard_internal_work_shared();
  if (threads < 2) return STEELYARD_SUCCESS;
  auto& gathering = *static_cast<Gathering*>(execution->record);
  // The first thread installs the team; a team that another thread has borrowed in the meantime is given back.
  auto* team = static_cast<Team*>(__atomic_load_n(&execution->team, __ATOMIC_ACQUIRE));
  if (team == nullptr) {
    Team& brought = gathering.borrow(threads);
    void* none = nullptr;
    if (__atomic_compare_exchange_n(&execution->team, &none, &brought, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      team = &brought;
    } else {
      gathering.give_back(brought);
      team = static_cast<Team*>(none);
    }
  }
  Member& member = team->member(thread);
  if (const Status status = member.begin(gathering.loop(), count); !status) return fail(mine, status);
  mine->internal.member = &member;
  if (thread == 0) executed(gathering.loop(), count);
  return STEELYARD_SUCCESS;
} catch (const std::exception& exception) {
  return fail(mine, Failure("steelyard_loop_execution_join", exception));
}

void steelyard_loop_execution_end(steelyard_loop_execution_t* execution) {
  if (execution == nullptr || execution->record == nullptr) return;
  auto& gathering = *static_cast<Gathering*>(execution->record);
  if (execution->team != nullptr) gathering.give_back(*static_cast<Team*>(execution->team));
  if (execution->loop != nullptr) gathering.leave();
  *execution = {};
}

}  // extern "C"

// What fortran/steelyard_loops.f90 binds to. Texts come with their length; absent arguments are null.
namespace {

std::string to_text(const char* text, int length) { return {text, static_cast<std::size_t>(std::max(0, length))}; }

/// Calls with the options of Fortran's arguments.
template <class Call>
steelyard_status_t with_options(const char* name, const char* strategy, int strategy_length, const double* fraction,
                                const std::int64_t* chunk, Call&& call) {
  return guarded(name, false, [&] {
    if (chunk != nullptr && *chunk < 0) {
      return steelyard::api::fail(
          Code::invalid_argument,
          fmt::format("the chunk size is {} iterations: it must be 0 (from measurements) or more", *chunk));
    }
    const std::string strategy_text = to_text(strategy, strategy_length);
    return call({strategy_text.empty() ? nullptr : strategy_text.c_str(), fraction == nullptr ? 0 : *fraction,
                 chunk == nullptr ? 0 : static_cast<std::uint64_t>(*chunk)});
  });
}

}  // namespace

extern "C" {

STEELYARD_API int steelyard_loop_create_f(const char* name, int name_length, const char* strategy, int strategy_length,
                                          const double* fraction, const std::int64_t* chunk, steelyard_loop_t** loop) {
  *loop = nullptr;
  return with_options(
      "steelyard_loop_create", strategy, strategy_length, fraction, chunk,
      [&](const steelyard_loop_options_t& options) { return create(to_text(name, name_length), &options, loop); });
}
STEELYARD_API int steelyard_loop_set_options_f(steelyard_loop_t* loop, const char* strategy, int strategy_length,
                                               const double* fraction, const std::int64_t* chunk) {
  return with_options(
      "steelyard_loop_set_options", strategy, strategy_length, fraction, chunk,
      [&](const steelyard_loop_options_t& options) { return steelyard_loop_set_options(loop, &options); });
}
STEELYARD_API void steelyard_loop_free_f(steelyard_loop_t** loop) {
  steelyard_loop_free(*loop);
  *loop = nullptr;
}
STEELYARD_API void steelyard_loop_tie_f(steelyard_loop_t* const* loop, steelyard_loop_t* const* other, int* status) {
  steelyard::api::give(status, steelyard_loop_tie(*loop, *other));
}
// No wrapper in Fortran: the place of the call in the program is the name of a loop without a handle.
STEELYARD_API void steelyard_loop_begin_f(steelyard_iterations_t* mine, std::int64_t first, std::int64_t last,
                                          const std::int64_t* stride, steelyard_loop_t* const* loop, int* status) {
  steelyard::api::give(status, begin(gathering_of(loop == nullptr ? nullptr : *loop), __builtin_return_address(0),
                                     inclusive(first, last, stride == nullptr ? 1 : *stride),
                                     static_cast<std::uint64_t>(last), true, mine));
}
STEELYARD_API bool steelyard_loop_next_f(steelyard_iterations_t* mine) { return steelyard_loop_next(mine) != 0; }
STEELYARD_API void steelyard_loop_end_f(steelyard_iterations_t* mine, int* status) {
  steelyard::api::give(status, steelyard_loop_end(mine));
}
STEELYARD_API int steelyard_loops_save_f(const char* path, int length) {
  return guarded("steelyard_loops_save", false, [&] { return outcome(ready_registry().save(to_text(path, length))); });
}
STEELYARD_API int steelyard_loops_load_f(const char* path, int length) {
  return guarded("steelyard_loops_load", false, [&] { return outcome(ready_registry().load(to_text(path, length))); });
}
}
