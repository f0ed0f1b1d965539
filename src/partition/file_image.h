// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "partition/image.h"

namespace steelyard::partition {

/// A program or a shared library that is not loaded: its file, mapped as the loader would, without a change to it.
class FileImage {
 public:
  /// Nothing where it is no such file for this machine, or is cut off.
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
  void read_symbols(int file, std::uint64_t size, const Elf64_Ehdr& header);

  struct Symbol {
    std::uint64_t address;
    std::size_t name;  ///< where it begins in names_
  };
  void* room_ = nullptr;
  std::uint64_t size_ = 0;
  std::vector<Symbol> functions_;  ///< by address
  std::string names_;
  std::optional<Image> image_;
};

}  // namespace steelyard::partition
