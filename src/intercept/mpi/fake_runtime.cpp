// SPDX-License-Identifier: BSD-3-Clause
#include "intercept/mpi/fake_runtime.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <tuple>

#include "base/clock.h"
#include "intercept/awaiting.h"
#include "session/collectives.h"
#include "session/session.h"

namespace steelyard::intercept {

void mpi_begins() {}
void other_mpi_begins() {}

}  // namespace steelyard::intercept

namespace steelyard::session {

namespace {

std::unique_ptr<node::Bootstrap> g_bootstrap;
bool g_measures = true;
long g_counted_by_all = 0;  // arrivals and announcements where all ranks are members
fake::Notes g_notes;

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "recording runtime: %s\n", what);
  std::abort();
}

void count(const CommunicatorOnNode& communicator) {
  if (static_cast<int>(communicator.members.size()) == g_bootstrap->size()) ++g_counted_by_all;
}

}  // namespace

namespace fake {

Notes& notes() { return g_notes; }
void measure(bool on) { g_measures = on; }

}  // namespace fake

void start(std::unique_ptr<node::Bootstrap> bootstrap, const char* language) {
  must(g_bootstrap == nullptr, "start() was called twice");
  g_bootstrap = std::move(bootstrap);
  g_notes.language = language;
}

// Rank 0 prints what it noted. All ranks must have come equally often, calls that were not measured included.
void finish() {
  if (g_bootstrap == nullptr) return;
  must(g_notes.open == 0, "a call was not ended");
  must(g_notes.windows == 0, "a window was not freed");
  const std::string mine = std::to_string(g_counted_by_all);
  for (const std::string& other : g_bootstrap->gather(mine)) {
    must(other == mine, "the ranks arrived at different numbers of collectives");
  }
  if (g_bootstrap->rank() == 0) {
    std::printf("recorded: %s, %s, calls=%ld sites=%zu arrivals=%ld steps=%ld left=%d attributed=%ld windows=%ld\n",
                g_bootstrap->library().c_str(), g_notes.language.c_str(), g_notes.calls, g_notes.sites.size(),
                g_notes.arrivals, g_notes.step_marks, g_notes.attached, g_notes.attributed, g_notes.windows_made);
    std::fflush(stdout);
  }
  g_bootstrap.reset();
}

void aborting(int code) {
  g_notes.aborted_with = code;
  std::printf("recorded: aborting with %d\n", code);
  std::fflush(stdout);
  std::ignore = g_bootstrap.release();
}

bool measures_this_call() { return g_bootstrap != nullptr && g_measures; }

RegionCall::RegionCall() : begin_(base::now_ns()) { ++g_notes.passed_on; }
RegionCall::~RegionCall() { must(begin_ <= base::now_ns(), "a call ended before it began"); }

BlockingCall::BlockingCall(std::uint64_t site) : site_(site), begin_(base::now_ns()) {
  must(measures_this_call(), "a call was measured that must not be measured");
  ++g_notes.calls;
  g_notes.most_open = std::max(g_notes.most_open, ++g_notes.open);
  g_notes.sites.insert(site);
}

BlockingCall::~BlockingCall() {
  --g_notes.open;
  g_notes.waited_for = waited_for_;
  if (waited_for_ >= 0) ++g_notes.attributed;
}

bool BlockingCall::pause() {
  ++g_notes.pauses;
  if (g_notes.windows == 0) ++g_notes.sleeps;
  g_bootstrap->progress();
  sched_yield();
  return g_notes.windows == 0;
}

void progress() { g_bootstrap->progress(); }

void BlockingCall::waited_for(int world_rank) { waited_for_ = world_rank; }
std::int64_t BlockingCall::ended() { return base::now_ns(); }
void BlockingCall::is_step_mark() { ++g_notes.step_marks; }

void window_made() {
  ++g_notes.windows;
  ++g_notes.windows_made;
}
void window_freed() { --g_notes.windows; }

CommunicatorOnNode* attach_communicator(const int* members, int count) {
  if (g_bootstrap == nullptr) return nullptr;
  must(count > 1, "a communicator of one was attached");
  ++g_notes.attached;
  g_notes.members.assign(members, members + count);
  return new CommunicatorOnNode{.members = g_notes.members, .member_of_rank = {}};
}

void detach_communicator(CommunicatorOnNode* communicator) {
  --g_notes.attached;
  delete communicator;
}

std::unique_ptr<collectives::Board> open_board(const CommunicatorOnNode*) { return nullptr; }
int local_members(const int*, int count) { return count; }
collectives::Broadcasting broadcasting() { return {}; }
collectives::Account& collectives_account() {
  static collectives::Account account;
  return account;
}

bool BlockingCall::arrive(CommunicatorOnNode* communicator, Dependence dependence, int root) {
  must(root >= 0 && root < static_cast<int>(communicator->members.size()), "arrived with a root that does not exist");
  count(*communicator);
  ++g_notes.arrivals;
  if (g_notes.windows == 0) ++g_notes.sleeps;
  g_notes.dependence = dependence;
  g_notes.root = root;
  return false;
}

void announce(CommunicatorOnNode* communicator) {
  count(*communicator);
  ++g_notes.announcements;
}

}  // namespace steelyard::session
