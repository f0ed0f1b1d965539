#ifndef STEELYARD_TASKS_H
#define STEELYARD_TASKS_H
/*
 * Tasks: work that may be done by any process finds one that is idle, and its result comes home.
 *
 * A task is a function and some bytes of input. Whoever spawns it owns it; it runs where there is time; its result, some
 * bytes again, returns to its owner, exactly once.
 *
 *     static int integrate(steelyard_task_t* task, void* context) {
 *       struct rates r = chemistry(task->input);
 *       steelyard_task_result(task, &r, sizeof(r));
 *       return 0;
 *     }
 *     static void keep(const steelyard_result_t* result, void* cells) { ... result->tag, result->bytes ... }
 *
 *     steelyard_task_type_t types[] = {{"integrate", integrate, NULL, 1}};
 *     steelyard_tasks_t* pool;
 *     steelyard_tasks_create(MPI_COMM_WORLD, types, 1, NULL, &pool);
 *     for (each time step) {
 *       for (i = 0; i < cells; ++i) steelyard_tasks_spawn(pool, 0, i, &cell[i], sizeof(cell[i]));
 *       steelyard_tasks_run(pool, keep, cell);
 *     }
 *     steelyard_tasks_free(pool);
 *
 * After TITUS_DLB: distributed work stealing on a small-world overlay, which keeps the number of processes that one talks to
 * small. docs/tasks.md says how it works, and compares the two.
 *
 * Works with and without `steelyard run`, with every MPI: what speaks MPI is compiled into the program, below. Link
 * -lsteelyard. Inside a node nothing goes through MPI. Every call returns a status (steelyard.h): where it is not
 * STEELYARD_SUCCESS, steelyard_message() says the cause and what to do.
 *
 * C99, and C++; tasks.hpp has typed tasks in C++17. Define STEELYARD_WITHOUT_MPI to leave out what needs mpi.h.
 */
#include <stddef.h>
#include <stdint.h>

#include "steelyard/steelyard.h"
#ifndef STEELYARD_WITHOUT_MPI
#include <mpi.h>
#include <stdlib.h>
#endif
#ifdef __cpp_exceptions
#include <exception>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that the input of a task may have, and its result: 1 GiB, so that every message fits MPI's counts. */
enum { STEELYARD_TASK_BYTES = 1 << 30 };

/* The tasks of all processes of a communicator. */
typedef struct steelyard_tasks steelyard_tasks_t;

/* A task while it is executed; void when its function returns. */
typedef struct steelyard_task {
  const void* input; /* aligned to 8 bytes */
  size_t bytes;      /* of the input */
  uint64_t tag;      /* as given at spawn */
  int owner;         /* rank, in the pool's communicator */
  int type;
  void* inside; /* the library's */
} steelyard_task_t;

/*
 * What a task does. It may call MPI only where MPI allows it in that thread, and must not wait for other tasks.
 *
 * Exceptions: if C++ code made the pool, what the function throws is caught, and the task fails with the exception's sentence.
 * If C or Fortran code made the pool, the function must not throw: an exception ends the process.
 *
 * @param task    the task, until the function returns
 * @param context that of its type, in the process that executes the task
 * @return 0; anything else is a failure, which the owner of the task gets as one.
 */
typedef int (*steelyard_task_function_t)(steelyard_task_t* task, void* context);

typedef struct steelyard_task_type {
  const char* name; /* the same on all ranks, for the check that they mean the same */
  steelyard_task_function_t function;
  void* context; /* handed to the function: of the process that executes it */
  int returns;   /* 1: each task has a result, if only that it is done; 0: nothing comes home, unless it fails */
} steelyard_task_type_t;

