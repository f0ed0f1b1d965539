// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <utility>

#include "steelyard/regions.h"
#include "steelyard/steelyard.hpp"

/// @file
/// The regions of steelyard/regions.h for C++17, header only.
///
///     {
///       steelyard::ScopedRegion region("solve");
///       solve();
///     }
namespace steelyard {

/// Begins a region. Local; primary thread only. See steelyard_region_begin().
/// @return Status::success, or Status::inactive without `steelyard run`
/// @throws Error if the name is wrong, if the region is open, in another thread, or inside a parallel region
inline Status region_begin(const std::string& name) {
  const steelyard_status_t status = steelyard_region_begin(name.c_str());
  detail::check(status);
  return static_cast<Status>(status);
}

/// Ends the innermost open region. Local; primary thread only. See steelyard_region_end().
/// @return Status::success, or Status::inactive without `steelyard run`
/// @throws Error if it is not the innermost open region, in another thread, or inside a parallel region
inline Status region_end(const std::string& name) {
  const steelyard_status_t status = steelyard_region_end(name.c_str());
  detail::check(status);
  return static_cast<Status>(status);
}

/// A region that lasts as long as the object.
class ScopedRegion {
 public:
  /// @param name of the region
  /// @throws Error as region_begin()
  explicit ScopedRegion(std::string name) : name_(std::move(name)), open_(region_begin(name_) == Status::success) {}
  /// Ends the region unless end() has.
  ~ScopedRegion() {
    if (open_) (void)steelyard_region_end(name_.c_str());
  }
  ScopedRegion(const ScopedRegion&) = delete;
  ScopedRegion& operator=(const ScopedRegion&) = delete;
  /// Ends the region before the object's end. The second call does nothing.
  /// @throws Error as region_end()
  void end() {
    if (std::exchange(open_, false)) region_end(name_);
  }

 private:
  std::string name_;
  bool open_;
};

/// Pauses the measurement. Local; primary thread only. See steelyard_pause().
/// @return Status::success, or Status::inactive without `steelyard run`
/// @throws Error if it is paused, in a phase, in another thread, or inside a parallel region
inline Status pause() {
  const steelyard_status_t status = steelyard_pause();
  detail::check(status);
  return static_cast<Status>(status);
}

/// Resumes the measurement. Local; primary thread only. See steelyard_resume().
/// @return Status::success, or Status::inactive without `steelyard run`
/// @throws Error if it is not paused, in a phase, in another thread, or inside a parallel region
inline Status resume() {
  const steelyard_status_t status = steelyard_resume();
  detail::check(status);
  return static_cast<Status>(status);
}

/// The measurement is paused as long as the object lives.
class ScopedPause {
 public:
  /// @throws Error as pause()
  ScopedPause() : paused_(pause() == Status::success) {}
  /// Resumes the measurement.
  ~ScopedPause() {
    if (paused_) (void)steelyard_resume();
  }
  ScopedPause(const ScopedPause&) = delete;
  ScopedPause& operator=(const ScopedPause&) = delete;

 private:
  bool paused_;
};

}  // namespace steelyard
