// SPDX-License-Identifier: BSD-3-Clause
// A discrete-event model of a task pool, for more processes than can be simulated with MPI. It shares the planning half
// of src/tasks: overlay and routes, order of victims, amounts. Small-world, as the pool does, takes tasks of processes
// of the same node from shared memory, and divides the links of its node among them; the other policies know no nodes.
// Messages are answered between tasks; each process has a link of limited bandwidth in either direction; talking to
// a process for the first time costs a connection. Prints one line a policy; says on stderr how far it is.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "progress.h"
#include "tasks/plan.h"
#include "tasks/policies/policies.h"
#include "tasks/routes.h"

namespace {

using steelyard::tasks::amount_ahead;
using steelyard::tasks::amount_to_give;
using steelyard::tasks::deal_into_groups;
using steelyard::tasks::hash;
using steelyard::tasks::kFirstPatience;
using steelyard::tasks::kGroup;
using steelyard::tasks::kMessageBytes;
using steelyard::tasks::kMostGiven;
using steelyard::tasks::next_patience;
using steelyard::tasks::policy_named;
using steelyard::tasks::RankPlacement;
using steelyard::tasks::Routes;
using steelyard::tasks::Victims;

enum class Policy { small_world, random, master, groups, none };

struct Setting {
  std::uint32_t processes = 3584;
  std::uint32_t tasks = 100;      // a process, on average
  double seconds = 1;             // of work a process
  double bytes = 6e6;             // of inputs a process; results have a quarter of it
  double spread = 0.2;            // task durations: uniform within 1 -+ this
  double latency = 2e-6;          // of a message
  double bandwidth = 4.5e8;       // bytes/s of a process's share of its node's link: 12.5 GB/s for 28
  double overhead = 1e-6;         // CPU time that a message costs its sender and its receiver
  double connection = 1e-3;       // to talk to a process for the first time
  double misjudged = 0.3;         // groups: by how much the load of a process is misjudged, at most
  double letter = kMessageBytes;  // bytes of tasks in one message
  double gift = kMostGiven;       // bytes of tasks that one request brings, at most
  double take = 1e-6;             // to take tasks from another process of the node
  std::uint32_t node = 28;        // processes of a node
  std::uint32_t group = kGroup;   // groups: processes that share
  bool results = true;
};

struct Chunk {
  std::uint32_t owner, count;
};
enum class Kind : std::uint8_t { request, early_request, withdrawal, tasks, results };
struct Message {
  Kind kind;
  std::uint32_t from;
  std::vector<Chunk> chunks;
};
struct Request {
  std::uint32_t process;
  bool early;  ///< the thief has something to do yet
  bool operator==(std::uint32_t other) const { return process == other; }
};
struct Process {
  std::vector<Chunk> queue;  // the oldest first
  std::uint32_t queued = 0;
  bool busy = false;
  std::vector<Request> held, asked;
  std::vector<std::uint32_t> inbox, peers, links;
  std::vector<std::pair<std::uint32_t, std::vector<Chunk>>> lanes;  // results by next step
  std::unique_ptr<Victims> victims;
  double patience = 0, sending_until = 0, receiving_until = 0;
  double free_at = 0;  // from messages, while it has no task
  double idle_since = 0;
  std::uint32_t epoch = 0;  // of being idle: timers of older ones mean nothing
};
struct Event {
  double time;
  std::uint32_t process;
  std::int32_t message;  // kTaskEnds, a timer of an epoch below it, or the index of a message
  bool operator>(const Event& other) const { return time > other.time; }
};
constexpr std::int32_t kTaskEnds = -1;
constexpr std::uint64_t kEventsALook = 1 << 16;  // at how far it is

class Model {
 public:
  Model(const Setting& setting, Policy policy)
      : s_(setting),
        policy_(policy),
        node_(policy == Policy::small_world ? setting.node : 1),
        routes_(RankPlacement(static_cast<int>(setting.processes), static_cast<int>(node_), {}),
                policy_named(policy == Policy::random   ? "random"
                             : policy == Policy::master ? "master"
                                                        : "small-world",
                             0)
                    ->overlay((setting.processes + node_ - 1) / node_, 0)),
        all_(setting.processes),
        idle_(setting.processes / node_ + 1) {
    deal();
    if (policy == Policy::groups) group();
    if (policy == Policy::small_world) link();
  }

