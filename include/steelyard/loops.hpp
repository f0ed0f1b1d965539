// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "steelyard/loops.h"
#include "steelyard/steelyard.hpp"

/// @file
/// The loops of steelyard/loops.h for C++17, header only. Each call is a parallel region of its own (compile with
/// -fopenmp; without it the iterations run one after the other).
///
///     steelyard::for_each(0, n, [&](int i) { y[i] = f(i); });                 // a loop that is known by file and line
///     steelyard::Loop loop("sweep", {"staggered", 0.9});
///     steelyard::for_each(loop, 0, n, [&](int i) { y[i] = f(i); });
///     steelyard::for_each(0, n, [&](int begin, int end) { kernel(y + begin, end - begin); });   // whole chunks at a
///                                                                                               time
///     double sum = steelyard::reduce(loop, 0, n, 0.0, std::plus<>(), [&](int i) { return x[i] * y[i]; });
///
/// Exceptions (policy: steelyard.hpp): the first exception out of a body is thrown again after the loop. The other
/// threads stop soon, in the middle of a chunk; a body that takes whole chunks finishes its chunk.
namespace steelyard {

/// A loop with a name and options: see steelyard_loop_t. Outlives its executions. One for_each() or reduce() at a time.
class Loop {
 public:
  /// See steelyard_loop_options_t. A member that is empty or 0 leaves the decision to the options.
  struct Options {
    std::string strategy = {};
    double static_fraction = 0;    ///< above 0 and up to 1
    std::uint64_t chunk_size = 0;  ///< iterations
  };
  /// @param name name under which the loop is found again in a later run
  /// @throws Error if there is no memory
  explicit Loop(const std::string& name) : Loop(name, Options()) {}
  /// @param name    name under which the loop is found again in a later run
  /// @param options how it is divided
  /// @throws Error if an option is wrong, or if there is no memory
  Loop(const std::string& name, const Options& options) {
    const steelyard_loop_options_t plain = to_c(options);
    detail::check(steelyard_loop_create(name.c_str(), &plain, &loop_));
  }
  ~Loop() { steelyard_loop_free(loop_); }
  Loop(Loop&& other) noexcept : loop_(std::exchange(other.loop_, nullptr)) {}
  Loop& operator=(Loop&& other) noexcept {
    std::swap(loop_, other.loop_);
    return *this;
  }
  /// Changes the options from the next execution on. See steelyard_loop_set_options().
  /// @throws Error if an option is wrong
  void set_options(const Options& options) {
    const steelyard_loop_options_t plain = to_c(options);
    detail::check(steelyard_loop_set_options(loop_, &plain));
  }
  /// Divides two loops over the same data alike. See steelyard_loop_tie().
  /// @throws Error if a loop was moved from
  void tie(Loop& other) { detail::check(steelyard_loop_tie(loop_, other.loop_)); }
  /// How the loop is executed now. See steelyard_loop_get_state().
  /// @throws Error if the loop was moved from
  steelyard_loop_state_t state() const {
    steelyard_loop_state_t now;
    detail::check(steelyard_loop_get_state(loop_, &now));
    return now;
  }
  /// The loop for calls of loops.h; owned by this object.
  steelyard_loop_t* handle() const noexcept { return loop_; }

 private:
  static steelyard_loop_options_t to_c(const Options& options) {
    return {options.strategy.empty() ? nullptr : options.strategy.c_str(), options.static_fraction, options.chunk_size};
  }
  steelyard_loop_t* loop_ = nullptr;
};

namespace detail {

template <class Index>
std::uint64_t span_of(const Index& first, const Index& last) {
  if constexpr (std::is_integral_v<Index>) {
    // As unsigned numbers: the distance between the limits of a signed type fits.
    return last > first ? static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) : 0;
  } else {
    static_assert(
        std::is_base_of_v<std::random_access_iterator_tag, typename std::iterator_traits<Index>::iterator_category>,
        "steelyard: a loop goes over integers or random-access iterators");
    return last > first ? static_cast<std::uint64_t>(last - first) : 0;
  }
}

template <class Index>
Index index_at(const Index& first, std::uint64_t iteration) {
  if constexpr (std::is_integral_v<Index>)
    return static_cast<Index>(static_cast<std::uint64_t>(first) + iteration);
  else
    return first + static_cast<typename std::iterator_traits<Index>::difference_type>(iteration);
}

/// Runs a chunk, which may be all iterations of a thread, in blocks. Between two blocks the thread checks whether
/// another thread has thrown. Blocks are short for a slow body, and long for a fast one, so that the checks cost
/// nothing.
class Blocks {
 public:
  explicit Blocks(const std::atomic<bool>& thrown) : thrown_(thrown) {}
  template <class ChunkBody>
  void run(std::uint64_t begin, std::uint64_t end, ChunkBody&& chunk) {
    if (end - begin <= size_) return chunk(begin, end);
    for (auto since = std::chrono::steady_clock::now(); begin < end && !thrown_.load(std::memory_order_relaxed);) {
      const std::uint64_t middle = end - begin > size_ ? begin + size_ : end;
      chunk(begin, middle);
      begin = middle;
      const auto now = std::chrono::steady_clock::now();
      if (now - since < kShort && size_ < kLargest)
        size_ *= 8;
      else if (now - since > kLong && size_ > 1)
        size_ /= 8;
      since = now;
    }
  }

