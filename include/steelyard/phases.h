#ifndef STEELYARD_PHASES_H
#define STEELYARD_PHASES_H
/*
 * Phases: coupled libraries with different threading share a node.
 *
 * A program whose one part runs best with a process on each core, and the other with few processes of many threads, need not
 * leave cores idle in either. It starts a process on each core. Where the threaded part begins, some processes are chosen,
 * are bound to more cores and work there with threads; the others sleep and use no CPU until that part is over:
 *
 *     steelyard_node_t* node;
 *     steelyard_phase_t* wide;
 *     steelyard_node_create(MPI_COMM_WORLD, &node);
 *     steelyard_phase_create(node, STEELYARD_NUMA, 1, &wide);    // one process a NUMA domain, with all its cores
 *     ...
 *     int chosen;
 *     steelyard_phase_enter(wide, &chosen);
 *     if (chosen) threaded_library();
 *     steelyard_phase_leave(wide);
 *
 * After Gutierrez et al., "Accommodating Thread-Level Heterogeneity in Coupled Parallel Applications" (IPDPS 2017), whose
 * library is QUO. docs/phases.md compares the two.
 *
 * Works with and without `steelyard run`, with every MPI: the one call that speaks MPI is compiled into the program, below.
 * Link -lsteelyard. With HWLOC_SYNTHETIC the machine is the one that is described there; bindings are noted, not done.
 *
 * Collective calls are made by all processes of the node that share the handle, in the same order. They are marked so; all
 * others are local. Nothing here is thread-safe: a process calls from the thread whose parallel regions follow, outside of
 * them. Processes that wait sleep. If a process that is waited for has died, the others say so within a second or two and end
 * the program by MPI_Abort. If it does not come, they say so after 10 s, and go on waiting. If it makes another collective call
 * than the others, the call fails at all of them, at once; where some have returned from steelyard_phase_enter() already, their
 * steelyard_phase_leave() fails. If it has called MPI_Finalize, the call fails at the others.
 *
 * Every call returns a status (steelyard.h): where it is not STEELYARD_SUCCESS, steelyard_message() says the cause and what
 * to do, and what would have been returned through pointers is zero. A call with a null handle is such an error.
 *
 * C99, and C++; phases.hpp has the same in C++17, fortran/steelyard_phases.f90 in Fortran. Include mpi.h's own
 * settings first, if there are any. Define STEELYARD_WITHOUT_MPI to leave out what needs mpi.h.
 */
#include <stddef.h>
#include <stdint.h>

#include "steelyard/steelyard.h"
#ifndef STEELYARD_WITHOUT_MPI
#include <mpi.h>
#include <string.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The processes of one node that share a communicator. Any number may exist, of one library or many. */
typedef struct steelyard_node steelyard_node_t;
/* A part of the program that runs with fewer processes and more threads. It keeps what it needs of its node. */
typedef struct steelyard_phase steelyard_phase_t;

/* What a machine is made of. Where it has no such thing (no L3 cache, say), the next above it in this list is taken, and a
 * warning says so, once. */
typedef enum steelyard_resource {
  STEELYARD_MACHINE = 0,
  STEELYARD_PACKAGE = 1, /* or socket */
  STEELYARD_NUMA = 2,
  STEELYARD_L3 = 3,
  STEELYARD_CORE = 4,
  STEELYARD_PU = 5 /* a hardware thread: what the kernel calls a CPU */
} steelyard_resource_t;

/* A set of CPUs, by the kernel's numbers: bit n % 64 of word n / 64. {{0}} is the empty one. */
typedef struct steelyard_cpus {
  uint64_t words[64];
} steelyard_cpus_t;

/* "0-3,8" into `text` of `room` bytes, cut where it is longer. */
STEELYARD_API void steelyard_cpus_text(const steelyard_cpus_t* cpus, char* text, size_t room);

/* ------------------------------------------------------------------------------------------------ contexts ---------- */

#ifndef STEELYARD_WITHOUT_MPI
/*
 * Makes a context of the processes of this node that are in `communicator`. Collective over the communicator, which must be
 * an intra-communicator; messages: one split of the communicator by nodes, then two small operations inside each node. While
 * those wait they let others run: where there are more ranks than cores, a library that polls takes much longer. Free it with
 * steelyard_node_free(). The communicator is not kept, and may be freed.
 */