typedef struct steelyard_tasks_options {
  int threads;        /* of this process that execute tasks; see steelyard_tasks_help() */
  const char* policy; /* NULL or "small-world"; for comparison "random" (victims among all processes), "master" (all ask
                         the first node), "groups" (hierarchical sharing: in each run, nodes give one task at a time to
                         those of their group, dealt by load), "none" (nothing is stolen) */
  double fraction;    /* of a victim's tasks that a thief gets, up to 1; 0: adaptive. With groups, inside a node only */
  int degree;         /* nodes that a node may talk to, at most; 0: 4 log2(nodes). Of groups: nodes in one; 0: 28 */
  int ranks_a_node;   /* 0: as they are; n: only so many share memory, the others talk by messages. For tests. */
} steelyard_tasks_options_t;
#define STEELYARD_TASKS_OPTIONS_DEFAULT {1, NULL, 0, 0, 0}

#ifndef STEELYARD_WITHOUT_MPI
/*
 * Makes a pool. Collective over `communicator`, an intra-communicator, which is duplicated. `types` are copied, and a
 * task's type is its index there: the same types on all ranks, in the same order. Options NULL: the defaults.
 * Errors, on all ranks: other types or options than rank 0 (`threads` alone may differ), what one of them asks for cannot be
 * had, no shared memory. MPI_COMM_NULL is an error of its own rank.
 */
static inline steelyard_status_t steelyard_tasks_create(MPI_Comm communicator, const steelyard_task_type_t* types,
                                                        int count, const steelyard_tasks_options_t* options,
                                                        steelyard_tasks_t** pool);
#endif

/*
 * Frees a pool. Collective, before MPI_Finalize. Tasks that were spawned after the last run are executed, and their results
 * dropped. If a rank does not come, the others say so after 10 s, and go on waiting.
 * @param pool NULL is ignored
 * @return an error if other ranks are in a run, or if MPI_Finalize was called: the pool is freed nevertheless. Called in a task
 *         or by a consumer of results: the pool stays, to be freed after the run.
 */
STEELYARD_API steelyard_status_t steelyard_tasks_free(steelyard_tasks_t* pool);

/*
 * A task of this process's own. The input is copied; any number of bytes up to 2^30, another for each task. To be called by
 * the thread that made the pool: before a run, or by a consumer of results in one. Idle processes that are in the run
 * already may execute it at once.
 * Errors: unknown type, input too large, no memory, called in a task (see steelyard_task_spawn()). Then there is no such task.
 */
STEELYARD_API steelyard_status_t steelyard_tasks_spawn(steelyard_tasks_t* pool, int type, uint64_t tag,
                                                       const void* input, size_t bytes);

/* The result of a task of this process. What it points to is void after the consumer has returned. */
typedef struct steelyard_result {
  uint64_t tag; /* of its task */
  int type;
  const void* bytes; /* aligned to 8 bytes */
  size_t size;
  const char* message; /* NULL: it went well. Otherwise why it failed; there are no bytes then */
} steelyard_result_t;
/* Takes a result. It must not throw: an exception ends the process. (tasks.hpp catches what its consumers throw.) */
typedef void (*steelyard_result_function_t)(const steelyard_result_t* result, void* user);

/*
 * Executes tasks, until none is left in any process and all results are home. Collective: all ranks, equally often, with
 * tasks of their own or without. If a rank does not come, the idle ranks of all nodes write a line that names it after 10 s, and
 * go on waiting.
 * @param consumer gets each result as it comes, in this thread, never in the middle of a task; it may spawn tasks. NULL: results
 *                 are dropped.
 * @param user     handed to the consumer
 * @return an error in a run, which goes on as if this call had not been made; after MPI_Finalize; or if a rank has freed the pool
 *         or called MPI_Finalize, whose sentence names that rank
 */
STEELYARD_API steelyard_status_t steelyard_tasks_run(steelyard_tasks_t* pool, steelyard_result_function_t consumer,
                                                     void* user);
