// SPDX-License-Identifier: BSD-3-Clause
#include "partition/unwind.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace steelyard::partition {

namespace {

// How a table writes a pointer (DW_EH_PE_*).
constexpr std::uint8_t kOmitted = 0xff, kIndirect = 0x80, kFormat = 0x0f, kRelation = 0x70;
constexpr std::uint8_t kOfItself = 0x10, kOfHeader = 0x30;
constexpr std::uint8_t kOfHeaderAsFourBytes = 0x3b;

/// Reads one after the other, and remembers if something was not there.
class Reader {
 public:
  Reader(const Image& image, std::uint64_t address) : address_(address), bytes_(image.bytes(address)) {}

  bool is_right() const { return right_; }
  std::uint64_t address() const { return address_ + at_; }

  template <typename T>
  T next() {
    T value{};
    if (at_ > bytes_.size || bytes_.size - at_ < sizeof value) {
      right_ = false;
      return value;
    }
    std::memcpy(&value, bytes_.data + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  std::uint64_t variable() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; right_ && shift < 64; shift += 7) {
      const auto byte = next<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    right_ = false;
    return 0;
  }

  std::string text() {
    std::string result;
    for (char c = next<char>(); right_ && c != '\0'; c = next<char>()) result += c;
    return result;
  }

  /// 0 for an omitted pointer, and for one that is written as 0.
  std::uint64_t pointer(std::uint8_t encoding, std::uint64_t header = 0) {
    if (encoding == kOmitted) return 0;
    const std::uint64_t here = address();
    const std::uint64_t raw = number(encoding & kFormat);
    if (raw == 0) return 0;
    switch (encoding & kRelation) {
      case 0: return raw;
      case kOfItself: return here + raw;
      case kOfHeader: return header + raw;
      default: right_ = false; return 0;
    }
  }

  std::uint64_t number(std::uint8_t format) {
    switch (format) {
      case 0x00:
      case 0x04:
      case 0x0c: return next<std::uint64_t>();
      case 0x01: return variable();
      case 0x02: return next<std::uint16_t>();
      case 0x03: return next<std::uint32_t>();
      case 0x0a: return static_cast<std::uint64_t>(next<std::int16_t>());
      case 0x0b: return static_cast<std::uint64_t>(next<std::int32_t>());
      default: right_ = false; return 0;
    }
  }

  void skip(std::uint64_t bytes) { at_ += bytes; }

 private:
  std::uint64_t address_;
  Image::Bytes bytes_;
  std::uint64_t at_ = 0;
  bool right_ = true;
};

/// What a common information entry says of the descriptions that refer to it.
struct Common {
  std::uint8_t of_pointers = 0, of_landings = kOmitted;
  bool has_augmentation = false;
};

bool read_common(const Image& image, std::uint64_t address, Common& common) {
  Reader reader(image, address);
  reader.next<std::uint32_t>();  // length
  if (reader.next<std::uint32_t>() != 0) return false;
  const auto version = reader.next<std::uint8_t>();
  const std::string augmentation = reader.text();
  reader.variable();  // code alignment
  reader.variable();  // data alignment: of another sign, but as long
  version == 1 ? static_cast<void>(reader.next<std::uint8_t>()) : static_cast<void>(reader.variable());
  for (const char c : augmentation) {
    switch (c) {
      case 'z':
        reader.variable();
        common.has_augmentation = true;
        break;
      case 'R': common.of_pointers = reader.next<std::uint8_t>(); break;
      case 'L': common.of_landings = reader.next<std::uint8_t>(); break;
      case 'P': reader.pointer(reader.next<std::uint8_t>() & static_cast<std::uint8_t>(~kIndirect)); break;
      case 'S': break;
      default: return false;
    }
  }
  return reader.is_right();
}

/// True unless a description begins (with this instruction) by what differs from the entry of a function.
bool is_at_entry(std::uint8_t instruction) {
  constexpr std::uint8_t nop = 0, set_location = 1, last_advance = 4, advance = 0x40, operation = 0xc0;
  return instruction == nop || (instruction >= set_location && instruction <= last_advance) ||
         (instruction & operation) == advance;
}

}  // namespace

Unwind::Unwind(const Image& image, std::uint64_t header) : image_(image), header_(header) {
  if (header == 0) return;
  Reader reader(image, header);
  const auto version = reader.next<std::uint8_t>(), of_frames = reader.next<std::uint8_t>();
  const auto of_count = reader.next<std::uint8_t>(), of_rows = reader.next<std::uint8_t>();
  reader.pointer(of_frames, header);
  const std::uint64_t count = reader.pointer(of_count, header);
  if (!reader.is_right() || version != 1 || of_rows != kOfHeaderAsFourBytes || reader.address() != header + 12) return;
  rows_ = std::min(count, image.bytes(header).size / 8);  // each has 8 bytes
}

Unwind::Row Unwind::row(std::uint64_t index) const {
  Reader reader(image_, header_ + 12 + 8 * index);
  const std::uint64_t begin = reader.pointer(kOfHeaderAsFourBytes, header_);
  const std::uint64_t description = reader.pointer(kOfHeaderAsFourBytes, header_);
  return reader.is_right() ? Row{begin, description} : Row{UINT64_MAX, 0};
}

Function Unwind::function_at(std::uint64_t address) const {
  std::uint64_t low = 0, high = rows_;  // the last one that begins at `address` or before it
  while (low < high) {
    const std::uint64_t middle = (low + high) / 2;
    row(middle).begin <= address ? low = middle + 1 : high = middle;
  }
  Function function;
  if (low == 0) return function;
  function.is_known =
      read_description(row(low - 1).description, function) && address >= function.begin && address < function.end;
  return function;
}

bool Unwind::read_description(std::uint64_t address, Function& function) const {
  Reader reader(image_, address);
  const auto length = reader.next<std::uint32_t>();
  const std::uint64_t here = reader.address();
  const auto back = reader.next<std::uint32_t>();
  Common common;
  if (!reader.is_right() || length == 0 || length == UINT32_MAX || !read_common(image_, here - back, common))
    return false;
  function.begin = reader.pointer(common.of_pointers);
  function.end = function.begin + reader.number(common.of_pointers & kFormat);
  const std::uint64_t size = common.has_augmentation ? reader.variable() : 0;
  const std::uint64_t instructions = reader.address() + size;
  const std::uint64_t landings = reader.pointer(common.of_landings);
  if (!reader.is_right() || function.begin >= function.end) return false;
  function.is_part = instructions < here + length && !is_at_entry(Reader(image_, instructions).next<std::uint8_t>());
  return landings == 0 || read_landings(landings, function);
}

bool Unwind::read_landings(std::uint64_t table, Function& function) const {
  Reader reader(image_, table);
  const std::uint64_t pads = reader.pointer(reader.next<std::uint8_t>());
  const std::uint64_t base = pads != 0 ? pads : function.begin;
  if (reader.next<std::uint8_t>() != kOmitted) reader.variable();  // where the table of types is
  const std::uint8_t format = reader.next<std::uint8_t>() & kFormat;
  const std::uint64_t size = reader.variable();
  const std::uint64_t end = reader.address() + size;
  while (reader.is_right() && reader.address() < end) {
    const std::uint64_t from = function.begin + reader.number(format);
    const std::uint64_t to = from + reader.number(format);
    const std::uint64_t pad = reader.number(format);
    reader.variable();  // what it does there
    if (pad != 0) function.landings.push_back({from, to, base + pad});
  }
  return reader.is_right();
}

}  // namespace steelyard::partition
