// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/small_world.h"

#include <algorithm>
#include <cmath>

namespace steelyard::tasks {
namespace {

/// The largest number whose balanced digits are at most m[i].
std::int64_t reach_of(const std::vector<std::int64_t>& m) {
  std::int64_t scale = 1, reach = 0;
  for (const std::int64_t digit : m) {
    reach += digit * scale;
    scale *= 2 * digit + 1;
  }
  return reach;
}

/// The largest digits with which numbers up to `reach` need the fewest digits, i.e. hops, of `links` links. Empty if
/// there are too few links.
std::vector<std::int64_t> digits_for(std::int64_t reach, std::int64_t links) {
  for (std::int64_t count = 1; count <= links; ++count) {
    std::vector<std::int64_t> m(static_cast<std::size_t>(count), links / count);
    for (std::int64_t i = 0; i < links % count; ++i) ++m[static_cast<std::size_t>(i)];
    if (reach_of(m) < reach) continue;
    // What the last digit does not need goes to the others: then they are 0 more rarely, but the last more often.
    for (std::size_t next = 0; count > 1; next = (next + 1) % (m.size() - 1)) {
      std::vector<std::int64_t> moved = m;
      --moved.back();
      ++moved[next];
      if (moved.back() < 1 || reach_of(moved) < reach || moved.back() < moved.front() - 1) break;
      m = moved;
    }
    return m;
  }
  return {};
}

/// The distances of the links of a vertex, ascending.
std::vector<std::int64_t> steps_for(std::int64_t vertices, std::int64_t links) {
  const std::int64_t reach = vertices / 2;
  std::vector<std::int64_t> steps;
  if (links >= reach) {
    for (std::int64_t step = 1; step <= reach; ++step) steps.push_back(step);
    return steps;
  }
  const std::vector<std::int64_t> digits = digits_for(reach, links);
  std::int64_t scale = 1;
  for (const std::int64_t m : digits) {
    const std::int64_t below = scale / 2;  // the largest number of the digits before
    for (std::int64_t j = 1; j <= m && (steps.empty() || steps.back() + below < reach); ++j) {
      steps.push_back(std::min(j * scale, reach));
    }
    scale *= 2 * m + 1;
  }
  if (digits.empty()) {  // too few links for digits: one at each scale
    for (std::int64_t i = 0; i < links; ++i) {
      const double step = std::pow(static_cast<double>(reach), static_cast<double>(i) / static_cast<double>(links));
      steps.push_back(std::max(i + 1, static_cast<std::int64_t>(std::lround(step))));
    }
  }
  return steps;
}

}  // namespace

int SmallWorld::default_degree(std::int64_t vertices) {
  const double links = 4 * std::log2(static_cast<double>(std::max<std::int64_t>(vertices, 2)));
  return 2 * static_cast<int>(std::ceil(links / 2));
}

SmallWorld::SmallWorld(std::int64_t vertices, int degree)
    : Overlay(vertices),
      steps_(steps_for(vertices, std::max(1, (degree > 0 ? degree : default_degree(vertices)) / 2))) {}

std::size_t SmallWorld::nearest_step(std::int64_t distance) const {
  const auto above = std::lower_bound(steps_.begin(), steps_.end(), distance);
  const auto index = static_cast<std::size_t>(above - steps_.begin());
  if (index == 0) return 0;
  if (index == steps_.size()) return index - 1;
  return *above - distance < distance - steps_[index - 1] ? index : index - 1;
}

std::vector<std::int64_t> SmallWorld::neighbours(std::int64_t vertex) const {
  std::vector<std::int64_t> found;
  for (const std::int64_t step : steps_) {
    found.push_back((vertex + step) % size());
    if (2 * step != size()) found.push_back((vertex - step + size()) % size());
  }
  return found;
}

std::int64_t SmallWorld::next(std::int64_t from, std::int64_t to) const {
  if (from == to) return to;
  const std::int64_t way = distance(from, to);
  const std::int64_t step = steps_[nearest_step(std::abs(way))];
  return (from + (way > 0 ? step : -step) + size()) % size();
}

std::int64_t SmallWorld::slot(std::int64_t from, std::int64_t to) const {
  const std::int64_t way = distance(from, to);
  return 2 * static_cast<std::int64_t>(nearest_step(std::abs(way))) + (way < 0 ? 1 : 0);
}

}  // namespace steelyard::tasks