/*
 * Executes tasks in a further thread, until the run is over. Where options.threads is more than one, each run consists of one
 * call of steelyard_tasks_run, by the thread that made the pool, and up to threads - 1 calls of this, by others. A run does not
 * wait for those who do not come; who comes when it is over returns at once:
 *
 *     #pragma omp parallel num_threads(options.threads)
 *     if (omp_get_thread_num() == 0) steelyard_tasks_run(pool, keep, cells);
 *     else steelyard_tasks_help(pool);
 */
STEELYARD_API steelyard_status_t steelyard_tasks_help(steelyard_tasks_t* pool);

/* ------------------------------------------------------------------------------------------------ inside of a task -- */
/* To be called in the task's function, with its steelyard_task_t: afterwards they return an error. */

/* Its result: copied; the last one counts. None at all is one of 0 bytes. */
STEELYARD_API steelyard_status_t steelyard_task_result(steelyard_task_t* task, const void* bytes, size_t size);
/* It fails, with this sentence. */
STEELYARD_API steelyard_status_t steelyard_task_fail(steelyard_task_t* task, const char* sentence);
/* A further task, whose result goes to the owner of this one. Errors as with steelyard_tasks_spawn(). */
STEELYARD_API steelyard_status_t steelyard_task_spawn(steelyard_task_t* task, int type, uint64_t tag, const void* input,
                                                      size_t bytes);
/* To be called now and then by tasks of more than a few milliseconds: other nodes are served in between. Not needed inside of
 * a node. */
STEELYARD_API void steelyard_task_yield(steelyard_task_t* task);

/* ------------------------------------------------------------------------------------------------ what it did ------- */

/* Of this process, since the pool was made. */
typedef struct steelyard_tasks_statistics {
  uint64_t spawned, executed;
  uint64_t stolen_here;  /* tasks that it took from others of its node */
  uint64_t stolen_far;   /* from other nodes */
  uint64_t results_sent; /* to other processes */
  uint64_t hops;         /* the transfers that these took */
  uint64_t messages;     /* to other nodes */
  int connections;       /* processes of other nodes that it has talked to; with groups, all that rank 0 has told */
  int degree;            /* those that it may talk to */
  uint64_t runs, waves;  /* waves: rounds of looking whether all is over */
  double busy;           /* s in tasks, over all threads */
  double inside;         /* s in steelyard_tasks_run() */
  int threads;           /* of this process that execute tasks */
} steelyard_tasks_statistics_t;
STEELYARD_API steelyard_status_t steelyard_tasks_inspect(const steelyard_tasks_t* pool,
                                                         steelyard_tasks_statistics_t* statistics);

/* ------------------------------------------------------------------------------------------------ for other languages */

/*
 * How the processes speak with each other, for those who have no mpi.h: each function gets `self`. A simulator maps `pause`
 * and `clock` to its own time; where they are NULL, the system's are taken.
 */
typedef struct steelyard_mail {
  void* self;
  int rank, size;
  int node_rank, node_size; /* among those that share memory */
  int ranks_a_node;         /* of the first node */
  const int*
      nodes; /* by rank, its node, by lowest rank; NULL where nodes have `ranks_a_node` consecutive ranks each, the
                         last one maybe fewer */
  const char* problem; /* why there is nobody to speak with: becomes the error of the call. Else NULL */
  void (*broadcast)(void* self, void* bytes, size_t size, int in_node); /* collective: those of rank 0 to all */
  int (*all_agree)(void* self, int mine);                               /* collective: 1 where all say 1 */
  int (*send)(void* self, int to, const void* bytes, size_t size);      /* begins; a slot, or -1: all are in use */
  int (*sent)(void* self, int slot);                                    /* 1: the slot is free again */
  int (*arrived)(void* self, int* from, size_t* bytes);                 /* 1: there is a message, to be received next */
  void (*receive)(void* self, void* bytes, size_t size);
  void (*pause)(void* self, int64_t ns); /* 0: for what comes at once */
  int64_t (*clock)(void* self);          /* ns */
  int (*open)(void* self);               /* 1: messages can still be sent */
  void (*close)(void* self, int clean);  /* the last call. 0: messages may still be under way */
} steelyard_mail_t;
/* `mail` is copied, and closed by steelyard_tasks_free(), or at once where this fails. */
STEELYARD_API steelyard_status_t steelyard_tasks_create_by(const steelyard_mail_t* mail,
                                                           const steelyard_task_type_t* types, int count,
                                                           const steelyard_tasks_options_t* options,
                                                           steelyard_tasks_t** pool);

