// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <elf.h>

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace steelyard::partition {

/// A function as its unwind table shows it, which stripped programs have as well.
struct Function {
  std::uint64_t begin = 0, end = 0;
  /// Where an exception may leave its normal course: a call whose return address is in (from, to] goes on at `pad`.
  struct Landing {
    std::uint64_t from, to, pad;
  };
  std::vector<Landing> landings;
  bool is_part = false;   ///< of a function that begins elsewhere, and comes here by a jump
  bool is_known = false;  ///< false: there is no function, or its table cannot be read
};

/// A program or a shared library as it lies in memory: loaded, or its file as it would be loaded, of which only the
/// mapped bytes are read. What its tables say is never trusted to lie inside of it.
class Image {
 public:
  /// A part of it that lies at `address` of the process, and at `address - shift` of its own addresses.
  struct Segment {
    std::uint64_t begin, end;  ///< its own addresses
    bool executable, writable;
    bool contains(std::uint64_t address) const { return address >= begin && address < end; }
  };
  /// @param shift what is added to its own addresses to find it in memory
  /// @param headers its program headers
  Image(std::uint64_t shift, const Elf64_Phdr* headers, int count);

  /// The bytes from `address` (its own) to the end of the segment. Empty where it has none.
  struct Bytes {
    const std::uint8_t* data = nullptr;
    std::uint64_t size = 0;
  };
  Bytes bytes(std::uint64_t address) const;
  bool is_code(std::uint64_t address) const;
  /// True if neither the program nor the loader writes there.
  bool is_constant(std::uint64_t address) const;
  /// The function that this address is in.
  Function function_at(std::uint64_t address) const;
  /// The function of another object whose address the loader writes into this word. Empty where there is none.
  std::string_view imported(std::uint64_t slot) const;
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

/// By this name compilers, and programs, ask for a thread's number or for how many there are.
inline bool is_query(std::string_view name) { return name == "omp_get_thread_num" || name == "omp_get_num_threads"; }

}  // namespace steelyard::partition
