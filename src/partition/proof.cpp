#include "partition/proof.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "partition/instruction.h"
#include "partition/step.h"

namespace steelyard::partition {

namespace {

constexpr std::size_t kMostInstructions = 10'000;
constexpr std::size_t kMostVisits = 40'000;
constexpr int kMostOfCallee = 2'000;  // instructions of a function that is called

// System V ABI.
constexpr std::uint32_t kArgumentRegisters = 1u << kRdi | 1u << kRsi | 1u << kRdx | 1u << kRcx | 1u << 8 | 1u << 9;
constexpr std::uint32_t kLostByCalls = kArgumentRegisters | 1u << kRax | 1u << 10 | 1u << 11;

/// The instructions that can be reached from a function's entry, and where ways meet.
class Course {
 public:
  Course(const Image& image, const Decoder& decoder) : image_(image), decoder_(decoder) {}

  struct Step {
    Instruction instruction;
    std::vector<std::uint64_t> to;     ///< the next ones: first the one after it, then the one it jumps to
    std::optional<std::uint64_t> pad;  ///< where an exception of this call lands
    Callee callee;
    bool leaves = false;  ///< it jumps to another function for good
  };

  /// False where some way cannot be followed, with the reason.
  bool follow(std::uint64_t entry, std::string& reason, std::uint64_t& where) {
    std::deque<std::uint64_t> open{entry};
    meets_.insert(entry);
    while (!open.empty()) {
      const std::uint64_t address = open.front();
      open.pop_front();
      if (steps_.contains(address)) continue;
      where = address;
      if (steps_.size() > kMostInstructions) return reason = "is too long a function", false;
      const std::optional<Instruction> found = decoder_.at(image_, address);
      if (!found) return reason = "cannot be decoded", false;
      Step& step = steps_.try_emplace(address).first->second;
      step.instruction = *found;
      if (!find_ways(step, reason)) return false;
      for (const std::uint64_t next : step.to) open.push_back(next);
      if (step.pad) open.push_back(*step.pad);
    }
    return true;
  }

  const std::map<std::uint64_t, Step>& steps() const { return steps_; }
  /// Return addresses of its queries, as they are numbered.
  const std::vector<std::uint64_t>& queries() const { return queries_; }
  /// True where something that is on the ways from `from`, and not on those from `other`, writes to memory or calls a function
  /// that is not a barrier. `without`: ways end there.
  bool has_more_effects(std::uint64_t from, std::uint64_t other, std::uint64_t without) const {
    const std::set<std::uint64_t> theirs = reached(other, without);
    const std::set<std::uint64_t> ours = reached(from, without);
    return std::any_of(ours.begin(), ours.end(), [&](std::uint64_t address) {
      if (address == without || theirs.contains(address)) return false;
      const Step& step = steps_.at(address);
      if (step.instruction.is_in(CS_GRP_CALL) || step.leaves) return step.callee.name != "GOMP_barrier";
      return step.instruction.writes_memory();
    });
  }
  bool is_meeting(std::uint64_t address) const { return meets_.contains(address); }

 private:
  std::set<std::uint64_t> reached(std::uint64_t from, std::uint64_t without) const {
    std::set<std::uint64_t> seen{without};
    std::vector<std::uint64_t> open{from};
    while (!open.empty()) {
      const std::uint64_t address = open.back();
      open.pop_back();
      if (!seen.insert(address).second) continue;
      const Step& step = steps_.at(address);
      open.insert(open.end(), step.to.begin(), step.to.end());
    }
    return seen;
  }

  bool find_ways(Step& step, std::string& reason) {
    const Instruction& i = step.instruction;
    if (i.kind() == X86_INS_UD2 || i.kind() == X86_INS_HLT || i.is_in(CS_GRP_RET)) return true;
    if (i.is_in(CS_GRP_CALL)) return find_call(step, reason);
    if (!i.is_in(CS_GRP_JUMP)) {
      step.to.push_back(i.next());
      return true;
    }
    const std::optional<std::uint64_t> target = i.target();
    if (!target) {
      step.leaves = i.kind() == X86_INS_JMP && i.slot().has_value();
      if (step.leaves) step.callee.name = image_.imported(*i.slot());
      return step.leaves || (reason = "jumps to where it cannot be followed", false);
    }
    if (const auto slot = i.kind() == X86_INS_JMP ? slot_behind(*target) : std::nullopt) {
      step.callee.name = image_.imported(*slot);
      step.leaves = true;
      return true;
    }
    if (i.kind() != X86_INS_JMP) step.to.push_back(i.next());
    step.to.push_back(*target);
    meets_.insert(step.to.begin(), step.to.end());
    return true;
  }