/*
 * For steelyard_tasks_create() alone: what only the program can do, since the library knows neither its MPI nor its exceptions.
 * @param pool       one that was just made; NULL is ignored
 * @param call       calls the function of a task and catches what it throws; NULL: it is called directly
 * @param world_rank the rank in MPI_COMM_WORLD of a rank of the pool, for messages; gets the mail's `self`. NULL: as it is
 */
STEELYARD_API void steelyard_internal_tasks_callbacks(steelyard_tasks_t* pool,
                                                      int (*call)(steelyard_task_function_t function,
                                                                  steelyard_task_t* task, void* context),
                                                      int (*world_rank)(void* self, int rank));

/*
 * Leaves all pools that this process has not freed, and warns of it: other ranks may be in a run. Their tasks that were not
 * executed are dropped. Collective as steelyard_tasks_free() is. For the moment when MPI ends: steelyard_tasks_create() has it
 * called by MPI_Finalize.
 */
STEELYARD_API void steelyard_tasks_finalize_all(void);

/* steelyard_tasks_free(), after which *pool is NULL, unless it was refused and the pool is there yet. */
STEELYARD_API steelyard_status_t steelyard_tasks_free_handle(steelyard_tasks_t** pool);

#ifndef STEELYARD_WITHOUT_MPI

enum { steelyard_mpi_slots = 64 };
typedef struct steelyard_mpi_mail {
  MPI_Comm all, here;
  MPI_Message message;
  MPI_Request sends[steelyard_mpi_slots]; /* MPI_REQUEST_NULL: free */
  int* nodes;
} steelyard_mpi_mail_t;

