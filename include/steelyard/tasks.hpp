// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "steelyard/steelyard.hpp"
#include "steelyard/tasks.h"

/// @file
/// The tasks of steelyard/tasks.h for C++17, header only; that header documents each call. Compiled with OpenMP, a pool
/// of several threads starts them itself.
///
///     steelyard::TaskPool<Cell, Rates> chemistry(MPI_COMM_WORLD, [](const Cell& cell) { return integrate(cell); });
///     for (const Cell& cell : mine) chemistry.spawn(cell);
///     chemistry.run([&](const Cell& cell, const Rates& rates) { ... });
///
/// Exceptions: the policy of steelyard.hpp. What a task throws makes it fail: its owner finds it in failures(). Without
/// an exception, Task::fail() does the same. What a consumer of results throws does not end the run: the first one is
/// thrown again when the run is over.
///
/// Tasks of several types in one pool: a std::variant of their inputs, and one of their results. The function chooses
/// by std::visit() or std::get_if().
namespace steelyard {

/// How values are sent: trivially copyable ones as they are, strings, vectors of trivially copyable ones, and variants
/// of all of these. For another type, specialise it with these two functions.
template <class T, class = void>
struct Serializer {
  static_assert(std::is_trivially_copyable_v<T>, "specialise steelyard::Serializer for this type: pack() and unpack()");
  /// Appends the bytes of `value` to `bytes`.
  static void pack(const T& value, std::string& bytes) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  /// The value of `bytes`, which pack() has appended.
  static T unpack(std::string_view bytes) {
    T value{};
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
};
template <>
struct Serializer<std::string> {
  static void pack(const std::string& value, std::string& bytes) { bytes += value; }
  static std::string unpack(std::string_view bytes) { return std::string(bytes); }
};
template <class T>
struct Serializer<std::vector<T>, std::enable_if_t<std::is_trivially_copyable_v<T>>> {
  static void pack(const std::vector<T>& value, std::string& bytes) {
    bytes.append(reinterpret_cast<const char*>(value.data()), value.size() * sizeof(T));
  }
  static std::vector<T> unpack(std::string_view bytes) {
    std::vector<T> value(bytes.size() / sizeof(T));
    if (!value.empty()) std::memcpy(value.data(), bytes.data(), value.size() * sizeof(T));
    return value;
  }
};
template <class... Types>
struct Serializer<std::variant<Types...>> {
  using Variant = std::variant<Types...>;
  static void pack(const Variant& value, std::string& bytes) {
    Serializer<std::size_t>::pack(value.index(), bytes);
    std::visit([&](const auto& held) { Serializer<std::decay_t<decltype(held)>>::pack(held, bytes); }, value);
  }
  static Variant unpack(std::string_view bytes) {
    const auto index = Serializer<std::size_t>::unpack(bytes);
    return unpack(index, bytes.substr(sizeof(index)), std::index_sequence_for<Types...>());
  }

 private:
  template <std::size_t... Indices>
  static Variant unpack(std::size_t index, std::string_view bytes, std::index_sequence<Indices...>) {
    using Unpack = Variant (*)(std::string_view);
    constexpr Unpack unpack_as[] = {[](std::string_view held) {
      return Variant(std::in_place_index<Indices>, Serializer<Types>::unpack(held));
    }...};
    return unpack_as[index](bytes);
  }
};

/// A pool of tasks that make an Out from an In, on whichever process is idle. See steelyard_task_pool_t. The thread
/// that creates it is its primary thread.
template <class In, class Out>
class TaskPool {
 public:
  /// A task while it runs. For the thread that runs it, in its function.
  class Task {
   public:
    /// Spawns a further task. Its result is delivered to the owner of this one. See steelyard_task_spawn().
    /// @param in  input of the task
    /// @param tag delivered with its result
    /// @throws Error; if the function lets it pass, this task fails
    void spawn(const In& in, std::uint64_t tag = 0) {
      std::string bytes;
      Serializer<std::uint64_t>::pack(tag, bytes);
      Serializer<In>::pack(in, bytes);
      detail::check(steelyard_task_spawn(task_, 0, kByTask, bytes.data(), bytes.size()));
    }
    /// Makes this task fail as an exception would; what its function returns is dropped. Tasks that it has spawned are
    /// executed nevertheless.
    /// @param message why; the last one counts
    void fail(std::string_view message) { failure_ = message; }
    /// Serves requests of other nodes. See steelyard_task_yield().
    void yield() noexcept { steelyard_task_yield(task_); }
    /// Rank of the task's owner in the pool's communicator.
    int owner() const noexcept { return task_->owner; }

