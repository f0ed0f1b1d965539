#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iterator>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "steelyard/loops.h"
#include "steelyard/steelyard.hpp"

// The loops of steelyard/loops.h for C++17, header only. Each call is a parallel region of its own (compile with -fopenmp;
// without it the iterations run one after the other).
//
//     steelyard::for_each(0, n, [&](int i) { y[i] = f(i); });                              // a loop known by file and line
//     steelyard::Loop loop("sweep", {"staggered", 0.9});
//     steelyard::for_each(loop, 0, n, [&](int i) { y[i] = f(i); });
//     steelyard::for_each(0, n, [&](int begin, int end) { kernel(y + begin, end - begin); });   // whole chunks at a time
//     double sum = steelyard::reduce(loop, 0, n, 0.0, std::plus<>(), [&](int i) { return x[i] * y[i]; });
//
// `first` and `last` are integers, or random-access iterators; body gets the index or the iterator, or a chunk of
// them as [begin, end).
//
// Exceptions out of the body: the first is thrown again after the loop; the other threads stop soon, in the midst of their
// chunks, but for a body that has got a whole chunk.
// A mistake, such as a loop that another team executes now, is a std::logic_error with the sentence of message().
namespace steelyard {

/// A loop with a name and options. Outlives its executions. One for_each or reduce at a time.
class Loop {
 public:
  struct Options {
    std::string strategy = {};  ///< see steelyard_loop_options_t; "": as the options say
    double fraction = 0;
    std::uint64_t chunk = 0;
  };
  explicit Loop(const std::string& name) : Loop(name, Options()) {}
  /// Throws std::invalid_argument where an option is wrong.
  Loop(const std::string& name, const Options& options) {
    const steelyard_loop_options_t plain = to_c(options);
    if (steelyard_loop_create(name.c_str(), &plain, &loop_) != STEELYARD_SUCCESS)
      throw std::invalid_argument(std::string(message()));
  }
  ~Loop() { steelyard_loop_free(loop_); }
  Loop(Loop&& other) noexcept : loop_(std::exchange(other.loop_, nullptr)) {}
  Loop& operator=(Loop&& other) noexcept {
    std::swap(loop_, other.loop_);
    return *this;
  }
  void set(const Options& options) {
    const steelyard_loop_options_t plain = to_c(options);
    if (steelyard_loop_set(loop_, &plain) != STEELYARD_SUCCESS) throw std::invalid_argument(std::string(message()));
  }
  /// Both go over the same data: their parts are cut alike.
  void tie(Loop& other) noexcept { steelyard_loop_tie(loop_, other.loop_); }
  steelyard_loop_state_t state() const noexcept {
    steelyard_loop_state_t now;
    steelyard_loop_inspect(loop_, &now);
    return now;
  }
  steelyard_loop_t* handle() const noexcept { return loop_; }

 private:
  static steelyard_loop_options_t to_c(const Options& options) {
    return {options.strategy.empty() ? nullptr : options.strategy.c_str(), options.fraction, options.chunk};
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

/// A thread's way through a chunk, which may be all that it has of a loop: in blocks, between which it sees whether another
/// thread has thrown. Blocks are short where the body is slow; where it is fast, they are so long that its loop is as good as
/// whole.
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
      if (now - since < kShort && size_ < kMost)
        size_ *= 8;
      else if (now - since > kLong && size_ > 1)
        size_ /= 8;
      since = now;
    }
  }

 private:
  static constexpr std::chrono::microseconds kShort{5}, kLong{50};
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  const std::atomic<bool>& thrown_;
  std::uint64_t size_ = 8;
};

/// `chunk(state, begin, end)` for all of [0, count) in a parallel region; `state` is what `prepare(thread, threads)` gave to
/// the thread. `in_blocks`: chunks may be cut.
template <bool in_blocks, class Prepare, class ChunkBody>
void execute(steelyard_loop_t* loop, const char* file, int line, std::uint64_t count, Prepare&& prepare,
             ChunkBody&& chunk) {
  steelyard_execution_t execution;
  if (steelyard_loop_enter(loop, file, line, &execution) != STEELYARD_SUCCESS)
    throw std::logic_error(std::string(message()));
  std::exception_ptr first_thrown;
  std::atomic<bool> thrown{false};
  const auto run = [&](int thread, int threads) {
    steelyard_iterations_t mine;
    try {
      if (steelyard_loop_join(&execution, thread, threads, count, &mine) != STEELYARD_SUCCESS)
        throw std::logic_error(std::string(message()));
      auto&& state = prepare(thread, threads);
      Blocks blocks(thrown);
      while (steelyard_loop_next(&mine) != 0) {
        const auto begin = static_cast<std::uint64_t>(mine.first), end = static_cast<std::uint64_t>(mine.last);
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
#pragma omp parallel
  {
    int threads = 0;
    const int thread = steelyard_loop_thread(&threads);
    threads != 0 ? run(thread, threads) : run(omp_get_thread_num(), omp_get_num_threads());
  }
#else
  run(0, 1);
#endif
  steelyard_loop_leave(&execution);
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
  // Each on lines of its own, and written once, when the thread is done. Nobody but the first has `initial` in it.
  struct alignas(128) Part {
    std::optional<Value> value;
  };
  // How many threads there are is known in the region only: it may have more than omp_get_max_threads() has said.
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

/// Runs body for each index of [first, last), by all threads.
template <class First, class Last, class Body>
void for_each(Loop& loop, First first, Last last, Body&& body) {
  detail::for_each<std::common_type_t<First, Last>>(loop.handle(), "", 0, first, last, body);
}

/// The same for the loop at this place of the source.
template <class First, class Last, class Body>
void for_each(First first, Last last, Body&& body, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  detail::for_each<std::common_type_t<First, Last>>(nullptr, file, line, first, last, body);
}

/// Combines body(index) for all of [first, last), and `initial` once, as std::reduce does. `combine` is associative and commutative; with floating-point numbers the result depends on who ran what: the option
/// `loops-replay` repeats that.
template <class First, class Last, class Value, class Combine, class Body>
Value reduce(Loop& loop, First first, Last last, Value initial, Combine combine, Body&& body) {
  return detail::reduce<std::common_type_t<First, Last>>(loop.handle(), "", 0, first, last, std::move(initial), combine,
                                                         body);
}

template <class First, class Last, class Value, class Combine, class Body>
Value reduce(First first, Last last, Value initial, Combine combine, Body&& body, const char* file = __builtin_FILE(),
             int line = __builtin_LINE()) {
  return detail::reduce<std::common_type_t<First, Last>>(nullptr, file, line, first, last, std::move(initial), combine,
                                                         body);
}

}  // namespace steelyard