static inline void steelyard_mpi_mail_broadcast(void* self, void* bytes, size_t size, int in_node) {
  steelyard_mpi_mail_t* mail = (steelyard_mpi_mail_t*)self;
  MPI_Bcast(bytes, (int)size, MPI_BYTE, 0, in_node ? mail->here : mail->all);
}
static inline int steelyard_mpi_mail_all_agree(void* self, int mine) {
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, ((steelyard_mpi_mail_t*)self)->all);
  return all;
}
static inline int steelyard_mpi_mail_send(void* self, int to, const void* bytes, size_t size) {
  steelyard_mpi_mail_t* mail = (steelyard_mpi_mail_t*)self;
  int slot;
  for (slot = 0; slot < steelyard_mpi_slots; ++slot) {
    if (mail->sends[slot] != MPI_REQUEST_NULL) continue;
    MPI_Isend(bytes, (int)size, MPI_BYTE, to, 0, mail->all, &mail->sends[slot]);
    return slot;
  }
  return -1;
}
static inline int steelyard_mpi_mail_sent(void* self, int slot) {
  int done = 0;
  MPI_Test(&((steelyard_mpi_mail_t*)self)->sends[slot], &done, MPI_STATUS_IGNORE);
  return done;
}
static inline int steelyard_mpi_mail_arrived(void* self, int* from, size_t* bytes) {
  steelyard_mpi_mail_t* mail = (steelyard_mpi_mail_t*)self;
  MPI_Status status;
  int there = 0, count = 0;
  MPI_Improbe(MPI_ANY_SOURCE, 0, mail->all, &there, &mail->message, &status);
  if (!there) return 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  *from = status.MPI_SOURCE;
  *bytes = (size_t)count;
  return 1;
}
static inline void steelyard_mpi_mail_receive(void* self, void* bytes, size_t size) {
  MPI_Mrecv(bytes, (int)size, MPI_BYTE, &((steelyard_mpi_mail_t*)self)->message, MPI_STATUS_IGNORE);
}
static inline int steelyard_mpi_mail_open(void* self) {
  int finalized = 0;
  (void)self;
  MPI_Finalized(&finalized);
  return !finalized;
}
/* A communicator that is freed is soon used again under another handle, which then gets what is still under way. */
static inline void steelyard_mpi_mail_close(void* self, int clean) {
  steelyard_mpi_mail_t* mail = (steelyard_mpi_mail_t*)self;
  if (clean && steelyard_mpi_mail_open(self)) {
    MPI_Comm_free(&mail->here);
    MPI_Comm_free(&mail->all);
  }
  free(mail->nodes);
  free(mail);
}
/* Why nobody can be spoken with there: at all of its ranks, or at one that the others do not wait for. */
static inline const char* steelyard_mpi_mail_unusable(MPI_Comm communicator) {
  int initialized = 0, finalized = 0, inter = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (!initialized || finalized) return "a task pool needs MPI: make it between MPI_Init and MPI_Finalize";
  if (communicator == MPI_COMM_NULL)
    return "a task pool cannot be made of MPI_COMM_NULL: pass a communicator that this process is in";
  MPI_Comm_test_inter(communicator, &inter);
  if (inter)
    return "a task pool cannot be made of an inter-communicator: pass an intra-communicator (MPI_Intercomm_merge)";
  return NULL;
}
/* What may be wrong at one rank alone. */
static inline const char* steelyard_mpi_mail_problem(const void* self, int threads) {
  int level = 0;
  if (self == NULL) return "no memory for a task pool: free some";
  MPI_Query_thread(&level);
  if (threads > 1 && level < MPI_THREAD_FUNNELED)
    return "a task pool of several threads a process needs MPI_Init_thread with MPI_THREAD_FUNNELED or more";
  return NULL;
}
/* Which ranks share memory, and how they are numbered. */
static inline void steelyard_mpi_mail_places(steelyard_mpi_mail_t* self, int ranks_a_node, steelyard_mail_t* mail) {
  MPI_Comm whole, leaders;
  int node = 0, regular, local;
  MPI_Comm_split_type(self->all, MPI_COMM_TYPE_SHARED, mail->rank, MPI_INFO_NULL, &whole);
  MPI_Comm_rank(whole, &local);
  MPI_Comm_split(whole, ranks_a_node > 0 ? local / ranks_a_node : 0, mail->rank, &self->here);
  MPI_Comm_free(&whole);
  MPI_Comm_rank(self->here, &mail->node_rank);
  MPI_Comm_size(self->here, &mail->node_size);
  MPI_Comm_split(self->all, mail->node_rank == 0 ? 0 : MPI_UNDEFINED, mail->rank, &leaders);
  if (leaders != MPI_COMM_NULL) {
    MPI_Comm_rank(leaders, &node);
    MPI_Comm_free(&leaders);
  }
  MPI_Bcast(&node, 1, MPI_INT, 0, self->here);
  mail->ranks_a_node = mail->node_size;
  MPI_Bcast(&mail->ranks_a_node, 1, MPI_INT, 0, self->all);
  {
    const int left = mail->size - node * mail->ranks_a_node;
    regular = mail->rank == node * mail->ranks_a_node + mail->node_rank &&
              mail->node_size == (left < mail->ranks_a_node ? left : mail->ranks_a_node);
  }
  if (steelyard_mpi_mail_all_agree(self, regular)) return;
  self->nodes = (int*)malloc(sizeof(int) * (size_t)mail->size);
  MPI_Allgather(&node, 1, MPI_INT, self->nodes, 1, MPI_INT, self->all);
  mail->nodes = self->nodes;
}

