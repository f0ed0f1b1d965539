// SPDX-License-Identifier: BSD-3-Clause
#include "partition/unwind.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace steelyard::partition {

namespace {

/// The encoding of a pointer: DW_EH_PE_* of the Linux Standard Base, "DWARF Extensions".
namespace encoding {
enum : std::uint8_t {
  absptr = 0x00,
  uleb128 = 0x01,
  udata2 = 0x02,
  udata4 = 0x03,
  udata8 = 0x04,
  sdata2 = 0x0a,
  sdata4 = 0x0b,
  sdata8 = 0x0c,
  format = 0x0f,  ///< the bits of the above
  pcrel = 0x10,
  datarel = 0x30,
  relation = 0x70,  ///< the bits of the above two
  indirect = 0x80,
  omit = 0xff
};
}  // namespace encoding
/// Call frame instructions: DW_CFA_* of DWARF 5, section 7.24.
namespace cfa {
enum : std::uint8_t { nop = 0, set_loc = 1, advance_loc4 = 4, advance_loc = 0x40, operation = 0xc0 };
}
/// Sizes in .eh_frame_hdr with a table of encoding::datarel | encoding::sdata4 (Linux Standard Base): the header before
/// the table, and a row of it.
enum HeaderSize : std::uint64_t { kBeforeRows = 12, kRow = 8 };
constexpr std::uint8_t kRowPointer = encoding::datarel | encoding::sdata4;

/// Reads values one after the other. After the end of the bytes, or a value that it does not know, is_right() is false.
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

  /// A number in LEB128, unsigned.
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

  /// An encoded pointer; 0 if it is omitted or null.
  /// @param header address of .eh_frame_hdr, for encoding::datarel
  std::uint64_t pointer(std::uint8_t how, std::uint64_t header = 0) {
    if (how == encoding::omit) return 0;
    const std::uint64_t here = address();
    const std::uint64_t raw = number(how & encoding::format);
    if (raw == 0) return 0;
    switch (how & encoding::relation) {
      case encoding::absptr: return raw;
      case encoding::pcrel: return here + raw;
      case encoding::datarel: return header + raw;
      default: right_ = false; return 0;
    }
  }

  /// @param format the bits encoding::format
  std::uint64_t number(std::uint8_t format) {
    switch (format) {
      case encoding::absptr:
      case encoding::udata8:
      case encoding::sdata8: return next<std::uint64_t>();
      case encoding::uleb128: return variable();
      case encoding::udata2: return next<std::uint16_t>();
      case encoding::udata4: return next<std::uint32_t>();
      case encoding::sdata2: return static_cast<std::uint64_t>(next<std::int16_t>());
      case encoding::sdata4: return static_cast<std::uint64_t>(next<std::int32_t>());
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

/// What a common information entry (CIE) says of the descriptions that refer to it: encodings of pointers.
struct Common {
  std::uint8_t of_pointers = 0, of_landings = encoding::omit;
  bool has_augmentation = false;
};

bool read_common(const Image& image, std::uint64_t address, Common& common) {
  Reader reader(image, address);
  reader.next<std::uint32_t>();  // length
  if (reader.next<std::uint32_t>() != 0) return false;
  const auto version = reader.next<std::uint8_t>();
  const std::string augmentation = reader.text();
  reader.variable();  // code alignment
  reader.variable();  // data alignment: signed, but of the same length
  version == 1 ? static_cast<void>(reader.next<std::uint8_t>()) : static_cast<void>(reader.variable());
  for (const char c : augmentation) {
    switch (c) {
      case 'z':
        reader.variable();
        common.has_augmentation = true;
        break;
      case 'R': common.of_pointers = reader.next<std::uint8_t>(); break;
      case 'L': common.of_landings = reader.next<std::uint8_t>(); break;
      case 'P': reader.pointer(reader.next<std::uint8_t>() & static_cast<std::uint8_t>(~encoding::indirect)); break;
      case 'S': break;
      default: return false;
    }
  }
  return reader.is_right();
}

/// True if a description that begins with this instruction begins in the state at the entry of a function. A part that
/// was split off a function begins in another.
bool is_at_entry(std::uint8_t instruction) {
  return instruction == cfa::nop || (instruction >= cfa::set_loc && instruction <= cfa::advance_loc4) ||
         (instruction & cfa::operation) == cfa::advance_loc;
}

}  // namespace

UnwindTable::UnwindTable(const Image& image, std::uint64_t header) : image_(image), header_(header) {
  if (header == 0) return;
  Reader reader(image, header);
  const auto version = reader.next<std::uint8_t>(), of_frames = reader.next<std::uint8_t>();
  const auto of_count = reader.next<std::uint8_t>(), of_rows = reader.next<std::uint8_t>();
  reader.pointer(of_frames, header);
  const std::uint64_t count = reader.pointer(of_count, header);
  if (!reader.is_right() || version != 1 || of_rows != kRowPointer || reader.address() != header + kBeforeRows) return;
  rows_ = std::min(count, image.bytes(header).size / kRow);
}

UnwindTable::Row UnwindTable::row(std::uint64_t index) const {
  Reader reader(image_, header_ + kBeforeRows + kRow * index);
  const std::uint64_t begin = reader.pointer(kRowPointer, header_);
  const std::uint64_t description = reader.pointer(kRowPointer, header_);
  return reader.is_right() ? Row{begin, description} : Row{UINT64_MAX, 0};
}

Function UnwindTable::function_at(std::uint64_t address) const {
  std::uint64_t low = 0, high = rows_;  // binary search for the last row that begins at `address` or before it
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

bool UnwindTable::read_description(std::uint64_t address, Function& function) const {
  Reader reader(image_, address);
  const auto length = reader.next<std::uint32_t>();
  const std::uint64_t here = reader.address();
  const auto back = reader.next<std::uint32_t>();
  Common common;
  if (!reader.is_right() || length == 0 || length == UINT32_MAX || !read_common(image_, here - back, common))
    return false;
  function.begin = reader.pointer(common.of_pointers);
  function.end = function.begin + reader.number(common.of_pointers & encoding::format);
  const std::uint64_t size = common.has_augmentation ? reader.variable() : 0;
  const std::uint64_t instructions = reader.address() + size;
  const std::uint64_t landings = reader.pointer(common.of_landings);
  if (!reader.is_right() || function.begin >= function.end) return false;
  function.is_part = instructions < here + length && !is_at_entry(Reader(image_, instructions).next<std::uint8_t>());
  return landings == 0 || read_landings(landings, function);
}

bool UnwindTable::read_landings(std::uint64_t table, Function& function) const {
  Reader reader(image_, table);
  const std::uint64_t pads = reader.pointer(reader.next<std::uint8_t>());
  const std::uint64_t base = pads != 0 ? pads : function.begin;
  if (reader.next<std::uint8_t>() != encoding::omit) reader.variable();  // where the table of types is
  const std::uint8_t format = reader.next<std::uint8_t>() & encoding::format;
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
