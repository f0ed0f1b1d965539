// SPDX-License-Identifier: BSD-3-Clause
#include "partition/file_image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "partition/readable_name.h"

namespace steelyard::partition {

namespace {

constexpr std::uint64_t kPage = 4096;                          // Size: a page of memory.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 47U;  // Format: x86-64, addresses of a process

struct Descriptor {
  explicit Descriptor(const std::string& path) : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number;
};

/// Reads `bytes` bytes at the offset `from`.
bool read(int file, void* to, std::size_t bytes, std::uint64_t from) {
  return pread(file, to, bytes, static_cast<off_t>(from)) == static_cast<ssize_t>(bytes);
}

}  // namespace

void FileImage::read_symbols(int file, std::uint64_t size, const Elf64_Ehdr& header) {
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (header.e_shentsize != sizeof(Elf64_Shdr) ||
      !read(file, sections.data(), sections.size() * sizeof(Elf64_Shdr), header.e_shoff))
    return;
  const auto table = std::ranges::find(sections, Elf64_Word{SHT_SYMTAB}, &Elf64_Shdr::sh_type);
  if (table == sections.end() || table->sh_link >= sections.size()) return;
  const Elf64_Shdr& strings = sections[table->sh_link];
  if (table->sh_size > size || strings.sh_size > size) return;
  std::vector<Elf64_Sym> symbols(table->sh_size / sizeof(Elf64_Sym));
  names_.resize(strings.sh_size);
  if (!read(file, symbols.data(), symbols.size() * sizeof(Elf64_Sym), table->sh_offset) ||
      !read(file, names_.data(), names_.size(), strings.sh_offset))
    return;
  for (const Elf64_Sym& symbol : symbols) {
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value != 0 && symbol.st_name < names_.size())
      functions_.push_back({symbol.st_value, symbol.st_name});
  }
  std::ranges::stable_sort(functions_, {}, &Symbol::address);
}

std::string FileImage::function_name(std::uint64_t address) const {
  const auto found = std::ranges::lower_bound(functions_, address, {}, &Symbol::address);
  if (found == functions_.end() || found->address != address) return "";
  return readable_name(names_.c_str() + found->name);
}

std::optional<FileImage> FileImage::open(const std::string& path) {
  const Descriptor file(path);
  struct stat info{};
  Elf64_Ehdr header;
  if (file.number < 0 || fstat(file.number, &info) != 0 || !read(file.number, &header, sizeof header, 0))
    return std::nullopt;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return std::nullopt;
  std::vector<Elf64_Phdr> headers(header.e_phnum);
  if (header.e_phentsize != sizeof(Elf64_Phdr) ||
      !read(file.number, headers.data(), headers.size() * sizeof(Elf64_Phdr), header.e_phoff))
    return std::nullopt;
  std::uint64_t first = UINT64_MAX, end = 0;
  for (const Elf64_Phdr& segment : headers) {
    if (segment.p_type != PT_LOAD) continue;
    const bool inside = segment.p_offset <= static_cast<std::uint64_t>(info.st_size) &&
                        segment.p_filesz <= static_cast<std::uint64_t>(info.st_size) - segment.p_offset;
    if (!inside || segment.p_vaddr > kMostBytes || segment.p_filesz > kMostBytes ||
        (segment.p_vaddr - segment.p_offset) % kPage != 0)
      return std::nullopt;
    first = std::min(first, segment.p_vaddr / kPage * kPage);
    end = std::max(end, segment.p_vaddr + segment.p_filesz);
  }
  if (first >= end) return std::nullopt;

  FileImage result;
  result.read_symbols(file.number, static_cast<std::uint64_t>(info.st_size), header);
  result.size_ = (end - first + kPage - 1) / kPage * kPage;
  result.mapping_ = mmap(nullptr, result.size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (result.mapping_ == MAP_FAILED) {
    result.mapping_ = nullptr;
    return std::nullopt;
  }
  for (const Elf64_Phdr& segment : headers) {
    if (segment.p_type != PT_LOAD || segment.p_filesz == 0) continue;
    const std::uint64_t before = segment.p_vaddr % kPage;
    void* const place = static_cast<char*>(result.mapping_) + (segment.p_vaddr - before - first);
    const void* const mapped = mmap(place, segment.p_filesz + before, PROT_READ, MAP_PRIVATE | MAP_FIXED, file.number,
                                    static_cast<off_t>(segment.p_offset - before));
    if (mapped == MAP_FAILED) return std::nullopt;
  }
  result.image_.emplace(reinterpret_cast<std::uint64_t>(result.mapping_) - first, headers.data(),
                        static_cast<int>(headers.size()));
  return result;
}

FileImage::FileImage(FileImage&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      size_(other.size_),
      functions_(std::move(other.functions_)),
      names_(std::move(other.names_)),
      image_(std::move(other.image_)) {}

FileImage::~FileImage() {
  if (mapping_ != nullptr) munmap(mapping_, size_);
}

}  // namespace steelyard::partition
