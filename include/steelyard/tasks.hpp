#pragma once
#include <atomic>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "steelyard/steelyard.hpp"
#include "steelyard/tasks.h"

// Steelyard's tasks for C++17, header only, over the calls of tasks.h, which documents them. Compiled with OpenMP, a pool of
// several threads starts them itself.
//
//     steelyard::tasks<Cell, Rates> chemistry(MPI_COMM_WORLD, [](const Cell& cell) { return integrate(cell); });
//     for (const Cell& cell : mine) chemistry.spawn(cell);
//     chemistry.run([&](const Cell& cell, const Rates& rates) { ... });
namespace steelyard {

/// How values travel: trivially copyable ones as they are, strings, and vectors of trivially copyable ones. For a type of your
/// own, specialise it with these two functions.
template <class T, class = void>
struct Travel {
  static_assert(std::is_trivially_copyable_v<T>, "specialise steelyard::Travel for this type: pack() and unpack()");
  static void pack(const T& value, std::string& bytes) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  static T unpack(std::string_view bytes) {
    T value{};
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
};
template <>
struct Travel<std::string> {
  static void pack(const std::string& value, std::string& bytes) { bytes += value; }
  static std::string unpack(std::string_view bytes) { return std::string(bytes); }
};
template <class T>
struct Travel<std::vector<T>, std::enable_if_t<std::is_trivially_copyable_v<T>>> {
  static void pack(const std::vector<T>& value, std::string& bytes) {
    bytes.append(reinterpret_cast<const char*>(value.data()), value.size() * sizeof(T));
  }
  static std::vector<T> unpack(std::string_view bytes) {
    std::vector<T> value(bytes.size() / sizeof(T));
    if (!value.empty()) std::memcpy(value.data(), bytes.data(), value.size() * sizeof(T));
    return value;
  }
};

/// Tasks that make an Out from an In, wherever there is time. What they throw comes home in their place.
template <class In, class Out>
class tasks {
 public:
  /// A task while it is executed.
  class Task {
   public:
    /// A further task; its result goes to the owner of this one.
    Status spawn(const In& in) {
      std::string bytes;
      Travel<In>::pack(in, bytes);
      return static_cast<Status>(steelyard_task_spawn(task_, 0, kByTask, bytes.data(), bytes.size()));
    }
    void yield() { steelyard_task_yield(task_); }
    int owner() const { return task_->owner; }

   private:
    friend class tasks;
    explicit Task(steelyard_task_t* task) : task_(task) {}
    steelyard_task_t* task_;
  };
  /// A task that has thrown, or whose result is too large to travel (STEELYARD_TASK_BYTES).
  struct Failure {
    In in;
    std::string message;
  };

  /// Collective. `function` takes (const In&) or (const In&, Task&), and returns an Out; it is called by several threads at
  /// a time where options.threads says so. False where it failed: see message().
  template <class Function>
  tasks(MPI_Comm communicator, Function function, steelyard_tasks_options_t options = STEELYARD_TASKS_OPTIONS_DEFAULT)
      : threads_(options.threads) {
    if constexpr (std::is_invocable_r_v<Out, Function, const In&, Task&>) {
      function_ = std::move(function);
    } else {
      function_ = [f = std::move(function)](const In& in, Task&) { return f(in); };
    }
    const steelyard_task_type_t type = {"steelyard::tasks", &tasks::execute, this, 1};
    steelyard_tasks_create(communicator, &type, 1, &options, &pool_);
  }
  /// Collective.
  ~tasks() { steelyard_tasks_free(pool_); }
  tasks(const tasks&) = delete;
  tasks& operator=(const tasks&) = delete;
  explicit operator bool() const noexcept { return pool_ != nullptr; }
  steelyard_tasks_t* handle() const noexcept { return pool_; }

  /// A task of this process. `in` is kept until the end of the run.
  Status spawn(In in) {
    scratch_.clear();
    Travel<In>::pack(in, scratch_);
    const steelyard_status_t status = steelyard_tasks_spawn(pool_, 0, inputs_.size(), scratch_.data(), scratch_.size());
    if (status == STEELYARD_SUCCESS) inputs_.push_back(std::move(in));
    return static_cast<Status>(status);
  }