  void run(Progress& progress) {
    for (std::uint32_t p = 0; p < s_.processes; ++p) {
      double time = 0;
      // The master, which does nothing else, gets all tasks first.
      if (policy_ == Policy::master && p != 0 && all_[p].queued > 0) {
        const double bytes = all_[p].queued * s_.bytes / s_.tasks;
        all_[p].queued = 0;
        send(p, 0, {Kind::tasks, p, std::exchange(all_[p].queue, {})}, time, bytes);
      }
      next(p, time);
    }
    while (!events_.empty() && delivered_ < total_) {
      if (handled_ % kEventsALook == 0) progress.look(static_cast<double>(delivered_) / static_cast<double>(total_));
      const Event event = events_.top();
      events_.pop();
      ++handled_;
      now_ = event.time;
      Process& p = all_[event.process];
      if (event.message == kTaskEnds) {
        p.busy = false;
        double time = now_;
        for (const std::uint32_t message : std::exchange(p.inbox, {})) time = read(event.process, message, time);
        next(event.process, serve(event.process, time));
      } else if (event.message < kTaskEnds) {
        if (p.busy || static_cast<std::uint32_t>(kTaskEnds - 1 - event.message) != p.epoch) continue;
        if (node_ > 1 && all_[richest_of_node(event.process)].queued > 0) {
          next(event.process, now_);
        } else {
          ask(event.process, now_);
        }
      } else if (p.busy) {
        p.inbox.push_back(static_cast<std::uint32_t>(event.message));
      } else {
        double time = std::max(p.free_at, now_);
        time = serve(event.process, read(event.process, static_cast<std::uint32_t>(event.message), time));
        p.free_at = time;
        if (p.queued > 0) next(event.process, time);
        if (!p.busy) flush(event.process, time, true);
      }
    }
    // The termination rounds: up and down the tree, twice.
    int depth = 0;
    for (std::uint32_t i = 0; i < 1000; ++i) {
      depth = std::max(depth, routes_.overlay().hops(static_cast<std::int64_t>(hash(i) % s_.processes / node_), 0));
    }
    end_ = last_ + 4 * depth * (s_.latency + 2 * s_.overhead) + 2 * s_.overhead * static_cast<double>(degree());
  }

  void print(const char* name, double wall) const {
    std::size_t most = 0;
    double connections = 0;
    for (const Process& p : all_) {
      most = std::max(most, p.peers.size());
      connections += static_cast<double>(p.peers.size());
    }
    std::printf(
        "%-12s efficiency %6.2f %%  seconds %8.4f  moved %5.2f/task  taken %5.2f/task  hops %5.2f  connections mean "
        "%6.1f most %5zu  "
        "messages %6.1f/process  events %.1f M in %.1f s\n",
        name, 100 * work_ / (end_ * s_.processes), end_, static_cast<double>(moved_) / static_cast<double>(total_),
        static_cast<double>(taken_) / static_cast<double>(total_),
        static_cast<double>(hops_) / static_cast<double>(std::max<std::uint64_t>(sent_, 1)), connections / s_.processes,
        most, static_cast<double>(messages_) / s_.processes, static_cast<double>(handled_) / 1e6, wall);
    std::fflush(stdout);
  }

 private:
  double uniform(std::uint64_t of) const { return (static_cast<double>(hash(of) >> 11) + 0.5) * 0x1p-53; }
  std::size_t degree() const { return policy_ == Policy::small_world ? routes_.overlay().neighbours(0).size() : 64; }

