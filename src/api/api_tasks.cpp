// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <deque>
#include <mutex>
#include <utility>

#include "api/guarded.h"
#include "api/hooks.h"
#include "base/clock.h"
#include "base/log.h"
#include "tasks/pool.h"
#include "wait/sleep.h"

// steelyard/tasks.h over src/tasks: checks arguments, turns failures into a status and a message, lets no exception
// pass.
using namespace steelyard::tasks;
using steelyard::api::Code;
using steelyard::api::invalid_argument;
using steelyard::api::invalid_state;
using steelyard::base::Status;

namespace {

template <class Call>
steelyard_status_t guarded(const char* name, const char* what, const void* handle, Call&& call) {
  return steelyard::api::guarded(name, handle == nullptr, what, std::forward<Call>(call));
}

Status check_data(const char* what, const void* data, std::size_t size) {
  if (data != nullptr || size == 0) return {};
  return invalid_argument("the {} null, with {} bytes: pass the data, or 0 bytes", what, size);
}

/// The program's own MPI, called through the functions of the transport.
class CalledTransport final : public Transport {
 public:
  explicit CalledTransport(const steelyard_task_transport_t& by) : by_(by) {}
  ~CalledTransport() override { by_.close(by_.self, clean_ ? 1 : 0); }
  int rank() const override { return by_.rank; }
  int size() const override { return by_.size; }
  int node_rank() const override { return by_.node_rank; }
  int node_size() const override { return by_.node_size; }
  int ranks_per_node() const override { return by_.ranks_per_node; }
  std::vector<std::int32_t> nodes() const override {
    return by_.nodes == nullptr ? std::vector<std::int32_t>()
                                : std::vector<std::int32_t>(by_.nodes, by_.nodes + by_.size);
  }
  void broadcast_in_node(void* bytes, std::size_t size) override { by_.broadcast(by_.self, bytes, size, 1); }
  void broadcast(void* bytes, std::size_t size) override { by_.broadcast(by_.self, bytes, size, 0); }
  bool all_agree(bool mine) override { return by_.all_agree(by_.self, mine ? 1 : 0) != 0; }
  int send(int to, const void* bytes, std::size_t size) override { return by_.send(by_.self, to, bytes, size); }
  bool sent(int slot) override { return by_.sent(by_.self, slot) != 0; }
  bool arrived(int& from, std::size_t& bytes) override { return by_.arrived(by_.self, &from, &bytes) != 0; }
  void receive(void* bytes, std::size_t size) override { by_.receive(by_.self, bytes, size); }
  void pause(std::int64_t ns) override {
    if (by_.pause != nullptr) {
      by_.pause(by_.self, ns);
    } else if (ns > 0) {
      steelyard::wait::sleep_for(ns);
    } else {
      for (int i = 0; i < 50; ++i) steelyard::wait::relax();
    }
  }
  std::int64_t now() const override { return by_.clock != nullptr ? by_.clock(by_.self) : steelyard::base::now_ns(); }
  void waits(bool begins) override { begins ? steelyard_internal_wait_begins(0) : steelyard_internal_wait_ends(); }
  bool open() const override { return by_.open(by_.self) != 0; }
  void abandon() override { clean_ = false; }
  int world_rank(int rank) const override { return world_rank_ == nullptr ? rank : world_rank_(by_.self, rank); }
  void ask_world_ranks_of(int (*asked)(void*, int)) { world_rank_ = asked; }

 private:
  int (*world_rank_)(void* self, int rank) = nullptr;
  bool clean_ = true;
  const steelyard_task_transport_t by_;
};

/// A type of tasks, and how its function is called.
struct Type : steelyard_task_type_t {
  int (*call)(steelyard_task_function_t, steelyard_task_t*, void*) = nullptr;
};
}  // namespace

struct steelyard_task_pool {
  std::vector<Type> types;
  std::deque<std::string> names;  // which `types` point into
  std::unique_ptr<Pool> pool;
  CalledTransport* transport = nullptr;  // the pool's
};