static inline steelyard_status_t steelyard_node_create(MPI_Comm communicator, steelyard_node_t** node);

/*
 * Splits `communicator` into those who work at the same resource now (steelyard_node_closest()). Collective over the
 * communicator. `part` is the caller's to free.
 */
static inline steelyard_status_t steelyard_node_split(const steelyard_node_t* node, MPI_Comm communicator,
                                                      steelyard_resource_t resource, MPI_Comm* part);
#endif

/* Frees it; NULL is let pass. Local, at any time: before its phases or after, before MPI_Finalize or after. What it has
 * pushed and not popped is popped. */
STEELYARD_API void steelyard_node_free(steelyard_node_t* node);

/* Processes of this node in the context, and which of them this one is, from 0. Others are named by this number, too. */
STEELYARD_API int steelyard_node_size(const steelyard_node_t* node);
STEELYARD_API int steelyard_node_rank(const steelyard_node_t* node);

/* ------------------------------------------------------------------------------------------------ queries ----------- */

/* How many there are on this node; 0 where the machine knows no such thing. */
STEELYARD_API steelyard_status_t steelyard_node_count(const steelyard_node_t* node, steelyard_resource_t resource,
                                                      int* count);
/* How many of `inner` are in the `index`-th `outer`, from 0: cores of a package, say. */
STEELYARD_API steelyard_status_t steelyard_node_count_in(const steelyard_node_t* node, steelyard_resource_t outer,
                                                         int index, steelyard_resource_t inner, int* count);
/* The CPUs of one. */
STEELYARD_API steelyard_status_t steelyard_node_cpus_in(const steelyard_node_t* node, steelyard_resource_t resource,
                                                        int index, steelyard_cpus_t* cpus);
/* The processes that were bound within one when the context was made: their number, and the first `room` of them. */
STEELYARD_API steelyard_status_t steelyard_node_processes_in(const steelyard_node_t* node,
                                                             steelyard_resource_t resource, int index, int* processes,
                                                             int room, int* count);
/* The one that holds most of what this process is bound to now. */
STEELYARD_API steelyard_status_t steelyard_node_closest(const steelyard_node_t* node, steelyard_resource_t resource,
                                                        int* index);

/* A process of the node, this one or another. */
typedef struct steelyard_process {
  int rank; /* in the communicator */
  int pid;
  int bound;             /* 1 where `home` leaves out a CPU of the machine */
  steelyard_cpus_t home; /* its mask when the context was made */
  steelyard_cpus_t now;  /* its mask now, as the kernel says */
} steelyard_process_t;
STEELYARD_API steelyard_status_t steelyard_node_process(const steelyard_node_t* node, int process,
                                                        steelyard_process_t* found);

/* What this node is. */
typedef struct steelyard_machine {
  int threads_per_core; /* hardware threads that a core has, at most */
  int kinds;            /* of cores; 1 where they are alike */
  int emulated;         /* 1: synthetic; bindings are noted, not done */
  double quota;         /* CPUs that the cgroup allows at a time; 0 where it sets no limit */
  steelyard_cpus_t all; /* CPUs that the cgroup allows */
  steelyard_cpus_t job; /* those that the processes of this context were given: nothing is ever bound beyond them */
} steelyard_machine_t;
STEELYARD_API steelyard_status_t steelyard_node_machine(const steelyard_node_t* node, steelyard_machine_t* machine);
/* The kind of a CPU's core, from 0, the most frugal. */
STEELYARD_API steelyard_status_t steelyard_node_kind(const steelyard_node_t* node, int cpu, int* kind);

/* ------------------------------------------------------------------------------------------------ bindings ---------- */

/* How many threads the next parallel regions have, from a push to its pop. */
enum {
  STEELYARD_SAME_THREADS = -1, /* as many as they have now */
  STEELYARD_ONE_A_CORE = 0     /* one for each core of the set; or any number from 1 */
};

/*
 * Bind this thread and the OpenMP workers that it has, until the pop. Pushes and pops nest: a stack for each process, where
 * a context pops only what it has pushed. Bound to is what the set shares with the CPUs of the job
 * (steelyard_node_machine()); if that is nothing, it is an error.
 */
