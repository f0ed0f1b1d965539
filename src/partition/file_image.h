// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "partition/image.h"

namespace steelyard::partition {

/// The file of a program or a shared library, mapped as the loader would map it, unchanged.
class FileImage {
 public:
  /// Nothing if it is no program or library for this machine, or is truncated.
  static std::optional<FileImage> open(const std::string& path);
  FileImage(FileImage&& other) noexcept;
  FileImage(const FileImage&) = delete;
  FileImage& operator=(const FileImage&) = delete;
  ~FileImage();

  /// @param address where a function begins
  /// @return its name as in the source (see readable_name.h); "" if the file has no symbol for it
  std::string function_name(std::uint64_t address) const;
  const Image& image() const { return *image_; }

 private:
  FileImage() = default;
  /// Fills functions_ and names_; leaves them empty if the file is stripped.
  void read_symbols(int file, std::uint64_t size, const Elf64_Ehdr& header);

  struct Symbol {
    std::uint64_t address;
    std::size_t name;  ///< index of its first character in names_
  };
  void* mapping_ = nullptr;  ///< of size_ bytes
  std::uint64_t size_ = 0;
  std::vector<Symbol> functions_;  ///< ascending by address
  std::string names_;              ///< the string table of the file
  std::optional<Image> image_;
};

}  // namespace steelyard::partition