namespace {

// The pools of this process, in the order in which they were made.
std::mutex pools_mutex;
std::vector<steelyard_task_pool*> pools;

steelyard_task_pool* noted(std::unique_ptr<steelyard_task_pool> made) {
  const std::lock_guard lock(pools_mutex);
  return pools.emplace_back(made.release());
}
void forget(const steelyard_task_pool* pool) {
  const std::lock_guard lock(pools_mutex);
  std::erase(pools, pool);
}

Status to_settings(const steelyard_task_pool_options_t& options, Settings& settings) {
  if (options.policy != nullptr) settings.policy = options.policy;
  if (policy_named(settings.policy, 0) == nullptr) {
    return invalid_argument("\"{}\" is no policy of a task pool: use small-world, random, master, groups or none",
                            settings.policy);
  }
  settings.threads = options.threads;
  settings.fraction = options.steal_fraction;
  settings.degree = options.degree;
  settings.ranks_per_node = options.ranks_per_node;
  return {};
}

Status known(const Pool& pool, int type) {
  if (type >= 0 && static_cast<std::size_t>(type) < pool.functions()) return {};
  return invalid_argument("there is no task type {}: this pool has {}, counted from 0", type, pool.functions());
}

void execute(void* self, Running& running) {
  const auto* type = static_cast<const Type*>(self);
  steelyard_task_t task{running.input, running.bytes, running.tag, running.owner, static_cast<int>(running.function),
                        running.worker};
  const int status =
      type->call != nullptr ? type->call(type->function, &task, type->context) : type->function(&task, type->context);
  if (status != 0 && !running.worker->failed()) {
    running.worker->fail(fmt::format("a task of type \"{}\" ended with status {}", type->name, status));
  }
}

struct CalledConsumer {
  steelyard_task_consumer_t function;
  void* user;
  std::string message;
};

void consume(void* self, const Result& result) {
  auto& consumer = *static_cast<CalledConsumer*>(self);
  if (consumer.function == nullptr) return;
  steelyard_task_result_t shown{
      result.tag, static_cast<int>(result.function), STEELYARD_SUCCESS, result.bytes, result.size, nullptr};
  if (result.failed) {
    consumer.message.assign(result.bytes, result.size);
    shown.status = STEELYARD_ERROR_TASK_FAILED;
    shown.data = nullptr;
    shown.size = 0;
    shown.message = consumer.message.c_str();
  }
  consumer.function(&shown, consumer.user);
}

steelyard_task_pool_statistics_t to_c(const Statistics& all) {
  return {all.spawned,      all.executed, all.stolen_local,       all.stolen_remote,
          all.results_sent, all.hops,     all.messages,           all.connections,
          all.degree,       all.runs,     all.termination_rounds, all.busy_seconds,
          all.run_seconds,  all.threads};
}

Worker* worker_of(const steelyard_task_t* task) {
  return task == nullptr ? nullptr : static_cast<Worker*>(task->internal);
}

/// For the calls inside a task.
template <class Call>
steelyard_status_t guarded_task(const char* name, const steelyard_task_t* task, Call&& call) {
  return guarded(name, "task", worker_of(task), [&]() -> Status {
    Worker& worker = *worker_of(task);
    if (worker.running()) return call(worker);
    return invalid_state("{}() was called for a task that has ended: call it in the task's function", name);
  });
}

}  // namespace