   private:
    friend class TaskPool;
    explicit Task(steelyard_task_t* task) : task_(task) {}
    steelyard_task_t* task_;
    std::optional<std::string> failure_;
  };
  /// A task that has thrown or called fail(), or whose result is too large to be sent (STEELYARD_TASK_MAX_SIZE).
  struct Failure {
    In input;             ///< input of the task
    std::string message;  ///< what it has thrown, or passed to fail()
    std::uint64_t tag;    ///< tag with which it was spawned
  };

  /// Creates a pool. Collective over the communicator. See steelyard_task_pool_create().
  /// @param communicator an intra-communicator; duplicated
  /// @param function     called as function(const In&) or function(const In&, Task&), returns an Out; by several
  ///                     threads at a time if options.threads is more than 1
  /// @param options      options of the pool
  /// @throws Error on all ranks, if the call fails on one
  template <class Function>
  TaskPool(MPI_Comm communicator, Function function,
           steelyard_task_pool_options_t options = STEELYARD_TASK_POOL_OPTIONS_DEFAULT)
      : threads_(options.threads) {
    if constexpr (std::is_invocable_r_v<Out, Function, const In&, Task&>) {
      function_ = std::move(function);
    } else {
      function_ = [f = std::move(function)](const In& in, Task&) { return f(in); };
    }
    const steelyard_task_type_t type = {"steelyard::TaskPool", &TaskPool::execute, this, 1};
    detail::check(steelyard_task_pool_create(communicator, &type, 1, &options, &pool_));
  }
  /// Frees the pool. Collective, unless free() was called.
  ~TaskPool() { steelyard_task_pool_free(pool_); }
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;
  /// Frees the pool before its destructor. Collective. See steelyard_task_pool_free().
  /// @throws Error; the pool is freed nevertheless, unless the call was made in a task or a consumer
  void free() { detail::check(steelyard_internal_task_pool_free(&pool_)); }
  /// The pool for calls of tasks.h; owned by this object.
  steelyard_task_pool_t* handle() const noexcept { return pool_; }

  /// Spawns a task that this process owns. Local; the pool's primary thread. See steelyard_task_pool_spawn().
  /// @param in  input of the task; kept until the end of the run
  /// @param tag delivered with its result, by default 0; kept here, not sent with the task
  /// @throws Error
  void spawn(In in, std::uint64_t tag = 0) {
    scratch_.clear();
    Serializer<In>::pack(in, scratch_);
    detail::check(steelyard_task_pool_spawn(pool_, 0, inputs_.size(), scratch_.data(), scratch_.size()));
    inputs_.push_back({std::move(in), tag});
  }

  /// Executes tasks until none is left in any process. Collective; blocks; the pool's primary thread. See
  /// steelyard_task_pool_run(). Tasks that have failed are in failures() until the next run.
  /// @param consumer called as consumer(const In&, const Out&) or consumer(const In&, const Out&, std::uint64_t tag)
  ///                 for each result, in this thread, never in the middle of a task; it may spawn tasks
  /// @throws Error, in a task or a consumer too: the run that is going on is not affected; and the first exception that
  ///         the consumer has thrown
  template <class Consumer>
  void run(Consumer&& consumer) {
    // In a run the library refuses the call. Nothing of the run that is going on may be touched before.
    if (running_.exchange(true)) return detail::check(steelyard_task_pool_run(pool_, nullptr, nullptr));
    const Running running{running_};
    failures_.clear();
    consumer_ = [&consumer](const In& in, const Out& out, [[maybe_unused]] std::uint64_t tag) {
      if constexpr (std::is_invocable_v<Consumer&, const In&, const Out&, std::uint64_t>) {
        consumer(in, out, tag);
      } else {
        consumer(in, out);
      }
    };
    steelyard_status_t status = STEELYARD_SUCCESS;
#ifdef _OPENMP
    if (threads_ > 1) {
      // Without a query of the thread ID, so that `steelyard run` sees that a team of any size will do.
      const std::thread::id primary = std::this_thread::get_id();
#pragma omp parallel num_threads(threads_)
      if (std::this_thread::get_id() == primary) {
        status = steelyard_task_pool_run(pool_, &TaskPool::consume, this);
      } else {
        steelyard_task_pool_help(pool_);
      }
    } else
#endif
      status = steelyard_task_pool_run(pool_, &TaskPool::consume, this);
    inputs_.clear();
    consumer_ = nullptr;
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    detail::check(status);
  }
  /// run() without a consumer: results are dropped.
  void run() {
    run([](const In&, const Out&) {});
  }
  /// Tasks of this process that have failed in the last run.
  const std::vector<Failure>& failures() const noexcept { return failures_; }

