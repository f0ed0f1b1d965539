// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/router.h"

#include <algorithm>

namespace steelyard::tasks {

bool Router::place(const Record& record, const char* bytes) {
  if (record.owner == rank_) return carrier_.deliver(record, bytes);
  const Routes::Way way = carrier_.way(record.owner);
  Lane& lane = lanes_[{way.further, way.rank}];
  const bool full = !lane.records.empty() && lane.records.size() + size_of(record) > capacity_;
  if (full && !send(way.rank, way.further, lane)) return false;
  append(lane.records, record, bytes);
  return true;
}

bool Router::send(int rank, int further, Lane& lane) {
  if (lane.under_way >= outstanding_) return false;
  ++lane.under_way;
  carrier_.carry(rank, further, lane.records);
  lane.records.clear();
  return true;
}

void Router::post(const Record& record, const char* bytes) {
  // Kept results go first: otherwise, a stream of new ones could keep them back for ever.
  if (!kept_.empty() || !place(record, bytes)) append(kept_, record, bytes);
}

void Router::arrive(Parcel parcel) {
  auto& list = waiting_[parcel.further];
  list.push_back(std::move(parcel));
  if (list.back().block == 0) list.back().records = list.back().bytes.data();
}

void Router::acknowledged(int rank, int further) { --lanes_[{further, rank}].under_way; }

void Router::hand_on(Parcel& parcel) {
  parcel.done += for_each_record(parcel.records + parcel.done, parcel.size - parcel.done,
                                 [&](const Record& record, const char* bytes) { return place(record, bytes); });
}

void Router::pump(bool flush) {
  for (auto& [further, list] : waiting_) {  // the lowest class first
    for (auto parcel = list.begin(); parcel != list.end();) {
      hand_on(*parcel);
      if (parcel->done < parcel->size) {
        ++parcel;
        continue;
      }
      if (parcel->from >= 0) carrier_.acknowledge(*parcel);
      parcel = list.erase(parcel);
    }
  }
  if (!kept_.empty()) {
    kept_done_ += for_each_record(kept_.data() + kept_done_, kept_.size() - kept_done_,
                                  [&](const Record& record, const char* bytes) { return place(record, bytes); });
    if (kept_done_ > kept_.size() / 2) {
      kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(kept_done_));
      kept_done_ = 0;
    }
  }
  for (auto& [way, lane] : lanes_) {
    if (!lane.records.empty() && (flush || lane.records.size() >= capacity_)) send(way.second, way.first, lane);
  }
}

bool Router::congested() const {
  const auto handed_in = waiting_.find(kSource);
  return kept_.size() > capacity_ || (handed_in != waiting_.end() && !handed_in->second.empty());
}

bool Router::empty() const {
  return kept_.empty() &&
         std::all_of(waiting_.begin(), waiting_.end(), [](const auto& w) { return w.second.empty(); }) &&
         std::all_of(lanes_.begin(), lanes_.end(),
                     [](const auto& lane) { return lane.second.records.empty() && lane.second.under_way == 0; });
}

}  // namespace steelyard::tasks