  /// Collective. `consumer(const In&, const Out&)` is called for each result; what it throws ends no run: the first exception
  /// is thrown again when the run is over. Tasks that have failed are in failures() until the next run.
  /// @param consumer called in this thread, never in the middle of a task; it may spawn tasks.
  /// @return an error in a task or a consumer of results: the run that it is called in goes on as if it had not been called.
  template <class Consumer>
  Status run(Consumer&& consumer) {
    // The library refuses this call, and says why. Nothing of the run that is going on may be touched before.
    if (running_.exchange(true)) return static_cast<Status>(steelyard_tasks_run(pool_, nullptr, nullptr));
    const Running running{running_};
    failures_.clear();
    consumer_ = [&consumer](const In& in, const Out& out) { consumer(in, out); };
    steelyard_status_t status = STEELYARD_SUCCESS;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads_) if (threads_ > 1)
    if (omp_get_thread_num() != 0) {
      steelyard_tasks_help(pool_);
    } else
#endif
    {
      status = steelyard_tasks_run(pool_, &tasks::consume, this);
    }
    inputs_.clear();
    consumer_ = nullptr;
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    return static_cast<Status>(status);
  }
  Status run() {
    return run([](const In&, const Out&) {});
  }
  const std::vector<Failure>& failures() const noexcept { return failures_; }

  steelyard_tasks_statistics_t statistics() const noexcept {
    steelyard_tasks_statistics_t all;
    steelyard_tasks_inspect(pool_, &all);
    return all;
  }

 private:
  // The owner of a task that was spawned by a task has not seen its input, which therefore comes home with the result.
  static constexpr std::uint64_t kByTask = ~std::uint64_t{0};
  struct Head {
    std::uint32_t failed, input;  // the second: bytes
  };

  // Bytes of a failure's sentence that travel: with the head and the largest input they stay below what a result may have.
  static constexpr std::size_t kSentence = 4096;
  /// While it lives, a run is going on.
  struct Running {
    std::atomic<bool>& running;
    ~Running() { running = false; }
  };

  static std::string too_large(std::size_t result, std::size_t input, bool by_task) {
    return "the result of a task has " + std::to_string(result) + " bytes" +
           (by_task ? ", its input, which travels with it, " + std::to_string(input) : std::string()) + ": at most " +
           std::to_string(std::size_t{STEELYARD_TASK_BYTES}) + " can travel; divide the task";
  }

  static int execute(steelyard_task_t* task, void* self) {
    const std::string_view input(static_cast<const char*>(task->input), task->bytes);
    const bool by_task = task->tag == kByTask;
    Head head{0, static_cast<std::uint32_t>(input.size())};
    std::string bytes;
    const auto begin = [&] {
      bytes.clear();
      if (by_task) bytes.append(reinterpret_cast<const char*>(&head), sizeof(head)).append(input);
    };
    const auto fail = [&](const char* message) {
      if (!by_task) {
        bytes.clear();
        steelyard_task_fail(task, message);
        return;
      }
      head.failed = 1;
      begin();
      bytes.append(std::string_view(message).substr(0, kSentence));
    };
    try {
      Task running(task);
      begin();
      Travel<Out>::pack(static_cast<tasks*>(self)->function_(Travel<In>::unpack(input), running), bytes);
      if (bytes.size() > STEELYARD_TASK_BYTES) {
        const std::size_t others = by_task ? sizeof(head) + input.size() : 0;
        fail(too_large(bytes.size() - others, input.size(), by_task).c_str());
      }
    } catch (const std::exception& exception) {
      fail(exception.what());
    } catch (...) {
      fail("an exception that is no std::exception");
    }
    if (!bytes.empty() && steelyard_task_result(task, bytes.data(), bytes.size()) != STEELYARD_SUCCESS) {
      steelyard_task_fail(task, steelyard_message());
    }
    return 0;
  }

  static void consume(const steelyard_result_t* result, void* self) {
    tasks& pool = *static_cast<tasks*>(self);
    try {
      std::string_view bytes(static_cast<const char*>(result->bytes), result->size);
      if (result->tag != kByTask) {
        const In& in = pool.inputs_[result->tag];
        if (result->message != nullptr) {
          pool.failures_.push_back({in, result->message});
        } else {
          pool.consumer_(in, Travel<Out>::unpack(bytes));
        }
        return;
      }
      // No memory for a result that has its task's input in it: nothing is known of the task but that it failed.
      if (result->message != nullptr) throw std::runtime_error(result->message);
      Head head;
      std::memcpy(&head, bytes.data(), sizeof(head));
      In in = Travel<In>::unpack(bytes.substr(sizeof(head), head.input));
      bytes.remove_prefix(sizeof(head) + head.input);
      if (head.failed != 0) {
        pool.failures_.push_back({std::move(in), std::string(bytes)});
      } else {
        pool.consumer_(in, Travel<Out>::unpack(bytes));
      }
    } catch (...) {
      if (!pool.thrown_) pool.thrown_ = std::current_exception();
    }
  }

  std::function<Out(const In&, Task&)> function_;
  std::function<void(const In&, const Out&)> consumer_;
  std::deque<In> inputs_;
  std::vector<Failure> failures_;
  std::exception_ptr thrown_;
  std::string scratch_;
  int threads_;
  std::atomic<bool> running_{false};
  steelyard_tasks_t* pool_ = nullptr;
};

}  // namespace steelyard