  /// As in the paper: 70 % of the tasks on 10 % of the processes, a gaussian around the middle.
  void deal() {
    const double sigma = s_.processes / 20.0, middle = s_.processes / 2.0;
    const double scale = s_.processes * static_cast<double>(s_.tasks) / (sigma * std::sqrt(2 * std::acos(-1.0)));
    double carried = 0;
    for (std::uint32_t p = 0; p < s_.processes; ++p) {
      carried += scale * std::exp(-0.5 * std::pow((p + 0.5 - middle) / sigma, 2));
      const auto count = static_cast<std::uint32_t>(carried);
      carried -= count;
      if (count > 0) add(all_[p], Chunk{p, count});
      total_ += count;
    }
  }
  void link() {
    for (std::uint32_t p = 0; p < s_.processes; ++p) {
      const Routes::Duties duties = routes_.duties(static_cast<int>(p));
      all_[p].links.assign(duties.peers.begin(), duties.peers.end());
    }
  }
  /// Hierarchical sharing: groups of equal load, as far as loads are known; inside, tasks are handed out one by one.
  void group() {
    std::vector<double> loads;
    for (std::uint32_t p = 0; p < s_.processes; ++p) {
      loads.push_back((all_[p].queued + 1e-3) * (1 + s_.misjudged * (2 * uniform(p ^ 0xabcdef) - 1)));
    }
    group_of_ = deal_into_groups(loads, s_.group);
    members_.resize((s_.processes + s_.group - 1) / s_.group);
    for (std::uint32_t p = 0; p < s_.processes; ++p) members_[group_of_[p]].push_back(p);
  }

  static void add(Process& p, Chunk chunk) {
    if (!p.queue.empty() && p.queue.back().owner == chunk.owner) {
      p.queue.back().count += chunk.count;
    } else {
      p.queue.push_back(chunk);
    }
    p.queued += chunk.count;
  }
  /// Its oldest tasks of one owner, at most `most`: no longer its own.
  static Chunk oldest(Process& p, std::size_t most) {
    Chunk& first = p.queue.front();
    const Chunk part{first.owner, static_cast<std::uint32_t>(std::min<std::size_t>(most, first.count))};
    p.queued -= part.count;
    first.count -= part.count;
    if (first.count == 0) p.queue.erase(p.queue.begin());
    return part;
  }
  void send(std::uint32_t from, std::uint32_t to, Message message, double& time, double bytes) {
    Process& p = all_[from];
    time += s_.overhead;
    for (const auto& [one, other] : {std::pair(from, to), std::pair(to, from)}) {
      auto& peers = all_[one].peers;
      if (std::find(peers.begin(), peers.end(), other) != peers.end()) continue;
      peers.push_back(other);
      if (one == from) time += s_.connection;
    }
    p.sending_until = std::max(p.sending_until, time) + bytes / s_.bandwidth;
    Process& receiver = all_[to];
    receiver.receiving_until = std::max(receiver.receiving_until + bytes / s_.bandwidth, p.sending_until);
    const double arrival = receiver.receiving_until + s_.latency;
    std::size_t index = messages_in_flight_.size();
    if (free_.empty()) {
      messages_in_flight_.push_back(std::move(message));
    } else {
      index = free_.back();
      free_.pop_back();
      messages_in_flight_[index] = std::move(message);
    }
    ++messages_;
    events_.push({arrival, to, static_cast<std::int32_t>(index)});
  }

  double read(std::uint32_t me, std::uint32_t index, double time) {
    const Message message = std::move(messages_in_flight_[index]);
    free_.push_back(index);
    Process& p = all_[me];
    time += s_.overhead;
    switch (message.kind) {
      case Kind::request:
      case Kind::early_request:
        std::erase(p.held, message.from);
        p.held.push_back({message.from, message.kind == Kind::early_request});
        break;
      case Kind::withdrawal: std::erase(p.held, message.from); break;
      case Kind::tasks:
        for (const Chunk& chunk : message.chunks) {
          add(p, chunk);
          moved_ += chunk.count;
        }
        wake_others(me, time);
        std::erase(p.asked, message.from);
        if (p.victims) p.victims->gave(peer_index(me, message.from));
        withdraw(me, time);
        break;
      case Kind::results:
        for (const Chunk& chunk : message.chunks) bring(me, chunk, time);
        break;
    }
    return time;
  }