 private:
  static constexpr std::chrono::microseconds kShort{5}, kLong{50};
  static constexpr std::uint64_t kLargest = std::uint64_t{1} << 40;
  const std::atomic<bool>& thrown_;
  std::uint64_t size_ = 8;
};

/// Calls `chunk(state, begin, end)` for all of [0, count) in a parallel region. `state` is the return value of
/// `prepare(thread, threads)` in the thread. `in_blocks`: chunks may be cut.
template <bool in_blocks, class Prepare, class ChunkBody>
void execute(steelyard_loop_t* loop, const char* file, int line, std::uint64_t count, Prepare&& prepare,
             ChunkBody&& chunk) {
  steelyard_loop_execution_t execution;
  check(steelyard_loop_execution_begin(loop, file, line, &execution));
  std::exception_ptr first_thrown;
  std::atomic<bool> thrown{false};
  const auto run = [&](int thread, int threads) {
    steelyard_iterations_t mine;
    try {
      check(steelyard_loop_execution_join(&execution, thread, threads, count, &mine));
      auto&& state = prepare(thread, threads);
      Blocks blocks(thrown);
      while (steelyard_loop_next(&mine) != 0) {
        const auto begin = static_cast<std::uint64_t>(mine.begin), end = static_cast<std::uint64_t>(mine.end);
        if constexpr (in_blocks)
          blocks.run(begin, end, [&](std::uint64_t from, std::uint64_t to) { chunk(state, from, to); });
        else
          chunk(state, begin, end);
      }
    } catch (...) {
      if (!thrown.exchange(true)) first_thrown = std::current_exception();
      steelyard_loop_cancel(&mine);
    }
    steelyard_loop_end(&mine);
  };
#ifdef _OPENMP
  // Two regions: `steelyard run` keeps the thread count of a region whose code queries thread IDs.
  int known = 0;
  steelyard_loop_thread_num(&known);
  if (known != 0) {
#pragma omp parallel
    {
      int threads = 0;
      const int thread = steelyard_loop_thread_num(&threads);
      run(thread, threads);
    }
  } else {
#pragma omp parallel
    run(omp_get_thread_num(), omp_get_num_threads());
  }
#else
  run(0, 1);
#endif
  steelyard_loop_execution_end(&execution);
  if (first_thrown) std::rethrow_exception(first_thrown);
}

template <class Index, class Body>
void for_each(steelyard_loop_t* loop, const char* file, int line, Index first, Index last, Body& body) {
  constexpr bool whole_chunks = std::is_invocable_v<Body&, Index, Index>;
  constexpr bool throws = !std::is_nothrow_invocable_v<Body&, const Index&>;
  execute<!whole_chunks && throws>(
      loop, file, line, span_of(first, last), [](int, int) { return 0; },
      [&](int, std::uint64_t begin, std::uint64_t end) {
        if constexpr (whole_chunks) {
          body(index_at(first, begin), index_at(first, end));
        } else {
          Index index = index_at(first, begin);
          for (std::uint64_t i = begin; i < end; ++i, ++index) body(std::as_const(index));
        }
      });
}

template <class Index, class Value, class Combine, class Body>
Value reduce(steelyard_loop_t* loop, const char* file, int line, Index first, Index last, Value initial,
             Combine& combine, Body& body) {
  // Each part is on cache lines of its own and is written once, when its thread has finished. No part contains
  // `initial`.
  struct alignas(128) Part {
    std::optional<Value> value;
  };
  // The number of threads is known in the region only: it may be more than omp_get_max_threads().
  std::vector<Part> parts;
  std::once_flag sized;
  struct Mine {
    Part* part;
    std::optional<Value> value;
    explicit Mine(Part& mine) : part(&mine) {}
    Mine(const Mine&) = delete;
    Mine& operator=(const Mine&) = delete;
    ~Mine() { part->value = std::move(value); }
  };
  execute<true>(
      loop, file, line, span_of(first, last),
      [&](int thread, int threads) {
        std::call_once(sized, [&] { parts = std::vector<Part>(static_cast<std::size_t>(threads)); });
        return Mine(parts[static_cast<std::size_t>(thread)]);
      },
      [&](Mine& mine, std::uint64_t begin, std::uint64_t end) {
        if (begin == end) return;
        Index index = index_at(first, begin);
        if (!mine.value) {
          mine.value.emplace(body(std::as_const(index)));
          ++begin, ++index;
        }
        Value value = std::move(*mine.value);
        for (std::uint64_t i = begin; i < end; ++i, ++index)
          value = combine(std::move(value), body(std::as_const(index)));
        mine.value = std::move(value);
      });
  // In the order of the threads: the same parts give the same sum.
  Value result = std::move(initial);
  for (Part& part : parts) {
    if (part.value) result = combine(std::move(result), std::move(*part.value));
  }
  return result;
}

}  // namespace detail

