// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <elf.h>

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace steelyard::partition {

/// A function as the unwind table describes it. Stripped programs have an unwind table, too.
struct Function {
  std::uint64_t begin = 0, end = 0;
  /// An exception of a call whose return address is in (from, to] continues at the landing pad `pad`.
  struct Landing {
    std::uint64_t from, to, pad;
  };
  std::vector<Landing> landings;
  bool is_part = false;   ///< a part that the compiler has split off a function, which jumps to it
  bool is_known = false;  ///< false: there is no function, or its table cannot be read
};

/// The memory image of a program or a shared library: loaded, or its file mapped as the loader would (file_image.h).
/// Only the mapped bytes are read; no address in its tables is trusted to lie inside of it.
///
/// All addresses are those of the file. In this process, they are greater by `shift`.
class Image {
 public:
  struct Segment {
    std::uint64_t begin, end;
    bool executable, writable;
    bool contains(std::uint64_t address) const { return address >= begin && address < end; }
  };
  /// @param shift where the image is mapped: the address in this process minus the address in the file
  /// @param headers its program headers, `count` of them
  Image(std::uint64_t shift, const Elf64_Phdr* headers, int count);

  /// The bytes from `address` to the end of its segment. Empty if no segment contains it.
  struct Bytes {
    const std::uint8_t* data = nullptr;
    std::uint64_t size = 0;
  };
  Bytes bytes(std::uint64_t address) const;
  bool is_code(std::uint64_t address) const;
  /// True if neither the program nor the loader writes there.
  bool is_constant(std::uint64_t address) const;
  /// The function that contains this address.
  Function function_at(std::uint64_t address) const;
  /// The name of the function whose address the loader writes into the word at `slot`: a function of another object.
  /// Empty if the loader writes no such address there.
  std::string_view imported(std::uint64_t slot) const;
  /// All such words: their addresses, with the names.
  const std::map<std::uint64_t, std::string_view>& imports() const { return imports_; }
  const std::vector<Segment>& segments() const { return segments_; }
  std::uint64_t shift() const { return shift_; }

 private:
  template <typename T>
  bool read(std::uint64_t address, T& value) const;
  void read_imports(std::uint64_t dynamic);
  void add_imports(std::uint64_t table, std::uint64_t size, std::uint64_t symbols, std::uint64_t names);

  std::uint64_t shift_;
  std::vector<Segment> segments_;
  std::uint64_t unwind_header_ = 0;
  std::map<std::uint64_t, std::string_view> imports_;
};

}  // namespace steelyard::partition
