// SPDX-License-Identifier: BSD-3-Clause
#include "cli/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>

namespace steelyard::cli {
namespace {

using base::Status;

/// Size: bytes of a string table or of a list, at most: a damaged file must not fill the memory. Real ones have less
/// than 10 MB.
constexpr std::uint64_t most_bytes = 256 << 20;

class File {
 public:
  explicit File(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat info{};
    if (descriptor_ >= 0 && fstat(descriptor_, &info) == 0) size_ = static_cast<std::uint64_t>(info.st_size);
  }
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool is_open() const { return descriptor_ >= 0; }

  /// `count` objects from `offset`; nothing where the file does not hold them all.
  template <typename T>
  std::optional<std::vector<T>> read(std::uint64_t offset, std::uint64_t count) const {
    if (offset > size_ || count > (size_ - offset) / sizeof(T) || count * sizeof(T) > most_bytes) return std::nullopt;
    std::vector<T> objects(count);
    auto* bytes = reinterpret_cast<char*>(objects.data());
    for (std::size_t done = 0; done < count * sizeof(T);) {
      const auto got = pread(descriptor_, bytes + done, count * sizeof(T) - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return std::nullopt;
      done += static_cast<std::size_t>(got);
    }
    return objects;
  }

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
};

/// "" for an offset outside of the table; a name without an end stops where the table does.
std::string name_at(const std::vector<char>& table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  return {table.data() + offset, strnlen(table.data() + offset, table.size() - offset)};
}

/// A C++ name, which no hook has. A library may define a hundred thousand of them, each of a hundred characters.
bool is_mangled(const std::vector<char>& table, std::uint64_t offset) {
  return offset < table.size() && table.size() - offset >= 2 && table[offset] == '_' && table[offset + 1] == 'Z';
}

/// A table of names. The dynamic section and the symbols usually have the same, which may be tens of MB.
class NameTable {
 public:
  explicit NameTable(const File& file) : file_(file) {}
  /// nullptr if the file does not hold it. Valid until the next call.
  const std::vector<char>* read(std::uint64_t offset, std::uint64_t size) {
    if (!names_ || offset_ != offset || names_->size() != size) names_ = file_.read<char>(offset, size);
    offset_ = offset;
    return names_ ? &*names_ : nullptr;
  }

 private:
  const File& file_;
  std::optional<std::vector<char>> names_;
  std::uint64_t offset_ = 0;
};

/// Where in the file the bytes are that the loader puts at this address.
std::optional<std::uint64_t> offset_of(const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
  for (const auto& segment : segments) {
    const bool inside = address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz;
    if (segment.p_type == PT_LOAD && inside) return segment.p_offset + (address - segment.p_vaddr);
  }
  return std::nullopt;
}

Status read_dynamic(const File& file, const std::vector<Elf64_Phdr>& segments, const Elf64_Phdr& dynamic,
                    NameTable& tables, ElfImage& image) {
  const auto entries = file.read<Elf64_Dyn>(dynamic.p_offset, dynamic.p_filesz / sizeof(Elf64_Dyn));
  if (!entries) return Status::failure("its dynamic section lies outside of the file");
  std::uint64_t strings_address = 0, strings_size = 0;
  for (const auto& entry : *entries) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_STRTAB) strings_address = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) strings_size = entry.d_un.d_val;
  }
  if (!strings_address) return {};
  const auto offset = offset_of(segments, strings_address);
  const auto* strings = offset ? tables.read(*offset, strings_size) : nullptr;
  if (strings == nullptr) return Status::failure("its table of names lies outside of the file");
  for (const auto& entry : *entries) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) image.needed.push_back(name_at(*strings, entry.d_un.d_val));
    if (entry.d_tag == DT_RPATH) image.rpath = name_at(*strings, entry.d_un.d_val);
    if (entry.d_tag == DT_RUNPATH) image.runpath = name_at(*strings, entry.d_un.d_val);
  }
  return {};
}