STEELYARD_API steelyard_status_t steelyard_push_cpus(steelyard_node_t* node, const steelyard_cpus_t* cpus, int threads);
/* The `index`-th of a kind. */
STEELYARD_API steelyard_status_t steelyard_push_resource(steelyard_node_t* node, steelyard_resource_t resource,
                                                         int index, int threads);
/* The smallest of a kind that holds all that this thread is bound to now: data stay near. Where none does, of the next kind
 * above. */
STEELYARD_API steelyard_status_t steelyard_push_enclosing(steelyard_node_t* node, steelyard_resource_t resource,
                                                          int threads);
/*
 * Everything as before this context's last push.
 * @return an error if this context has pushed nothing, if another context has pushed since, or if the push was made before the
 *         phase that is entered now, or by it
 */
STEELYARD_API steelyard_status_t steelyard_pop(steelyard_node_t* node);

/* ------------------------------------------------------------------------------------------------ parts of a phase -- */

/*
 * Chooses at most `most` (from 1) processes for each resource of a kind. Processes that were bound within one when the
 * context was made come first there; others fill up what is left, evenly. All get the same answer, without a message.
 */
STEELYARD_API steelyard_status_t steelyard_node_distribute(const steelyard_node_t* node, steelyard_resource_t resource,
                                                           int most, int* chosen);
/* Collective. Waits for all. For waits that are soon over: it may look again and again for up to 0.1 ms before it sleeps. */
STEELYARD_API steelyard_status_t steelyard_node_barrier(steelyard_node_t* node);
/* The same barrier, for those who have nothing to do until others come to it: sleeps at once. */
STEELYARD_API steelyard_status_t steelyard_node_quiesce(steelyard_node_t* node);

/* ------------------------------------------------------------------------------------------------ phases ------------ */

/*
 * A phase in which at most `most` (from 1) processes for each resource of a kind work, chosen as by
 * steelyard_node_distribute(). Their threads share the cores of the resource, one thread a core. Local, and the same in all
 * processes of the node. Free it with steelyard_phase_free(); it may outlive its node's handle.
 */
STEELYARD_API steelyard_status_t steelyard_phase_create(steelyard_node_t* node, steelyard_resource_t resource, int most,
                                                        steelyard_phase_t** phase);

/* Within what a phase may choose; {1, 0, 0} for everything. */
typedef struct steelyard_bounds {
  int least_processes; /* of the node that work; from 1 */
  int most_processes;  /* 0: all */
  int most_threads;    /* of a process; 0: as many as there are cores */
} steelyard_bounds_t;
#define STEELYARD_BOUNDS_DEFAULT {1, 0, 0}

/*
 * A phase that finds out how many processes and threads are best for it: it tries them in its first runs, measures from the
 * arrival of the last at enter to the arrival of the last at leave, and stays with the fastest. Each node for itself. Its
 * work must not depend on who is chosen: ask steelyard_phase_grade() or gather and scatter through it.
 */
STEELYARD_API steelyard_status_t steelyard_phase_create_graded(steelyard_node_t* node, const steelyard_bounds_t* bounds,
                                                               steelyard_phase_t** phase);
STEELYARD_API void steelyard_phase_free(steelyard_phase_t* phase);

/*
 * Collective. The processes that work return when all have come, bound to their resource, with the thread count set. The others
 * return at once. All must leave; until then all else that is collective on the node is an error. A phase that is still entered
 * when it is freed, or when MPI_Finalize is called, is left there, with a warning.
 * @param chosen 1 in the processes that work, otherwise 0
 * @return an error if another process has called something else; the phase is not entered then
 */
STEELYARD_API steelyard_status_t steelyard_phase_enter(steelyard_phase_t* phase, int* chosen);
/*
 * Collective. The others sleep here until the chosen ones have come; then all go on, bound as before.
 * @return an error if the phase was not entered, or if another process has not entered it but called something else: the phase
 *         is left then, too
 */
STEELYARD_API steelyard_status_t steelyard_phase_leave(steelyard_phase_t* phase);

