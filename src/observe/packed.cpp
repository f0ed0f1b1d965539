// SPDX-License-Identifier: BSD-3-Clause
#include "observe/packed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <tuple>

namespace steelyard::observe {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string to_base64(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t here = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k) word = word << 8 | (k < here ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= here ? kLetters[word >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

/// False where it is no base64.
bool from_base64(std::string_view text, std::vector<std::uint8_t>& bytes) {
  bytes.clear();
  if (text.size() % 4 != 0) return false;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  text.remove_suffix(padding);
  static const auto values = [] {
    std::array<std::uint8_t, 256> table;
    table.fill(64);
    for (std::size_t i = 0; i < kLetters.size(); ++i) table[static_cast<std::uint8_t>(kLetters[i])] = i;
    return table;
  }();
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t word = 0;
  int bits = 0;
  for (const char letter : text) {
    const std::uint8_t value = values[static_cast<std::uint8_t>(letter)];
    if (value > 63) return false;
    word = word << 6 | value;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<std::uint8_t>(word >> bits));
  }
  return true;
}

/// Writes numbers of `Word`'s size, the lowest byte first.
template <class Word>
class Column {
 public:
  explicit Column(std::size_t samples) { bytes_.reserve(samples * sizeof(Word)); }
  void add(Word word) {
    any_ |= word != 0;
    for (std::size_t i = 0; i < sizeof(Word); ++i) bytes_.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
  }
  /// The number as it will be read.
  double add(double value) {
    const float kept = std::isfinite(value) ? static_cast<float>(std::max(value, 0.0)) : 0;
    add(std::bit_cast<std::uint32_t>(kept));
    return kept;
  }
  bool any() const { return any_; }
  std::string text() const { return to_base64(bytes_); }

 private:
  std::vector<std::uint8_t> bytes_;
  bool any_ = false;
};

/// Hands each number to `take`.
template <class Word, class Take>
base::Status each(const char* name, const std::string& text, long samples, Take&& take) {
  std::vector<std::uint8_t> bytes;
  if (!from_base64(text, bytes)) return base::Status::failure(fmt::format("{}: not base64", name));
  const auto expected = static_cast<std::size_t>(samples) * sizeof(Word);
  if (bytes.size() != expected) {
    return base::Status::failure(
        fmt::format("{}: expected {} bytes for {} samples, found {}", name, expected, samples, bytes.size()));
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(samples); ++i) {
    Word word = 0;
    for (std::size_t k = 0; k < sizeof(Word); ++k)
      word |= static_cast<Word>(Word{bytes[i * sizeof(Word) + k]} << (8 * k));
    if (!take(i, word)) return base::Status::failure(fmt::format("{}: a number that is negative or not finite", name));
  }
  return {};
}

base::Status floats(const char* name, const std::string& text, std::vector<Sample>& samples, double Sample::* member) {
  return each<std::uint32_t>(name, text, static_cast<long>(samples.size()), [&](std::size_t i, std::uint32_t word) {
    const float value = std::bit_cast<float>(word);
    samples[i].*member = value;
    return std::isfinite(value) && value >= 0;
  });
}

}  // namespace

PackedTimeline pack(const std::vector<Sample>& samples) {
  PackedTimeline packed;
  packed.samples = static_cast<long>(samples.size());
  if (!samples.empty()) packed.start = std::max(samples.front().start, 0.0);
  const std::size_t count = samples.size();
  Column<std::uint32_t> length(count), useful(count), omp_wait(count), mpi_wait(count), lent(count), quiesced(count),
      gpu_wait(count);
  Column<std::uint16_t> threads(count);
  double end = packed.start;
  for (const Sample& sample : samples) {
    end += length.add(sample.end - end);  // from where a reader believes to be, so that rounding does not add up
    useful.add(sample.useful);
    omp_wait.add(sample.omp_wait);
    mpi_wait.add(sample.mpi_wait);
    lent.add(sample.lent);
    quiesced.add(sample.quiesced);
    gpu_wait.add(sample.gpu_wait);
    threads.add(static_cast<std::uint16_t>(std::clamp(sample.threads, 0, UINT16_MAX)));
  }
  packed.length = length.text();
  packed.useful = useful.text();
  packed.omp_wait = omp_wait.text();
  packed.mpi_wait = mpi_wait.text();
  if (lent.any()) packed.lent = lent.text();
  if (quiesced.any()) packed.quiesced = quiesced.text();
  if (gpu_wait.any()) packed.gpu_wait = gpu_wait.text();
  packed.threads = threads.text();
  return packed;
}

base::Status unpack(const PackedTimeline& packed, std::vector<Sample>& samples) {
  // 16-bit threads are the smallest column: more samples than that has letters are not there.
  if (packed.samples < 0 || static_cast<std::size_t>(packed.samples) > packed.threads.size()) {
    return base::Status::failure(fmt::format("samples: {} are not in the columns", packed.samples));
  }
  if (!std::isfinite(packed.start) || packed.start < 0) return base::Status::failure("start: negative or not finite");
  std::vector<Sample> read(static_cast<std::size_t>(packed.samples));
  // The length stands where the end will.
  for (const auto& [name, text, member] : {std::tuple{"length", &packed.length, &Sample::end},
                                           {"useful", &packed.useful, &Sample::useful},
                                           {"omp_wait", &packed.omp_wait, &Sample::omp_wait},
                                           {"mpi_wait", &packed.mpi_wait, &Sample::mpi_wait},
                                           {"lent", &packed.lent, &Sample::lent},
                                           {"quiesced", &packed.quiesced, &Sample::quiesced},
                                           {"gpu_wait", &packed.gpu_wait, &Sample::gpu_wait}}) {
    const bool left_out =
        text->empty() && (text == &packed.lent || text == &packed.quiesced || text == &packed.gpu_wait);
    if (left_out) continue;
    if (base::Status good = floats(name, *text, read, member); !good) return good;
  }
  base::Status good =
      each<std::uint16_t>("threads", packed.threads, packed.samples, [&](std::size_t i, std::uint16_t n) {
        read[i].threads = n;
        return true;
      });
  if (!good) return good;
  double end = packed.start;
  for (Sample& sample : read) {
    sample.start = end;
    end += sample.end;
    sample.end = end;
  }
  samples = std::move(read);
  return {};
}

}  // namespace steelyard::observe
