// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/routes.h"

namespace steelyard::tasks {

int Routes::server(int node, int other) const {
  return placement_.rank(node, static_cast<int>(overlay_->slot(node, other) % placement_.node_size(node)));
}

int Routes::next(int rank, int owner) const {
  const int here = placement_.node(rank), there = placement_.node(owner);
  if (here == there) return owner;
  const int hop = static_cast<int>(overlay_->next(here, there));
  const int link_server = server(here, hop);
  return rank == link_server ? server(hop, here) : link_server;
}

Routes::Way Routes::way(int rank, int owner) const {
  Way way{next(rank, owner), 0};
  for (int at = way.rank; at != owner; at = next(at, owner)) ++way.further;
  return way;
}

Routes::Duties Routes::duties(int rank) const {
  Duties duties;
  const int here = placement_.node(rank);
  duties.reports = here == 0 && placement_.local(rank) == 0;
  for (const std::int64_t neighbour : overlay_->neighbours(here)) {
    const int there = static_cast<int>(neighbour);
    const bool below = there != 0 && overlay_->parent(there) == here;
    duties.children_of_node += below ? 1 : 0;
    const int peer = server(there, here);
    duties.links.push_back({there, placement_.local(server(here, there)), peer});
    if (server(here, there) != rank) continue;
    duties.peers.push_back(peer);
    if (below) duties.children.push_back(peer);
    if (here != 0 && overlay_->parent(here) == there) {
      duties.parent = peer;
      duties.reports = true;
    }
  }
  return duties;
}

}  // namespace steelyard::tasks
