// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <vector>

#include "base/status.h"
#include "phases/shared.h"

namespace steelyard::phases {

/// The bindings of this process, as a stack: one for the whole process, since a binding belongs to it, however many
/// contexts there are. Each context pops its own pushes, in the opposite order. Not thread-safe: called by the thread
/// whose regions follow. It and its OpenMP workers are bound.
class BindingStack {
 public:
  static BindingStack& of_this_process();

  /// Encoding: leaves the thread count of the next regions alone.
  static constexpr int kSameThreads = -1;

  /// Gives this thread and its workers `set`. `threads`: of the next regions, from now until the pop. On an emulated
  /// node this is noted and not done. Only `owner` may pop.
  base::Status push(const void* owner, const CpuSet& set, int threads, bool emulated);
  /// Everything as before the owner's last push.
  base::Status pop(const void* owner);
  int depth(const void* owner) const;
  bool empty() const { return entries_.empty(); }
  /// What the last push gave; what the thread has where there was none.
  CpuSet now(bool emulated) const;

  /// A member of a context, which is told of each change from now on.
  void tell(Member* member) { told_.push_back(member); }
  void tell_no_more(Member* member) { std::erase(told_, member); }

 private:
  struct Entry {
    const void* owner;
    bool emulated;
    CpuSet set, before;
    std::vector<CpuSet> workers_before;  // by thread; empty where no team was bound
    int threads_before;                  // 0 where they were left alone
  };
  void publish_to_all(const CpuSet& set) const;
  bool bind_workers(Entry& entry, const CpuSet& set);
  void unbind_workers(const Entry& entry);

  std::vector<Entry> entries_;
  std::vector<Member*> told_;
  int widest_ = 1;  // threads that the runtime has been seen to need: those may exist
};

}  // namespace steelyard::phases