  void withdraw(std::uint32_t me, double& time) {
    for (const Request& other : std::exchange(all_[me].asked, {}))
      send(me, other.process, {Kind::withdrawal, me, {}}, time, 0);
  }
  void bring(std::uint32_t me, Chunk chunk, double time) {
    if (chunk.owner == me || !s_.results) {
      delivered_ += chunk.count;
      last_ = std::max(last_, time);
      return;
    }
    const auto to = policy_ == Policy::groups || policy_ == Policy::master
                        ? chunk.owner
                        : static_cast<std::uint32_t>(routes_.next(static_cast<int>(me), static_cast<int>(chunk.owner)));
    if (policy_ == Policy::small_world && to / node_ == me / node_) return bring(to, chunk, time);  // shared memory
    auto& lanes = all_[me].lanes;
    auto lane = std::find_if(lanes.begin(), lanes.end(), [to](const auto& l) { return l.first == to; });
    if (lane == lanes.end()) lane = lanes.insert(lanes.end(), {to, {}});
    auto& gathered = lane->second;
    const auto same =
        std::find_if(gathered.begin(), gathered.end(), [&](const Chunk& c) { return c.owner == chunk.owner; });
    if (same == gathered.end()) {
      gathered.push_back(chunk);
    } else {
      same->count += chunk.count;
    }
  }
  void flush(std::uint32_t me, double& time, bool all) {
    const double result = s_.bytes / s_.tasks / 4;
    for (auto& [to, chunks] : std::exchange(all_[me].lanes, {})) {
      std::uint64_t count = 0;
      for (const Chunk& chunk : chunks) count += chunk.count;
      if (!all && static_cast<double>(count) * result < 3072) {
        all_[me].lanes.push_back({to, std::move(chunks)});
        continue;
      }
      hops_ += count;
      send(me, to, {Kind::results, me, std::move(chunks)}, time, static_cast<double>(count) * result);
    }
  }

  /// Gives to those who have asked; returns when it has.
  double serve(std::uint32_t me, double time) {
    Process& p = all_[me];
    if (policy_ == Policy::none) return time;
    // Its next task, and one for each of its node that looks for one; or, before the thief is in need, what is enough
    // for itself for a while.
    const std::size_t own = policy_ == Policy::master ? 0 : 1 + (node_ > 1 ? idle_[me / node_].size() : 0);
    const std::size_t enough = policy_ == Policy::master ? 0 : ahead() * node_;
    std::size_t askers = p.held.size();
    std::erase_if(p.held, [&](const Request& request) {
      return give(me, request, request.early ? std::max(own, enough) : own, askers--, time);
    });
    flush(me, time, false);
    return time;
  }
  bool give(std::uint32_t me, const Request& request, std::size_t own, std::size_t askers, double& time) {
    Process& p = all_[me];
    const std::size_t available = in_reach(me);
    if (available <= own) return false;
    std::size_t amount = amount_to_give(available - own, askers, 0);
    if (policy_ == Policy::groups) amount = 1;
    if (policy_ == Policy::master) amount = std::max<std::size_t>(1, p.queued / (2 * s_.processes));  // guided
    amount = std::min(amount, static_cast<std::size_t>(std::ceil(s_.gift * s_.tasks / s_.bytes)));
    const std::uint32_t thief = request.process;
    Message letter{Kind::tasks, me, {}};
    double bytes = 0;
    while (amount > 0) {
      Process& giver = p.queued > 0 ? p : all_[richest_of_node(me)];
      if (giver.queued == 0) break;
      const auto fit = static_cast<std::size_t>(std::max(1.0, std::ceil((s_.letter - bytes) * s_.tasks / s_.bytes)));
      const Chunk part = oldest(giver, std::min(amount, fit));
      letter.chunks.push_back(part);
      bytes += part.count * s_.bytes / s_.tasks;
      amount -= part.count;
      if (bytes >= s_.letter) {
        send(me, thief, std::exchange(letter, {Kind::tasks, me, {}}), time, bytes);
        bytes = 0;
      }
    }
    if (!letter.chunks.empty()) send(me, thief, std::move(letter), time, bytes);
    return true;
  }

