#include <fmt/format.h>

#include <deque>
#include <exception>
#include <mutex>
#include <utility>

#include "api/hooks.h"
#include "api/message.h"
#include "base/clock.h"
#include "base/log.h"
#include "node/sleep.h"
#include "tasks/pool.h"

// steelyard/tasks.h over src/tasks: checks what comes in, turns failures into sentences, keeps exceptions in.
using namespace steelyard::tasks;
using steelyard::base::Status;

namespace {

steelyard_status_t refuse(std::string_view sentence) {
  steelyard::api::set_message(sentence);
  return STEELYARD_ERROR;
}

template <class Call>
steelyard_status_t guarded(const char* name, const char* what, const void* handle, Call&& call) try {
  if (handle == nullptr) return refuse(fmt::format("{}() was called with a null {}: pass one", name, what));
  const Status status = call();
  return status ? STEELYARD_SUCCESS : refuse(status.sentence());
} catch (const std::exception& exception) {
  return refuse(fmt::format("{}() failed: {}", name, exception.what()));
}

Status bytes_there(const char* what, const void* bytes, std::size_t size) {
  if (bytes != nullptr || size == 0) return {};
  return Status::failure(
      fmt::format("the {} of a task is null, with {} bytes: pass where it is, or 0 bytes", what, size));
}

/// The program's own MPI, asked through the functions that it brought.
class CalledMail final : public Mail {
 public:
  explicit CalledMail(const steelyard_mail_t& by) : by_(by) {}
  ~CalledMail() override { by_.close(by_.self, clean_ ? 1 : 0); }
  int rank() const override { return by_.rank; }
  int size() const override { return by_.size; }
  int node_rank() const override { return by_.node_rank; }
  int node_size() const override { return by_.node_size; }
  int ranks_a_node() const override { return by_.ranks_a_node; }
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
      steelyard::node::sleep_for(ns);
    } else {
      for (int i = 0; i < 50; ++i) steelyard::node::relax();
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
  const steelyard_mail_t by_;
};

/// A type of tasks, and how its function is called.
struct Type : steelyard_task_type_t {
  int (*call)(steelyard_task_function_t, steelyard_task_t*, void*) = nullptr;
};
}  // namespace

struct steelyard_tasks {
  std::vector<Type> types;
  std::deque<std::string> names;  // which `types` point into
  std::unique_ptr<Pool> pool;
  CalledMail* mail = nullptr;  // the pool's
};

namespace {

// The pools of this process, in the order in which they were made.
std::mutex pools_mutex;
std::vector<steelyard_tasks*> pools;

steelyard_tasks* noted(std::unique_ptr<steelyard_tasks> made) {
  const std::lock_guard lock(pools_mutex);
  return pools.emplace_back(made.release());
}
void forget(const steelyard_tasks* pool) {
  const std::lock_guard lock(pools_mutex);
  std::erase(pools, pool);
}

Status to_settings(const steelyard_tasks_options_t& options, Settings& settings) {
  const std::string_view policy = options.policy == nullptr ? "small-world" : options.policy;
  if (policy == "random") {
    settings.shape = Overlay::Shape::complete;
  } else if (policy == "master") {
    settings.shape = Overlay::Shape::star;
  } else if (policy == "groups") {
    settings.shape = Overlay::Shape::complete;
    settings.group = options.degree > 0 ? options.degree : kGroup;
  } else if (policy == "none") {
    settings.stealing = false;
  } else if (policy != "small-world") {
    return Status::failure(
        fmt::format("\"{}\" is no policy of a task pool: use small-world, random, master, groups or none", policy));
  }
  settings.threads = options.threads;
  settings.fraction = options.fraction;
  settings.degree = options.degree;
  settings.ranks_a_node = options.ranks_a_node;
  return {};
}

Status known(const Pool& pool, int type) {
  if (type >= 0 && static_cast<std::size_t>(type) < pool.functions()) return {};
  return Status::failure(
      fmt::format("there is no task type {}: this pool has {}, counted from 0", type, pool.functions()));
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
  steelyard_result_function_t function;
  void* user;
  std::string message;
};

void consume(void* self, const Result& result) {
  auto& consumer = *static_cast<CalledConsumer*>(self);
  if (consumer.function == nullptr) return;
  steelyard_result_t shown{result.tag, static_cast<int>(result.function), result.bytes, result.size, nullptr};
  if (result.failed) {
    consumer.message.assign(result.bytes, result.size);
    shown.bytes = nullptr;
    shown.size = 0;
    shown.message = consumer.message.c_str();
  }
  consumer.function(&shown, consumer.user);
}

steelyard_tasks_statistics_t to_c(const Statistics& all) {
  return {all.spawned,     all.executed, all.stolen_here, all.stolen_far, all.results_sent, all.hops,   all.messages,
          all.connections, all.degree,   all.runs,        all.waves,      all.busy,         all.inside, all.threads};
}

Worker* inside(const steelyard_task_t* task) { return task == nullptr ? nullptr : static_cast<Worker*>(task->inside); }

/// For the calls inside of a task.
template <class Call>
steelyard_status_t guarded_task(const char* name, const steelyard_task_t* task, Call&& call) {
  return guarded(name, "task", inside(task), [&]() -> Status {
    Worker& worker = *inside(task);
    if (worker.running()) return call(worker);
    return Status::failure(
        fmt::format("{}() was called for a task that has ended: call it in the task's function", name));
  });
}

}  // namespace

