// SPDX-License-Identifier: BSD-3-Clause
#include "cli/gathering.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <string_view>
#include <thread>

namespace steelyard::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// Encoding: ends a text that is complete, and answers it. No text of the doctor has it.
constexpr char kEnd = '\0';

/// The nearest process above this one of that name, as /proc shows it; 0 if there is none.
int ancestor_named(std::string_view name) {
  for (int pid = getppid(); pid > 1;) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    const std::string stat{std::istreambuf_iterator<char>(file), {}};  // "12 (a name) S 11 ..."
    const auto begin = stat.find('('), end = stat.rfind(')');
    if (begin == std::string::npos || end == std::string::npos || end < begin) return 0;
    if (std::string_view(stat).substr(begin + 1, end - begin - 1) == name) return pid;
    char state = 0;
    pid = std::sscanf(stat.c_str() + end + 1, " %c %d", &state, &pid) == 2 ? pid : 0;
  }
  return 0;
}

sockaddr_un address_of(const std::string& name, socklen_t& length) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // The first byte stays 0: no file. Names of jobs can be longer than the rest.
  const auto text = fmt::format("steelyard-doctor-{}-{:x}", getuid(), std::hash<std::string>()(name));
  const auto size = std::min(text.size(), sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path + 1, text.data(), size);
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  return address;
}

int new_socket() { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }

bool is_of_this_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == getuid();
}

/// False once `end` has come, if there is an end.
bool wait_readable(int socket, std::optional<Clock::time_point> end) {
  for (;;) {
    const auto left = end ? std::chrono::ceil<std::chrono::milliseconds>(*end - Clock::now()).count() : -1;
    if (end && left <= 0) return false;
    pollfd wanted{socket, POLLIN, 0};
    const int ready = poll(&wanted, 1, static_cast<int>(left));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

/// Up to kEnd; nothing if the other side ends before, or if that does not come in time.
std::optional<std::string> receive_text(int socket, std::optional<Clock::time_point> end) {
  std::string text;
  char bytes[4096];
  while (wait_readable(socket, end)) {
    const auto got = recv(socket, bytes, sizeof(bytes), 0);
    if (got <= 0) return std::nullopt;
    text.append(bytes, static_cast<std::size_t>(got));
    if (text.back() != kEnd) continue;
    text.pop_back();
    return text;
  }
  return std::nullopt;
}

bool send_text(int socket, const std::string& text) {
  const std::string bytes = text + kEnd;
  for (std::size_t sent = 0; sent < bytes.size();) {
    const auto done = send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    sent += static_cast<std::size_t>(done);
  }
  return true;
}

}  // namespace

std::string name_on_node(const base::Environment& environment, const Launcher& launcher) {
  const auto value = [&](std::string_view variable) { return base::value_of(environment, variable); };
  switch (launcher.kind) {
    case Launcher::Kind::openmpi:
      return value("PMIX_NAMESPACE").empty() ? "" : fmt::format("openmpi {}", value("PMIX_NAMESPACE"));
    case Launcher::Kind::hydra: {
      const int proxy = ancestor_named("hydra_pmi_proxy");  // of MPICH and Intel MPI: one on each node
      return proxy > 0 ? fmt::format("hydra {}", proxy) : "";
    }
    case Launcher::Kind::slurm:
      if (value("SLURM_JOB_ID").empty()) return "";
      return fmt::format("slurm {}.{} {}", value("SLURM_JOB_ID"), value("SLURM_STEP_ID"), value("SLURM_NODEID"));
    case Launcher::Kind::flux:
    case Launcher::Kind::none: break;
  }
  return "";
}

Gathering::Gathering(const std::string& name, int rank_on_node, int ranks)
    : name_(ranks > 1 && rank_on_node >= 0 && rank_on_node < ranks ? name : ""),
      first_(rank_on_node == 0),
      ranks_(ranks) {
  if (name_.empty() || !first_) return;
  listener_ = new_socket();
  socklen_t length = 0;
  const auto address = address_of(name_, length);
  const bool listens = listener_ >= 0 && bind(listener_, reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
                       listen(listener_, SOMAXCONN) == 0;
  if (!listens) name_.clear();
}

Gathering::~Gathering() {
  for (const int other : others_) close(other);
  if (listener_ >= 0) close(listener_);
}

void Gathering::receive(std::vector<std::string>& texts, Clock::time_point end) {
  while (static_cast<int>(texts.size()) < ranks_ && wait_readable(listener_, end)) {
    const int other = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (other < 0) continue;
    auto text = is_of_this_user(other) ? receive_text(other, end) : std::nullopt;
    if (!text) {
      close(other);
      continue;
    }
    others_.push_back(other);
    texts.push_back(*std::move(text));
  }
}

bool Gathering::hand_over(const std::string& own, Clock::time_point end) const {
  socklen_t length = 0;
  const auto address = address_of(name_, length);
  for (;; std::this_thread::sleep_for(std::chrono::milliseconds(10))) {
    const int first = new_socket();
    if (first < 0) return false;
    bool taken = false;
    const bool connected = connect(first, reinterpret_cast<const sockaddr*>(&address), length) == 0;
    // The first rank answers when it has printed. If it ends before, the socket does, too.
    if (connected) taken = is_of_this_user(first) && send_text(first, own) && receive_text(first, std::nullopt);
    close(first);
    if (connected || Clock::now() >= end) return taken;
  }
}

std::vector<std::string> Gathering::gather(const std::string& own, std::chrono::milliseconds patience) {
  if (name_.empty()) return {own};
  const auto end = Clock::now() + patience;
  if (!first_) return hand_over(own, end) ? std::vector<std::string>() : std::vector<std::string>{own};
  std::vector<std::string> texts{own};
  receive(texts, end);
  return texts;
}

void Gathering::finish() {
  for (const int other : others_) send_text(other, "");
}

}  // namespace steelyard::cli