  /// What this process has done since the pool was created. See steelyard_task_pool_get_statistics().
  steelyard_task_pool_statistics_t statistics() const {
    steelyard_task_pool_statistics_t all;
    detail::check(steelyard_task_pool_get_statistics(pool_, &all));
    return all;
  }

 private:
  struct Spawned {
    In in;
    std::uint64_t tag;
  };
  // If a task was spawned by another task, its owner has not seen its input, which is sent with the result. Its tag is
  // sent before its input.
  static constexpr std::uint64_t kByTask = ~std::uint64_t{0};
  struct Head {
    std::uint32_t failed, input;  // the second: bytes
    std::uint64_t tag;
  };

  // Bytes of a failure's message: with head and largest input they stay below the largest result.
  static constexpr std::size_t kMessage = 4096;
  /// A run lasts as long as this object.
  struct Running {
    std::atomic<bool>& running;
    ~Running() { running = false; }
  };

  static std::string too_large(std::size_t result, std::size_t input, bool by_task) {
    return "the result of a task has " + std::to_string(result) + " bytes" +
           (by_task ? ", its input, which is sent with it, " + std::to_string(input) : std::string()) + ": at most " +
           std::to_string(std::size_t{STEELYARD_TASK_MAX_SIZE}) + " can be sent; divide the task";
  }

  static int execute(steelyard_task_t* task, void* self) {
    std::string_view input(static_cast<const char*>(task->data), task->size);
    const bool by_task = task->tag == kByTask;
    Head head{0, 0, 0};
    if (by_task) {
      head.tag = Serializer<std::uint64_t>::unpack(input);
      input.remove_prefix(sizeof(head.tag));
      head.input = static_cast<std::uint32_t>(input.size());
    }
    std::string bytes;
    const auto begin = [&] {
      bytes.clear();
      if (by_task) bytes.append(reinterpret_cast<const char*>(&head), sizeof(head)).append(input);
    };
    const auto fail = [&](const std::string& message) {
      if (!by_task) {
        bytes.clear();
        steelyard_task_fail(task, message.c_str());
        return;
      }
      head.failed = 1;
      begin();
      bytes.append(message, 0, kMessage);
    };
    try {
      Task running(task);
      begin();
      const Out out = static_cast<TaskPool*>(self)->function_(Serializer<In>::unpack(input), running);
      if (running.failure_) {
        fail(*running.failure_);
      } else {
        Serializer<Out>::pack(out, bytes);
        const std::size_t others = by_task ? sizeof(head) + input.size() : 0;
        if (bytes.size() > STEELYARD_TASK_MAX_SIZE) fail(too_large(bytes.size() - others, input.size(), by_task));
      }
    } catch (const std::exception& exception) {
      fail(exception.what());
    } catch (...) {
      fail("an exception that is not derived from std::exception");
    }
    if (!bytes.empty() && steelyard_task_set_result(task, bytes.data(), bytes.size()) != STEELYARD_SUCCESS) {
      steelyard_task_fail(task, steelyard_message());
    }
    return 0;
  }

  static void consume(const steelyard_task_result_t* result, void* self) {
    TaskPool& pool = *static_cast<TaskPool*>(self);
    try {
      std::string_view bytes(static_cast<const char*>(result->data), result->size);
      if (result->tag != kByTask) {
        const Spawned& task = pool.inputs_[result->tag];
        if (result->message != nullptr) {
          pool.failures_.push_back({task.in, result->message, task.tag});
        } else {
          pool.consumer_(task.in, Serializer<Out>::unpack(bytes), task.tag);
        }
        return;
      }
      // There was no memory for the result with its task's input: nothing is known of the task except that it failed.
      if (result->message != nullptr) throw Error(static_cast<Status>(result->status), result->message);
      Head head;
      std::memcpy(&head, bytes.data(), sizeof(head));
      In in = Serializer<In>::unpack(bytes.substr(sizeof(head), head.input));
      bytes.remove_prefix(sizeof(head) + head.input);
      if (head.failed != 0) {
        pool.failures_.push_back({std::move(in), std::string(bytes), head.tag});
      } else {
        pool.consumer_(in, Serializer<Out>::unpack(bytes), head.tag);
      }
    } catch (...) {
      if (!pool.thrown_) pool.thrown_ = std::current_exception();
    }
  }

  std::function<Out(const In&, Task&)> function_;
  std::function<void(const In&, const Out&, std::uint64_t)> consumer_;
  std::deque<Spawned> inputs_;
  std::vector<Failure> failures_;
  std::exception_ptr thrown_;
  std::string scratch_;
  int threads_;
  std::atomic<bool> running_{false};
  steelyard_task_pool_t* pool_ = nullptr;
};

}  // namespace steelyard