/// An executable may have copies of a library's data under their names, such as MPI_UNWEIGHTED.
bool is_function(const Elf64_Sym& symbol) {
  const int type = ELF64_ST_TYPE(symbol.st_info);
  return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/// The dynamic symbols as the section headers show them. A file without section headers runs as well, but shows none.
Status read_symbols(const File& file, const Elf64_Ehdr& header, NameTable& tables, ElfImage& image) {
  if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr)) return {};
  const auto sections = file.read<Elf64_Shdr>(header.e_shoff, header.e_shnum);
  if (!sections) return Status::failure("its section headers lie outside of the file");
  for (const auto& section : *sections) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections->size()) continue;
    const auto& names = (*sections)[section.sh_link];
    const auto symbols = file.read<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym));
    const auto* strings = tables.read(names.sh_offset, names.sh_size);
    if (!symbols || strings == nullptr) return Status::failure("its dynamic symbols lie outside of the file");
    for (const auto& symbol : *symbols) {
      if (symbol.st_name == 0) continue;
      const bool undefined = symbol.st_shndx == SHN_UNDEF;
      if (!undefined && (!is_function(symbol) || is_mangled(*strings, symbol.st_name))) continue;
      auto name = name_at(*strings, symbol.st_name);
      if (name.empty()) continue;
      if (undefined) {
        image.undefined.push_back(std::move(name));
      } else if (is_hook(name)) {
        image.hooks.push_back(std::move(name));
      }
    }
  }
  return {};
}

Status check_header(const Elf64_Ehdr& header) {
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return Status::failure("it is not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return Status::failure("it is not a 64-bit program");
  constexpr int byte_order = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  if (header.e_ident[EI_DATA] != byte_order) return Status::failure("it is made for a machine of the other byte order");
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
    return Status::failure(fmt::format("its ELF type is {}, neither a program nor a shared library", header.e_type));
  }
  if (header.e_phnum == 0 || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return Status::failure("it has no program headers of the usual size");
  }
  return {};
}

}  // namespace

bool is_openmp(std::string_view name) { return name.starts_with("GOMP_") || name.starts_with("omp_"); }

bool is_hook(std::string_view name) {
  return name.starts_with("MPI_") || name.starts_with("PMPI_") || is_openmp(name) || name == "ompt_start_tool" ||
         name == "__asan_init" || name == "__tsan_init" || name == "DLB_Init";
}

std::uint16_t machine_of(const std::string& path) {
  const File file(path);
  const auto header = file.is_open() ? file.read<Elf64_Ehdr>(0, 1) : std::nullopt;
  return header && check_header(header->front()) ? header->front().e_machine : std::uint16_t{EM_NONE};
}

Status read_elf(const std::string& path, ElfImage& image) {
  image = {};
  const File file(path);
  if (!file.is_open()) return Status::failure(fmt::format("it cannot be read: {}", std::strerror(errno)));
  const auto header = file.read<Elf64_Ehdr>(0, 1);
  if (!header) return Status::failure("it is shorter than an ELF header");
  const Elf64_Ehdr& elf = header->front();
  if (auto status = check_header(elf); !status) return status;
  const auto segments = file.read<Elf64_Phdr>(elf.e_phoff, elf.e_phnum);
  if (!segments) return Status::failure("its program headers lie outside of the file");

  image.machine = elf.e_machine;
  NameTable tables(file);
  for (const auto& segment : *segments) {
    if (segment.p_type == PT_INTERP) image.has_interpreter = true;
    if (segment.p_type == PT_TLS) image.thread_local_bytes = segment.p_memsz;
    if (segment.p_type != PT_DYNAMIC) continue;
    if (auto status = read_dynamic(file, *segments, segment, tables, image); !status) return status;
  }
  return read_symbols(file, elf, tables, image);
}

}  // namespace steelyard::cli