  std::size_t ahead() const { return amount_ahead(std::llround(1e9 * s_.seconds / s_.tasks)); }
  std::size_t in_reach(std::uint32_t me) const {
    const std::uint32_t first = me / node_ * node_, end = std::min(first + node_, s_.processes);
    std::size_t sum = 0;
    for (std::uint32_t p = first; p < end; ++p) sum += all_[p].queued;
    return sum;
  }
  std::uint32_t richest_of_node(std::uint32_t me) const {
    const std::uint32_t first = me / node_ * node_, end = std::min(first + node_, s_.processes);
    std::uint32_t richest = me;
    for (std::uint32_t p = first; p < end; ++p) {
      if (all_[p].queued > all_[richest].queued) richest = p;
    }
    return richest;
  }
  /// From shared memory: as much as makes the victim and all processes of the node that look for tasks equal.
  void take(std::uint32_t me, double& time) {
    Process& victim = all_[richest_of_node(me)];
    Process& p = all_[me];
    std::size_t amount = victim.queued == 0 ? 0 : amount_to_give(victim.queued, idle_[me / node_].size() + 1, 0);
    if (amount > 0) time += s_.take;
    while (amount > 0 && !victim.queue.empty()) {
      const Chunk part = oldest(victim, amount);
      add(p, part);
      taken_ += part.count;
      amount -= part.count;
    }
  }
  /// A process that finds nothing looks again after a while that grows: the live pool's pauses.
  void wake_others(std::uint32_t me, double time) {
    if (node_ == 1) return;
    for (const std::uint32_t other : idle_[me / node_]) {
      if (other == me) continue;
      const double pause = std::min((time - all_[other].idle_since) / 8, 500e-6);
      events_.push(
          {time + pause * uniform(++draws_), other, kTaskEnds - 1 - static_cast<std::int32_t>(all_[other].epoch)});
    }
  }

  /// Its next task, or none.
  void next(std::uint32_t me, double time) {
    Process& p = all_[me];
    if (p.busy) return;
    std::vector<std::uint32_t>& idle = idle_[me / node_];
    if (node_ > 1) {
      std::erase(idle, me);
      if (p.queued == 0) take(me, time);
      if (p.queued > 0 && p.idle_since > 0) withdraw(me, time);
      p.idle_since = 0;
    }
    const bool serves_only = policy_ == Policy::master && me == 0;
    if (p.queued > 0 && !serves_only) {
      Chunk& newest = p.queue.back();
      const std::uint32_t owner = newest.owner;
      --p.queued;
      if (--newest.count == 0) p.queue.pop_back();
      ++started_;
      const double length = s_.seconds / s_.tasks * (1 + s_.spread * (2 * uniform(started_) - 1));
      work_ += length;
      p.busy = true;
      ++p.epoch;
      events_.push({time + length, me, kTaskEnds});
      if (owner != me) ++sent_;
      // Counted now, sent when the task has ended, with what is handed on then.
      bring(me, {owner, 1}, time + length);
      if (p.asked.empty() && p.queued <= ahead() && in_reach(me) <= ahead() * node_) ask(me, time, true);
      return;
    }
    if (node_ > 1) idle.push_back(me);
    p.idle_since = time;
    flush(me, time, true);
    p.patience = 1e-9 * kFirstPatience;
    if (p.victims) p.victims->restart();
    if (serves_only) return;
    ask(me, time);
  }
  const std::vector<std::uint32_t>& neighbours(std::uint32_t me) {
    if (policy_ == Policy::small_world) return all_[me].links;
    if (cached_of_ == me) return cached_;
    cached_of_ = me;
    cached_.clear();
    if (policy_ == Policy::groups) {
      for (const std::uint32_t other : members_[group_of_[me]]) {
        if (other != me) cached_.push_back(other);
      }
    } else {
      for (const std::int64_t other : routes_.overlay().neighbours(me))
        cached_.push_back(static_cast<std::uint32_t>(other));
    }
    return cached_;
  }
  std::size_t peer_index(std::uint32_t me, std::uint32_t other) {
    const auto& list = neighbours(me);
    return static_cast<std::size_t>(std::find(list.begin(), list.end(), other) - list.begin());
  }
  void ask(std::uint32_t me, double time, bool early = false) {
    Process& p = all_[me];
    if (policy_ == Policy::none || (policy_ == Policy::random && p.asked.size() >= 64)) return;
    std::uint32_t victim = me;
    const auto asked = [&](std::uint32_t other) {
      const auto request = std::find(p.asked.begin(), p.asked.end(), other);
      return request != p.asked.end() && !request->early;
    };
    if (policy_ == Policy::random) {
      while (victim == me) victim = static_cast<std::uint32_t>(hash(++draws_) % s_.processes);
    } else {
      const auto& list = neighbours(me);
      if (std::all_of(list.begin(), list.end(), asked)) return;
      if (!p.victims) p.victims = std::make_unique<Victims>(list.size(), me);
      do victim = list[p.victims->next()];
      while (asked(victim));
    }
    std::erase(p.asked, victim);
    p.asked.push_back({victim, early});
    send(me, victim, {early ? Kind::early_request : Kind::request, me, {}}, time, 0);
    if (early) return;
    events_.push({time + p.patience, me, kTaskEnds - 1 - static_cast<std::int32_t>(p.epoch)});
    p.patience = 1e-9 * static_cast<double>(next_patience(std::llround(1e9 * p.patience)));
  }