/* How a phase runs next. */
typedef struct steelyard_grade {
  int processes;    /* of the node that work */
  int threads;      /* of the one that works for this process */
  int settled;      /* 1: it stays so; 0: still trying */
  int chosen;       /* 1 where this process works */
  int works_for_me; /* the process that does: itself where chosen */
  double seconds;   /* that it typically takes at this grade; 0 where it was not measured */
} steelyard_grade_t;
STEELYARD_API steelyard_status_t steelyard_phase_grade(const steelyard_phase_t* phase, steelyard_grade_t* grade);

/*
 * Data in the node's shared memory: `parts` pieces, one after the other without gaps, the i-th of `bytes[i]` bytes, that
 * belongs to process `processes[i]` of the node. What it points to belongs to the phase.
 */
typedef struct steelyard_view {
  void* data;
  int parts;
  const size_t* bytes;
  const int* processes;
} steelyard_view_t;

/*
 * Collective, before enter: brings `bytes` bytes of each process to the one that works for it. There `all` has the data of
 * all its processes, itself among them, in ascending order, to be read and changed in place until the next gather on this
 * node; elsewhere it has no parts. Any number of bytes, 0 among them, another in each process and each call. One copy.
 */
STEELYARD_API steelyard_status_t steelyard_phase_gather(steelyard_phase_t* phase, const void* mine, size_t bytes,
                                                        steelyard_view_t* all);
/*
 * Collective, after leave: the way back. A process that works gives the data for its processes, in the order of its last
 * gather, `bytes[i]` for the i-th; the others' arguments are not looked at. `mine` is this process's part, until the next
 * scatter on this node. One copy; none at all where `data` is what was gathered, and then until the next gather.
 */
STEELYARD_API steelyard_status_t steelyard_phase_scatter(steelyard_phase_t* phase, const void* data,
                                                         const size_t* bytes, steelyard_view_t* mine);

/* ------------------------------------------------------------------------------------------------ for other languages */

/* How the processes of a node meet, for those who have no mpi.h: each function gets `self`. */
typedef struct steelyard_meeting {
  void* self;
  int rank, size; /* among the processes of this node */
  int rank_in_communicator;
  const char* problem; /* why there is nobody to meet: becomes the error of the call. Else NULL */
  void (*broadcast)(void* self, void* bytes, size_t size); /* collective: those of rank 0 to all */
  int (*all_agree)(void* self, int mine);                  /* collective: 1 where all say 1 */
  void (*abort)(void);                                     /* ends the program; called at any time later */
} steelyard_meeting_t;
STEELYARD_API steelyard_status_t steelyard_node_create_by(const steelyard_meeting_t* meeting, steelyard_node_t** node);
/* A number for this node, from 0: that of another node is another one, but for one pair of nodes in 2^31. */
STEELYARD_API int steelyard_internal_node(void);
/* Lets others run, for longer with each turn of a loop that waits; `turn` counts from 0. */
STEELYARD_API void steelyard_internal_pause(int turn);
/* The rank of this process in MPI_COMM_WORLD, for messages. steelyard_node_create() calls it. */
STEELYARD_API void steelyard_internal_world_rank(int rank);
/* Leaves each phase that this process has entered and not left, and warns of it: others sleep until all have left. Then the
 * collective calls of all its contexts are an error at the other processes, which names this one. For the moment when MPI
 * ends, where steelyard_node_create() has it called by itself. */
STEELYARD_API void steelyard_phase_leave_all(void);

#ifndef STEELYARD_WITHOUT_MPI

