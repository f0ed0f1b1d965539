#include "partition/file_image.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace steelyard::partition {

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 30;

struct Descriptor {
  explicit Descriptor(const std::string& path) : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  bool read(void* to, std::size_t bytes, std::uint64_t from) const {
    return pread(number, to, bytes, static_cast<off_t>(from)) == static_cast<ssize_t>(bytes);
  }
  int number;
};

/// Of functions, by the address where they begin.
std::map<std::uint64_t, std::string> names_in(const Descriptor& file, const Elf64_Ehdr& header) {
  std::map<std::uint64_t, std::string> names;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (header.e_shentsize != sizeof(Elf64_Shdr) ||
      !file.read(sections.data(), sections.size() * sizeof(Elf64_Shdr), header.e_shoff))
    return names;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& texts = sections[section.sh_link];
    if (section.sh_size > kMostBytes || texts.sh_size > kMostBytes) return names;
    std::vector<Elf64_Sym> symbols(section.sh_size / sizeof(Elf64_Sym));
    std::string text(texts.sh_size, '\0');
    if (!file.read(symbols.data(), symbols.size() * sizeof(Elf64_Sym), section.sh_offset) ||
        !file.read(text.data(), text.size(), texts.sh_offset))
      return names;
    for (const Elf64_Sym& symbol : symbols) {
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value != 0 && symbol.st_name < text.size())
        names.emplace(symbol.st_value, text.c_str() + symbol.st_name);
    }
  }
  return names;
}

}  // namespace

std::string FileImage::function_name(std::uint64_t address) const {
  const auto found = names_.find(address);
  if (found == names_.end()) return "";
  // A region's body is named after the function that it was a part of.
  const std::string name = found->second.substr(0, found->second.find("._omp_fn"));
  int status = 0;
  char* const readable = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  const std::string result = status == 0 && readable != nullptr ? readable : name;
  std::free(readable);
  return result;
}

std::optional<FileImage> FileImage::open(const std::string& path) {
  const Descriptor file(path);
  struct stat info{};
  Elf64_Ehdr header;
  if (file.number < 0 || fstat(file.number, &info) != 0 || !file.read(&header, sizeof header, 0)) return std::nullopt;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return std::nullopt;
  std::vector<Elf64_Phdr> headers(header.e_phnum);
  if (header.e_phentsize != sizeof(Elf64_Phdr) ||
      !file.read(headers.data(), headers.size() * sizeof(Elf64_Phdr), header.e_phoff))
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
  result.names_ = names_in(file, header);
  result.size_ = (end - first + kPage - 1) / kPage * kPage;
  result.room_ = mmap(nullptr, result.size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (result.room_ == MAP_FAILED) {
    result.room_ = nullptr;
    return std::nullopt;
  }
  for (const Elf64_Phdr& segment : headers) {
    if (segment.p_type != PT_LOAD || segment.p_filesz == 0) continue;
    const std::uint64_t before = segment.p_vaddr % kPage;
    void* const place = static_cast<char*>(result.room_) + (segment.p_vaddr - before - first);
    const void* const mapped = mmap(place, segment.p_filesz + before, PROT_READ, MAP_PRIVATE | MAP_FIXED, file.number,
                                    static_cast<off_t>(segment.p_offset - before));
    if (mapped == MAP_FAILED) return std::nullopt;
  }
  result.image_.emplace(reinterpret_cast<std::uint64_t>(result.room_) - first, headers.data(),
                        static_cast<int>(headers.size()));
  return result;
}

FileImage::FileImage(FileImage&& other) noexcept
    : room_(std::exchange(other.room_, nullptr)),
      size_(other.size_),
      names_(std::move(other.names_)),
      image_(std::move(other.image_)) {}

FileImage::~FileImage() {
  if (room_ != nullptr) munmap(room_, size_);
}

}  // namespace steelyard::partition