extern "C" {

steelyard_status_t steelyard_tasks_create_by(const steelyard_mail_t* mail, const steelyard_task_type_t* types,
                                             int count, const steelyard_tasks_options_t* options,
                                             steelyard_tasks_t** pool) {
  if (pool != nullptr) *pool = nullptr;
  return guarded("steelyard_tasks_create", "steelyard_mail_t", mail, [&] {
    if (mail->problem != nullptr) return Status::failure(mail->problem);
    auto called = std::make_unique<CalledMail>(*mail);
    Settings settings;
    Status good;
    if (options != nullptr) good = to_settings(*options, settings);
    if (pool == nullptr)
      good = Status::failure("steelyard_tasks_create() has no place for the pool: pass a pointer to it");
    if (good && (count < 1 || types == nullptr)) {
      good = Status::failure("a task pool needs one type of task or more: pass what its tasks do");
    }
    auto made = std::make_unique<steelyard_tasks>();
    std::string names;
    for (int i = 0; good && i < count; ++i) {
      if (types[i].name == nullptr || types[i].function == nullptr) {
        good = Status::failure(fmt::format("task type {} has no name or no function: give it both", i));
      } else {
        made->types.push_back({types[i]});
        made->types.back().name = made->names.emplace_back(types[i].name).c_str();
        names += fmt::format("{}{}{}", i == 0 ? "" : ", ", types[i].name, types[i].returns != 0 ? "" : " (no result)");
      }
    }
    // Whoever is wrong tells the others, who would wait for it otherwise.
    if (!called->all_agree(static_cast<bool>(good))) {
      return good ? Status::failure("another rank was refused the task pool, by what it passes: see its message")
                  : good;
    }
    std::vector<Function> functions;
    for (Type& type : made->types) functions.push_back({execute, &type, type.returns != 0});
    made->mail = called.get();
    good = Pool::create(std::move(called), std::move(functions), names, settings, made->pool);
    if (good) *pool = noted(std::move(made));
    return good;
  });
}

void steelyard_internal_tasks_callbacks(steelyard_tasks_t* pool,
                                        int (*call)(steelyard_task_function_t, steelyard_task_t*, void*),
                                        int (*world_rank)(void*, int)) {
  if (pool == nullptr) return;
  for (Type& type : pool->types) type.call = call;
  pool->mail->ask_world_ranks_of(world_rank);
  pool->pool->set_world_rank(pool->mail->world_rank(pool->pool->rank()));
}

void steelyard_tasks_finalize_all(void) {
  std::vector<steelyard_tasks*> left_over;
  {
    const std::lock_guard lock(pools_mutex);
    left_over.swap(pools);
  }
  for (steelyard_tasks* pool : left_over) {
    if (!pool->pool->open() || pool->pool->running() || pool->pool->in_task()) continue;
    const Status left = pool->pool->leave(true);
    if (!left) {
      steelyard::base::warn(left.sentence());
    } else if (pool->pool->rank() == 0) {
      steelyard::base::warn("MPI_Finalize was called while a task pool was not freed: free it before, on all ranks");
    }
  }
}

steelyard_status_t steelyard_tasks_free_handle(steelyard_tasks_t** handle) {
  if (handle == nullptr || *handle == nullptr) return STEELYARD_SUCCESS;
  return guarded("steelyard_tasks_free", "pool", *handle, [&] {
    if ((*handle)->pool->running() || (*handle)->pool->in_task()) {
      return Status::failure("a task pool was freed in a task or by a consumer of results: free it after the run");
    }
    const std::unique_ptr<steelyard_tasks> freed(std::exchange(*handle, nullptr));
    forget(freed.get());
    if (!freed->pool->open()) {
      return Status::failure("a task pool was freed after MPI_Finalize: free it before, on all ranks");
    }
    Status left = freed->pool->leave();
    const steelyard_tasks_statistics_t statistics = to_c(freed->pool->statistics());
    steelyard_internal_tasks_ended(&statistics);
    return left;
  });
}

steelyard_status_t steelyard_tasks_free(steelyard_tasks_t* pool) { return steelyard_tasks_free_handle(&pool); }

steelyard_status_t steelyard_tasks_spawn(steelyard_tasks_t* pool, int type, uint64_t tag, const void* input,
                                         size_t bytes) {
  return guarded(__func__, "pool", pool, [&] {
    if (pool->pool->in_task()) {
      return Status::failure(
          "steelyard_tasks_spawn() was called in a task: call steelyard_task_spawn() there, whose result goes to the "
          "owner of this one");
    }
    if (Status there = known(*pool->pool, type); !there) return there;
    if (Status there = bytes_there("input", input, bytes); !there) return there;
    return pool->pool->spawn(static_cast<std::uint32_t>(type), tag, input, bytes);
  });
}

steelyard_status_t steelyard_tasks_run(steelyard_tasks_t* pool, steelyard_result_function_t consumer, void* user) {
  return guarded(__func__, "pool", pool, [&] {
    if (!pool->pool->open()) {
      return Status::failure("a task pool was run after MPI_Finalize: run it between MPI_Init and MPI_Finalize");
    }
    CalledConsumer called{consumer, user, {}};
    return pool->pool->run({consume, &called});
  });
}

steelyard_status_t steelyard_tasks_help(steelyard_tasks_t* pool) {
  return guarded(__func__, "pool", pool, [&] { return pool->pool->help(); });
}

steelyard_status_t steelyard_task_result(steelyard_task_t* task, const void* bytes, size_t size) {
  return guarded_task(__func__, task, [&](Worker& worker) {
    Status there = bytes_there("result", bytes, size);
    if (there) worker.set_result(bytes, size);
    return there;
  });
}

steelyard_status_t steelyard_task_fail(steelyard_task_t* task, const char* sentence) {
  return guarded_task(__func__, task, [&](Worker& worker) {
    worker.fail(sentence == nullptr || *sentence == '\0' ? "a task failed and did not say why" : sentence);
    return Status();
  });
}

steelyard_status_t steelyard_task_spawn(steelyard_task_t* task, int type, uint64_t tag, const void* input,
                                        size_t bytes) {
  return guarded_task(__func__, task, [&](Worker& worker) {
    if (Status there = known(worker.pool(), type); !there) return there;
    if (Status there = bytes_there("input", input, bytes); !there) return there;
    return worker.spawn(static_cast<std::uint32_t>(type), tag, task->owner, input, bytes);
  });
}

void steelyard_task_yield(steelyard_task_t* task) {
  static_cast<void>(guarded_task(__func__, task, [](Worker& worker) {
    worker.pool().yield(worker);
    return Status();
  }));
}

steelyard_status_t steelyard_tasks_inspect(const steelyard_tasks_t* pool, steelyard_tasks_statistics_t* statistics) {
  if (statistics != nullptr) *statistics = {};
  return guarded(__func__, pool == nullptr ? "pool" : "place for the statistics",
                 pool == nullptr ? nullptr : static_cast<const void*>(statistics), [&] {
                   *statistics = to_c(pool->pool->statistics());
                   return Status();
                 });
}
}