/// Runs a body for each index of [first, last), in a parallel region.
///
/// @param loop  the loop
/// @param first first index: an integer or a random-access iterator
/// @param last  bound, not included
/// @param body  called as body(index), or as body(begin, end) for whole chunks; by several threads at a time
/// @throws Error if another team executes the loop now; and the first exception that a body has thrown
/// @note Local. Blocks until all iterations have run. Any thread.
template <class First, class Last, class Body>
void for_each(Loop& loop, First first, Last last, Body&& body) {
  detail::for_each<std::common_type_t<First, Last>>(loop.handle(), "", 0, first, last, body);
}

/// for_each() for the loop at this place of the source.
///
/// @param first first index: an integer or a random-access iterator
/// @param last  bound, not included
/// @param body  called as body(index), or as body(begin, end) for whole chunks; by several threads at a time
/// @param file  left out
/// @param line  left out
/// @throws Error, and exceptions of the body, as above
/// @note Local. Blocks until all iterations have run. Any thread.
template <class First, class Last, class Body>
void for_each(First first, Last last, Body&& body, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  detail::for_each<std::common_type_t<First, Last>>(nullptr, file, line, first, last, body);
}

/// Combines body(index) for all of [first, last), and `initial` once, as std::reduce does. The result of floating-point
/// operations depends on how iterations are assigned to threads; the option `loops-replay` repeats an assignment.
///
/// @param loop    the loop
/// @param first   first index: an integer or a random-access iterator
/// @param last    bound, not included
/// @param initial start value
/// @param combine called as combine(Value, Value); associative and commutative
/// @param body    called as body(index), by several threads at a time
/// @return the combined value
/// @throws Error if another team executes the loop now; and the first exception that a body or `combine` has thrown
/// @note Local. Blocks until all iterations have run. Any thread.
template <class First, class Last, class Value, class Combine, class Body>
Value reduce(Loop& loop, First first, Last last, Value initial, Combine combine, Body&& body) {
  return detail::reduce<std::common_type_t<First, Last>>(loop.handle(), "", 0, first, last, std::move(initial), combine,
                                                         body);
}

/// reduce() for the loop at this place of the source.
///
/// @param first   first index: an integer or a random-access iterator
/// @param last    bound, not included
/// @param initial start value
/// @param combine called as combine(Value, Value); associative and commutative
/// @param body    called as body(index), by several threads at a time
/// @param file    left out
/// @param line    left out
/// @return the combined value
/// @throws Error, and exceptions of the body, as above
/// @note Local. Blocks until all iterations have run. Any thread.
template <class First, class Last, class Value, class Combine, class Body>
Value reduce(First first, Last last, Value initial, Combine combine, Body&& body, const char* file = __builtin_FILE(),
             int line = __builtin_LINE()) {
  return detail::reduce<std::common_type_t<First, Last>>(nullptr, file, line, first, last, std::move(initial), combine,
                                                         body);
}

}  // namespace steelyard