/* Compiled into the program: libsteelyard has a C++ runtime of its own, which cannot catch what the program throws. */
#ifdef __cpp_exceptions
static inline int steelyard_mpi_call(steelyard_task_function_t function, steelyard_task_t* task, void* context) {
  try {
    return function(task, context);
  } catch (const std::exception& exception) {
    steelyard_task_fail(task, exception.what());
  } catch (...) {
    steelyard_task_fail(task, "an exception that is no std::exception");
  }
  return 0;
}
#define STEELYARD_MPI_CALL steelyard_mpi_call
#else
#define STEELYARD_MPI_CALL NULL
#endif
static inline int steelyard_mpi_mail_ends(MPI_Comm self, int key, void* value, void* state) {
  (void)self, (void)key, (void)value, (void)state;
  steelyard_tasks_finalize_all();
  return MPI_SUCCESS;
}
/* The first that MPI_Finalize does is to delete the attributes of MPI_COMM_SELF. */
static inline void steelyard_mpi_mail_watch_the_end(void) {
  static int key = MPI_KEYVAL_INVALID;
  if (key != MPI_KEYVAL_INVALID) return;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, steelyard_mpi_mail_ends, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}
static inline int steelyard_mpi_mail_world_rank(void* self, int rank) {
  MPI_Group here, world;
  int found = rank;
  MPI_Comm_group(((steelyard_mpi_mail_t*)self)->all, &here);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(here, 1, &rank, world, &found);
  MPI_Group_free(&here);
  MPI_Group_free(&world);
  return found == MPI_UNDEFINED ? rank : found;
}

static inline steelyard_status_t steelyard_tasks_create(MPI_Comm communicator, const steelyard_task_type_t* types,
                                                        int count, const steelyard_tasks_options_t* options,
                                                        steelyard_tasks_t** pool) {
  steelyard_status_t status;
  steelyard_mail_t mail = {NULL,
                           0,
                           1,
                           0,
                           1,
                           1,
                           NULL,
                           NULL,
                           steelyard_mpi_mail_broadcast,
                           steelyard_mpi_mail_all_agree,
                           steelyard_mpi_mail_send,
                           steelyard_mpi_mail_sent,
                           steelyard_mpi_mail_arrived,
                           steelyard_mpi_mail_receive,
                           NULL,
                           NULL,
                           steelyard_mpi_mail_open,
                           steelyard_mpi_mail_close};
  mail.problem = steelyard_mpi_mail_unusable(communicator);
  if (mail.problem == NULL) {
    steelyard_mpi_mail_t* self = (steelyard_mpi_mail_t*)malloc(sizeof(steelyard_mpi_mail_t));
    int slot, good, all;
    mail.problem = steelyard_mpi_mail_problem(self, options == NULL ? 1 : options->threads);
    /* Whoever is refused tells the others, who would wait for it otherwise. */
    good = mail.problem == NULL;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, communicator);
    if (!all) {
      if (good) mail.problem = "another rank was refused the task pool, by its threads or its memory: see its message";
      free(self);
    } else {
      steelyard_mpi_mail_watch_the_end();
      for (slot = 0; slot < steelyard_mpi_slots; ++slot) self->sends[slot] = MPI_REQUEST_NULL;
      self->message = MPI_MESSAGE_NULL;
      self->nodes = NULL;
      MPI_Comm_dup(communicator, &self->all);
      MPI_Comm_rank(self->all, &mail.rank);
      MPI_Comm_size(self->all, &mail.size);
      steelyard_mpi_mail_places(self, options == NULL ? 0 : options->ranks_a_node, &mail);
      mail.self = self;
    }
  }
  status = steelyard_tasks_create_by(&mail, types, count, options, pool);
  if (status == STEELYARD_SUCCESS)
    steelyard_internal_tasks_callbacks(*pool, STEELYARD_MPI_CALL, steelyard_mpi_mail_world_rank);
  return status;
}
#undef STEELYARD_MPI_CALL

#endif

#ifdef __cplusplus
}
#endif
#endif
