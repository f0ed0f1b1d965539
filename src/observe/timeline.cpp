// SPDX-License-Identifier: BSD-3-Clause
#include "observe/timeline.h"

#include <algorithm>

namespace steelyard::observe {
namespace {

void append(Sample& sample, const Sample& next) {
  sample.end = next.end;
  sample.useful += next.useful;
  sample.omp_wait += next.omp_wait;
  sample.mpi_wait += next.mpi_wait;
  sample.lent += next.lent;
  sample.quiesced += next.quiesced;
  sample.gpu_wait += next.gpu_wait;
  sample.threads = next.threads;
}

}  // namespace

Timeline::Timeline(int most) : most_(most > 0 ? static_cast<std::size_t>(std::max(most, 2)) / 2 * 2 : 0) {
  samples_.reserve(most_);
}

void Timeline::add(const Sample& sample) {
  if (most_ == 0) return;
  if (in_last_ < stride_ && !samples_.empty()) {
    append(samples_.back(), sample);
    ++in_last_;
    return;
  }
  if (samples_.size() == most_) {
    for (std::size_t i = 0; i < most_ / 2; ++i) {
      samples_[i] = samples_[2 * i];
      append(samples_[i], samples_[2 * i + 1]);
    }
    samples_.resize(most_ / 2);
    stride_ *= 2;
  }
  samples_.push_back(sample);
  in_last_ = 1;
}

}  // namespace steelyard::observe