static inline void steelyard_mpi_await(MPI_Request request) {
  int turn = 0, done = 0;
  for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
    steelyard_internal_pause(turn++);
}
/* Where the processes of a node meet, and what they have agreed on. */
struct steelyard_mpi_place {
  MPI_Comm here;
  int agreed;
};
static inline void steelyard_mpi_broadcast(void* self, void* bytes, size_t size) {
  MPI_Request request;
  MPI_Ibcast(bytes, (int)size, MPI_BYTE, 0, ((struct steelyard_mpi_place*)self)->here, &request);
  steelyard_mpi_await(request);
}
static inline int steelyard_mpi_all_agree(void* self, int mine) {
  struct steelyard_mpi_place* place = (struct steelyard_mpi_place*)self;
  MPI_Request request;
  MPI_Iallreduce(&mine, &place->agreed, 1, MPI_INT, MPI_MIN, place->here, &request); /* as Fortran does */
  steelyard_mpi_await(request);
  return place->agreed;
}
/* Its MPI_Comm_split_type splits twice, and needs six exchanges among all where MPI_Comm_split needs two. */
static inline int steelyard_mpi_is_mpich(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  return strstr(version, "MPICH") != NULL;
}
static inline void steelyard_mpi_take_places(MPI_Comm here, steelyard_meeting_t* meeting) {
  ((struct steelyard_mpi_place*)meeting->self)->here = here;
  MPI_Comm_rank(here, &meeting->rank);
  MPI_Comm_size(here, &meeting->size);
}
static inline void steelyard_mpi_abort(void) { MPI_Abort(MPI_COMM_WORLD, 1); }
static inline int steelyard_mpi_ends(MPI_Comm self, int key, void* value, void* state) {
  (void)self, (void)key, (void)value, (void)state;
  steelyard_phase_leave_all();
  return MPI_SUCCESS;
}
/* The first that MPI_Finalize does is to delete the attributes of MPI_COMM_SELF. */
static inline void steelyard_mpi_watch_the_end(void) {
  static int key = MPI_KEYVAL_INVALID;
  if (key != MPI_KEYVAL_INVALID) return;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, steelyard_mpi_ends, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}
static inline const char* steelyard_mpi_problem(MPI_Comm communicator) {
  int initialized = 0, finalized = 0, inter = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (!initialized || finalized) return "a context needs MPI: make it between MPI_Init and MPI_Finalize";
  if (communicator == MPI_COMM_NULL)
    return "a context cannot be made of MPI_COMM_NULL: pass a communicator that this process is in";
  MPI_Comm_test_inter(communicator, &inter);
  if (inter)
    return "a context cannot be made of an inter-communicator: pass an intra-communicator (MPI_Intercomm_merge)";
  return NULL;
}

static inline steelyard_status_t steelyard_node_create(MPI_Comm communicator, steelyard_node_t** node) {
  struct steelyard_mpi_place place = {MPI_COMM_NULL, 1};
  steelyard_meeting_t meeting = {
      NULL, 0, 1, 0, NULL, steelyard_mpi_broadcast, steelyard_mpi_all_agree, steelyard_mpi_abort};
  steelyard_status_t status;
  MPI_Comm here = MPI_COMM_NULL;
  int by_number = 0, world_rank = 0;
  meeting.self = &place;
  meeting.problem = steelyard_mpi_problem(communicator);
  if (meeting.problem == NULL) {
    steelyard_mpi_watch_the_end();
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    steelyard_internal_world_rank(world_rank);
    MPI_Comm_rank(communicator, &meeting.rank_in_communicator);
    by_number = steelyard_mpi_is_mpich();
    if (by_number)
      MPI_Comm_split(communicator, steelyard_internal_node(), meeting.rank_in_communicator, &here);
    else
      MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, meeting.rank_in_communicator, MPI_INFO_NULL, &here);
    steelyard_mpi_take_places(here, &meeting);
  }
  status = steelyard_node_create_by(&meeting, node);
  /* Two nodes may have the same number. Then all got a failure: files in memory are those of one node. */
  if (by_number && !place.agreed) {
    MPI_Comm several = here;
    const int before = meeting.size;
    MPI_Comm_split_type(several, MPI_COMM_TYPE_SHARED, meeting.rank, MPI_INFO_NULL, &here);
    MPI_Comm_free(&several);
    steelyard_mpi_take_places(here, &meeting);
    if (meeting.size < before) status = steelyard_node_create_by(&meeting, node);
  }
  if (here != MPI_COMM_NULL) MPI_Comm_free(&here);
  return status;
}

static inline steelyard_status_t steelyard_node_split(const steelyard_node_t* node, MPI_Comm communicator,
                                                      steelyard_resource_t resource, MPI_Comm* part) {
  int index = 0, rank = 0;
  MPI_Comm here;
  const steelyard_status_t status = steelyard_node_closest(node, resource, &index);
  *part = MPI_COMM_NULL;
  if (status != STEELYARD_SUCCESS) return status;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &here);
  MPI_Comm_split(here, index, rank, part);
  MPI_Comm_free(&here);
  return STEELYARD_SUCCESS;
}

#endif

#ifdef __cplusplus
}
#endif
#endif
