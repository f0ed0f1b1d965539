#pragma once
#include <cstdint>
#include <map>
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

  /// The function that begins at this address, as its source has it; "" where the file has no symbols any more.
  std::string function_name(std::uint64_t address) const;
  const Image& image() const { return *image_; }

 private:
  FileImage() = default;
  void* room_ = nullptr;
  std::uint64_t size_ = 0;
  std::map<std::uint64_t, std::string> names_;
  std::optional<Image> image_;
};

}  // namespace steelyard::partition