  bool find_call(Step& step, std::string& reason) {
    const Instruction& i = step.instruction;
    std::optional<std::uint64_t> slot = i.slot();
    if (const auto target = i.target()) slot = slot_behind(*target);
    if (slot)
      step.callee.name = image_.imported(*slot);
    else if (const auto target = i.target())
      step.callee.reads = reads_of(*target);
    if (step.callee.name == "omp_get_thread_num" || step.callee.name == "omp_get_num_threads") {
      step.callee.query = static_cast<int>(queries_.size());
      queries_.push_back(i.next());
    }
    const Function& function = function_of(i.address());
    if (!function.is_known) return reason = "goes on in a function that the unwind tables do not show", false;
    if (step.callee.name.find("setjmp") != std::string_view::npos) return reason = "calls setjmp()", false;
    for (const Function::Landing& landing : function.landings) {
      if (i.next() > landing.from && i.next() <= landing.to) step.pad = landing.pad;
    }
    if (step.pad) meets_.insert(*step.pad);
    // A call that never returns may be a function's last instruction.
    if (i.next() < function.end) step.to.push_back(i.next());
    return true;
  }

  /// The word through which this code jumps at once: a stub of the procedure linkage table.
  std::optional<std::uint64_t> slot_behind(std::uint64_t address) const {
    for (int i = 0; i < 2; ++i) {
      const std::optional<Instruction> there = decoder_.at(image_, address);
      if (!there) return std::nullopt;
      if (there->kind() == X86_INS_JMP) return there->slot();
      if (there->is_in(CS_GRP_JUMP) || there->is_in(CS_GRP_CALL) || there->next() - address != 4) return std::nullopt;
      address = there->next();  // past an endbr64
    }
    return std::nullopt;
  }

  /// General registers whose value at the entry this code may read, a bit each. All of them where it cannot be followed.
  std::uint32_t reads_of(std::uint64_t entry) {
    const auto [reads, is_new] = reads_.try_emplace(entry);
    if (is_new) reads->second = find_reads(entry);
    return reads->second;
  }

  std::uint32_t find_reads(std::uint64_t entry) const {
    constexpr std::uint32_t all = ~0u;
    std::uint32_t reads = 0;
    std::map<std::uint64_t, std::uint32_t> kept_at;  // registers that still hold what they held at the entry
    std::vector<std::pair<std::uint64_t, std::uint32_t>> open{{entry, all}};
    for (int count = 0; !open.empty(); ++count) {
      const auto [address, kept] = open.back();
      open.pop_back();
      std::uint32_t& known = kept_at[address];
      if ((kept & ~known) == 0) continue;
      known |= kept;
      const std::optional<Instruction> i = decoder_.at(image_, address);
      if (!i || count > kMostOfCallee) return all;
      reads |= i->reads() & kept;
      if (i->is_in(CS_GRP_RET)) reads |= kept & (1u << kRax | 1u << kRdx);  // what it returns
      if (i->is_in(CS_GRP_RET) || i->kind() == X86_INS_UD2 || i->kind() == X86_INS_HLT) continue;
      if (i->is_in(CS_GRP_CALL)) {
        reads |= kept & kArgumentRegisters;
        open.emplace_back(i->next(), kept & ~kLostByCalls);
        continue;
      }
      if (!i->is_in(CS_GRP_JUMP)) {
        open.emplace_back(i->next(), kept & ~i->writes());
        continue;
      }
      const std::optional<std::uint64_t> target = i->target();
      if (!target || slot_behind(*target)) reads |= kept & kArgumentRegisters;
      if (!target) return all;
      open.emplace_back(*target, kept);
      if (i->kind() != X86_INS_JMP) open.emplace_back(i->next(), kept);
    }
    return reads;
  }

  const Function& function_of(std::uint64_t address) {
    for (const Function& known : functions_) {
      if (address >= known.begin && address < known.end) return known;
    }
    return functions_.emplace_back(image_.function_at(address));
  }

  const Image& image_;
  const Decoder& decoder_;
  std::map<std::uint64_t, Step> steps_;
  std::set<std::uint64_t> meets_;
  std::vector<std::uint64_t> queries_;
  std::deque<Function> functions_;
  std::map<std::uint64_t, std::uint32_t> reads_;  // of functions, by their entry
};

class Interpretation {
 public:
  Interpretation(const Course& course, bool returns_nothing) : course_(course), returns_nothing_(returns_nothing) {}