  const Setting s_;
  const Policy policy_;
  const std::uint32_t node_;
  Routes routes_;
  std::vector<Process> all_;
  std::vector<std::vector<std::uint32_t>> idle_;  // by node
  std::vector<std::vector<std::uint32_t>> members_;
  std::vector<std::uint32_t> group_of_, cached_;
  std::uint32_t cached_of_ = ~0u;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Message> messages_in_flight_;
  std::vector<std::size_t> free_;
  double now_ = 0, last_ = 0, end_ = 0, work_ = 0;
  std::uint64_t total_ = 0, delivered_ = 0, moved_ = 0, taken_ = 0, messages_ = 0, hops_ = 0, sent_ = 0, started_ = 0,
                draws_ = 0, handled_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Setting setting;
  std::string policies = "small-world,random,master,groups,none";
  const std::map<std::string, double Setting::*> reals = {
      {"seconds", &Setting::seconds},       {"bytes", &Setting::bytes},         {"spread", &Setting::spread},
      {"latency", &Setting::latency},       {"bandwidth", &Setting::bandwidth}, {"overhead", &Setting::overhead},
      {"connection", &Setting::connection}, {"take", &Setting::take},           {"gift", &Setting::gift},
      {"letter", &Setting::letter},         {"misjudged", &Setting::misjudged}};
  const std::map<std::string, std::uint32_t Setting::*> counts = {{"processes", &Setting::processes},
                                                                  {"tasks", &Setting::tasks},
                                                                  {"node", &Setting::node},
                                                                  {"group", &Setting::group}};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i], name = word.substr(0, word.find('='));
    const std::string value = name.size() < word.size() ? word.substr(name.size() + 1) : "";
    if (reals.count(name) > 0) {
      setting.*reals.at(name) = std::atof(value.c_str());
    } else if (counts.count(name) > 0 && std::atol(value.c_str()) > 0) {
      setting.*counts.at(name) = static_cast<std::uint32_t>(std::atol(value.c_str()));
    } else if (name == "policies") {
      policies = value;
    } else if (name == "results") {
      setting.results = value != "0";
    } else {
      std::fprintf(stderr, "tasks_model: \"%s\" is no parameter; those are in sim/tasks_model.cpp, at the head\n",
                   argv[i]);
      return 2;
    }
  }
  const std::pair<const char*, Policy> all[] = {{"small-world", Policy::small_world},
                                                {"random", Policy::random},
                                                {"master", Policy::master},
                                                {"groups", Policy::groups},
                                                {"none", Policy::none}};
  for (const auto& [name, policy] : all) {
    if (("," + policies + ",").find("," + std::string(name) + ",") == std::string::npos) continue;
    Progress progress(std::string("tasks_model: ") + name, "of the results have arrived");
    Model model(setting, policy);
    model.run(progress);
    model.print(name, progress.seconds());
  }
  return 0;
}