extern "C" {

steelyard_status_t steelyard_task_pool_create_with_transport(const steelyard_task_transport_t* transport,
                                                             const steelyard_task_type_t* types, int count,
                                                             const steelyard_task_pool_options_t* options,
                                                             steelyard_task_pool_t** pool) {
  if (pool != nullptr) *pool = nullptr;
  return guarded("steelyard_task_pool_create", "transport", transport, [&] {
    if (transport->status != STEELYARD_SUCCESS)
      return Status::failure(static_cast<Code>(transport->status), transport->message);
    auto called = std::make_unique<CalledTransport>(*transport);
    Settings settings;
    Status good;
    if (options != nullptr) good = to_settings(*options, settings);
    if (pool == nullptr)
      good = invalid_argument("steelyard_task_pool_create() was called with a null pool: pass a pointer to one");
    if (good && (count < 1 || types == nullptr)) {
      good = invalid_argument("a task pool needs one task type or more: pass its types");
    }
    auto made = std::make_unique<steelyard_task_pool>();
    std::string names;
    for (int i = 0; good && i < count; ++i) {
      if (types[i].name == nullptr || types[i].function == nullptr) {
        good = invalid_argument("task type {} has no name or no function: give it both", i);
      } else {
        made->types.push_back({types[i]});
        made->types.back().name = made->names.emplace_back(types[i].name).c_str();
        names +=
            fmt::format("{}{}{}", i == 0 ? "" : ", ", types[i].name, types[i].has_result != 0 ? "" : " (no result)");
      }
    }
    // A rank with wrong arguments tells the others, which would wait for it otherwise.
    if (!called->all_agree(static_cast<bool>(good))) {
      return good ? Status::failure(
                        Code::peer,
                        "another rank cannot create the task pool, because of its arguments: see its message")
                  : good;
    }
    std::vector<Function> functions;
    for (Type& type : made->types) functions.push_back({execute, &type, type.has_result != 0});
    made->transport = called.get();
    good = Pool::create(std::move(called), std::move(functions), names, settings, made->pool);
    if (good) *pool = noted(std::move(made));
    return good;
  });
}

void steelyard_internal_task_pool_callbacks(steelyard_task_pool_t* pool,
                                            int (*call)(steelyard_task_function_t, steelyard_task_t*, void*),
                                            int (*world_rank)(void*, int)) {
  if (pool == nullptr) return;
  for (Type& type : pool->types) type.call = call;
  pool->transport->ask_world_ranks_of(world_rank);
  pool->pool->set_world_rank(pool->transport->world_rank(pool->pool->rank()));
}

void steelyard_internal_task_pool_use_threads(steelyard_task_pool_t* pool) {
  // Without a further thread, tasks wait for the primary thread, as they do at other thread levels.
  static_cast<void>(guarded(__func__, "pool", pool, [&] {
    pool->pool->use_message_thread();
    return Status();
  }));
}

void steelyard_internal_task_pools_finalize(void) {
  std::vector<steelyard_task_pool*> left_over;
  {
    const std::lock_guard lock(pools_mutex);
    left_over.swap(pools);
  }
  for (steelyard_task_pool* pool : left_over) {
    if (!pool->pool->open() || pool->pool->running() || pool->pool->in_task()) continue;
    // Called by the MPI library, through which no exception may pass.
    static_cast<void>(guarded(__func__, "pool", pool, [&] {
      const Status left = pool->pool->leave(true);
      if (!left) {
        steelyard::base::warn(left.sentence());
      } else if (pool->pool->rank() == 0) {
        steelyard::base::warn("MPI_Finalize was called while a task pool was not freed: free it before, on all ranks");
      }
      return Status();
    }));
  }
}

steelyard_status_t steelyard_internal_task_pool_free(steelyard_task_pool_t** handle) {
  if (handle == nullptr || *handle == nullptr) return STEELYARD_SUCCESS;
  return guarded("steelyard_task_pool_free", "pool", *handle, [&] {
    if ((*handle)->pool->running() || (*handle)->pool->in_task()) {
      return invalid_state("a task pool was freed in a task or by a consumer of results: free it after the run");
    }
    const std::unique_ptr<steelyard_task_pool> freed(std::exchange(*handle, nullptr));
    forget(freed.get());
    if (!freed->pool->open()) {
      return invalid_state("a task pool was freed after MPI_Finalize: free it before, on all ranks");
    }
    Status left = freed->pool->leave();
    const steelyard_task_pool_statistics_t statistics = to_c(freed->pool->statistics());
    steelyard_internal_tasks_ended(&statistics, freed->pool->transport_in_use());
    return left;
  });
}

steelyard_status_t steelyard_task_pool_free(steelyard_task_pool_t* pool) {
  return steelyard_internal_task_pool_free(&pool);
}

steelyard_status_t steelyard_task_pool_spawn(steelyard_task_pool_t* pool, int type, uint64_t tag, const void* data,
                                             size_t size) {
  return guarded(__func__, "pool", pool, [&] {
    if (pool->pool->in_task()) {
      return invalid_state(
          "steelyard_task_pool_spawn() was called in a task: call steelyard_task_spawn() there, "
          "whose result goes to the owner of this one");
    }
    if (Status there = known(*pool->pool, type); !there) return there;
    if (Status there = check_data("data of a task are", data, size); !there) return there;
    return pool->pool->spawn(static_cast<std::uint32_t>(type), tag, data, size);
  });
}

steelyard_status_t steelyard_task_pool_run(steelyard_task_pool_t* pool, steelyard_task_consumer_t consumer,
                                           void* user) {
  return guarded(__func__, "pool", pool, [&] {
    if (!pool->pool->open()) {
      return invalid_state("a task pool was run after MPI_Finalize: run it between MPI_Init and MPI_Finalize");
    }
    steelyard_internal_pool_runs(pool->pool->settings().threads);
    CalledConsumer called{consumer, user, {}};
    return pool->pool->run({consume, &called});
  });
}

steelyard_status_t steelyard_task_pool_help(steelyard_task_pool_t* pool) {
  return guarded(__func__, "pool", pool, [&] { return pool->pool->help(steelyard_internal_team_is_larger() != 0); });
}

steelyard_status_t steelyard_task_set_result(steelyard_task_t* task, const void* data, size_t size) {
  return guarded_task(__func__, task, [&](Worker& worker) {
    Status there = check_data("result of a task is", data, size);
    if (there) worker.set_result(data, size);
    return there;
  });
}

steelyard_status_t steelyard_task_fail(steelyard_task_t* task, const char* message) {
  return guarded_task(__func__, task, [&](Worker& worker) {
    worker.fail(message == nullptr || *message == '\0' ? "a task failed without a message" : message);
    return Status();
  });
}

steelyard_status_t steelyard_task_spawn(steelyard_task_t* task, int type, uint64_t tag, const void* data, size_t size) {
  return guarded_task(__func__, task, [&](Worker& worker) {
    if (Status there = known(worker.pool(), type); !there) return there;
    if (Status there = check_data("data of a task are", data, size); !there) return there;
    return worker.spawn(static_cast<std::uint32_t>(type), tag, task->owner, data, size);
  });
}

void steelyard_task_yield(steelyard_task_t* task) {
  static_cast<void>(guarded_task(__func__, task, [](Worker& worker) {
    worker.pool().yield(worker);
    return Status();
  }));
}

steelyard_status_t steelyard_task_pool_get_statistics(const steelyard_task_pool_t* pool,
                                                      steelyard_task_pool_statistics_t* statistics) {
  if (statistics != nullptr) *statistics = {};
  return guarded(__func__, pool == nullptr ? "pool" : "statistics",
                 pool == nullptr ? nullptr : static_cast<const void*>(statistics), [&] {
                   *statistics = to_c(pool->pool->statistics());
                   return Status();
                 });
}
}