  /// Until nothing new is learnt; then looks at what each instruction does.
  Findings run(std::uint64_t entry) {
    arrive(entry, State::at_entry());
    std::size_t visits = 0;
    while (!open_.empty()) {
      const std::uint64_t from = *open_.begin();
      open_.erase(open_.begin());
      visits += walk(from, nullptr);
      if (visits > kMostVisits) break;
    }
    Findings findings;
    if (!open_.empty()) {
      findings.add(0, "is too long a function", entry);
      return findings;
    }
    for (const auto& [from, state] : states_) walk(from, &findings);
    escapes_ = findings.escapes;
    if (const std::uint64_t sources = exposed())
      findings.add(sources, "has what depends on the team where others may look", entry);
    return findings;
  }

 private:
  void arrive(std::uint64_t address, State state) {
    const auto [known, is_new] = states_.try_emplace(address, state);
    if (!is_new) {
      State both = joined(known->second, state);
      if (both == known->second) return;
      known->second = std::move(both);
    }
    open_.insert(address);
  }

  /// From a place where ways meet to the next ones. With `findings`, only looks.
  std::size_t walk(std::uint64_t from, Findings* findings) {
    State state = states_.at(from);
    std::uint64_t address = from;
    for (std::size_t count = 1;; ++count) {
      const auto found = course_.steps().find(address);
      if (found == course_.steps().end()) return count;
      const Course::Step& step = found->second;
      Transition transition(step.instruction, step.callee, step.leaves, returns_nothing_, findings);
      std::optional<State> other;
      if (step.to.size() > 1) other = state;
      transition.apply(state, other ? &*other : nullptr);
      if (findings != nullptr) {
        note_words(state);
        check_thread_0(step, *findings);
      }
      if (findings == nullptr) {
        if (step.pad) arrive(*step.pad, state);
        if (other) arrive(step.to[1], *std::move(other));
      }
      if (step.to.empty()) return count;
      address = step.to[0];
      if (course_.is_meeting(address)) {
        if (findings == nullptr) arrive(address, std::move(state));
        return count;
      }
    }
  }

  // What thread 0 alone does is done in a team of any size; what all the others do may be left undone.
  void check_thread_0(const Course::Step& step, Findings& findings) const {
    if (findings.thread_0 == Findings::Side::none) return;
    const bool jumps = findings.thread_0 == Findings::Side::jumps;
    findings.thread_0 = Findings::Side::none;
    const std::uint64_t asking = findings.asking;
    const std::uint64_t zero = step.to[jumps ? 1 : 0], others = step.to[jumps ? 0 : 1];
    if (course_.has_more_effects(others, zero, step.instruction.address()))
      findings.add(asking, "has code for all threads but one", step.instruction.address());
  }

  void note_words(const State& state) {
    for (const auto& [place, word] : state.words) {
      if (!state.is_free(word.value)) words_[place] |= word.value.sources;
      if (word.value.kind == Value::Kind::frame) addresses_.insert({place, {word.value.origin, word.value.constant}});
    }
  }

  /// Queries that words depend on which can be reached from an address of the stack that left the function, be it by way of
  /// addresses in other words.
  std::uint64_t exposed() {
    for (Escapes before; !(before == escapes_);) {
      before = escapes_;
      for (const auto& [place, address] : addresses_) {
        if (escapes_.reach(place)) escapes_.add(Value::in_frame(address.origin, address.offset));
      }
    }
    std::uint64_t sources = 0;
    for (const auto& [place, its] : words_) {
      if (escapes_.reach(place)) sources |= its;
    }
    return sources;
  }

  const Course& course_;
  bool returns_nothing_;
  std::map<std::uint64_t, State> states_;
  std::set<std::uint64_t> open_;
  Escapes escapes_;
  std::map<State::Place, std::uint64_t> words_;                // that depend on the team, and on which queries
  std::set<std::pair<State::Place, State::Place>> addresses_;  // of the stack, in words of it
};

}  // namespace

Proof prove(const Image& image, std::uint64_t address, std::uint64_t body) {
  Proof proof;
  const Function function = image.function_at(address);
  proof.instruction = address;
  if (!function.is_known) {
    proof.reason = "is in no function that the unwind tables show";
    return proof;
  }
  static const Decoder& decoder = *new Decoder;  // as long as the process
  Course course(image, decoder);
  const bool right = course.follow(function.begin, proof.reason, proof.instruction);
  for (const std::uint64_t query : course.queries()) proof.queries.push_back({query, false});
  if (!right || proof.queries.empty()) return proof;
  const Findings findings = Interpretation(course, function.begin == body).run(function.begin);
  for (std::size_t n = 0; n < proof.queries.size(); ++n)
    proof.queries[n].proved = (findings.unproved >> std::min<std::size_t>(n, 63) & 1) == 0;
  proof.reason = findings.reason;
  proof.instruction = findings.instruction;
  return proof;
}

}  // namespace steelyard::partition
