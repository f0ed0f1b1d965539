// SPDX-License-Identifier: BSD-3-Clause
#include "partition/image.h"

#include <algorithm>
#include <cstring>

#include "partition/unwind.h"

namespace steelyard::partition {

Image::Image(std::uint64_t shift, const Elf64_Phdr* headers, int count) : shift_(shift) {
  std::uint64_t dynamic = 0;
  for (const Elf64_Phdr* header = headers; header != headers + count; ++header) {
    if (header->p_type == PT_LOAD && (header->p_flags & PF_R) != 0)
      segments_.push_back({header->p_vaddr, header->p_vaddr + header->p_filesz, (header->p_flags & PF_X) != 0,
                           (header->p_flags & PF_W) != 0});
    if (header->p_type == PT_DYNAMIC) dynamic = header->p_vaddr;
    if (header->p_type == PT_GNU_EH_FRAME) unwind_header_ = header->p_vaddr;
  }
  if (dynamic != 0) read_imports(dynamic);
}

Image::Bytes Image::bytes(std::uint64_t address) const {
  for (const Segment& segment : segments_) {
    if (!segment.contains(address)) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): as the loader has mapped it
    return {reinterpret_cast<const std::uint8_t*>(address + shift_), segment.end - address};
  }
  return {};
}

bool Image::is_code(std::uint64_t address) const {
  return std::any_of(segments_.begin(), segments_.end(),
                     [&](const Segment& s) { return s.executable && s.contains(address); });
}

bool Image::is_constant(std::uint64_t address) const {
  return bytes(address).data != nullptr && std::none_of(segments_.begin(), segments_.end(), [&](const Segment& s) {
           return s.writable && s.contains(address);
         });
}

template <typename T>
bool Image::read(std::uint64_t address, T& value) const {
  const Bytes there = bytes(address);
  if (there.size < sizeof value) return false;
  std::memcpy(&value, there.data, sizeof value);
  return true;
}

void Image::read_imports(std::uint64_t dynamic) {
  std::uint64_t symbols = 0, names = 0, calls = 0, calls_size = 0, others = 0, others_size = 0;
  Elf64_Dyn entry;
  for (; read(dynamic, entry) && entry.d_tag != DT_NULL; dynamic += sizeof entry) {
    // The loader writes addresses of the process into the table of what it has loaded.
    const std::uint64_t value = entry.d_un.d_val;
    const std::uint64_t address =
        shift_ != 0 && value >= shift_ && bytes(value - shift_).size != 0 ? value - shift_ : value;
    switch (entry.d_tag) {
      case DT_SYMTAB: symbols = address; break;
      case DT_STRTAB: names = address; break;
      case DT_JMPREL: calls = address; break;
      case DT_PLTRELSZ: calls_size = value; break;
      case DT_RELA: others = address; break;
      case DT_RELASZ: others_size = value; break;
      default: break;
    }
  }
  add_imports(calls, calls_size, symbols, names);
  add_imports(others, others_size, symbols, names);
}

void Image::add_imports(std::uint64_t table, std::uint64_t size, std::uint64_t symbols, std::uint64_t names) {
  Elf64_Rela relocation;
  for (std::uint64_t at = table; at + sizeof relocation <= table + size && read(at, relocation);
       at += sizeof relocation) {
    const auto type = ELF64_R_TYPE(relocation.r_info);
    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
    Elf64_Sym symbol;
    if (!read(symbols + ELF64_R_SYM(relocation.r_info) * sizeof symbol, symbol) || symbol.st_shndx != SHN_UNDEF)
      continue;
    const Bytes name = bytes(names + symbol.st_name);
    if (name.size == 0) continue;
    const std::string_view text(reinterpret_cast<const char*>(name.data),
                                strnlen(reinterpret_cast<const char*>(name.data), name.size));
    imports_.emplace(relocation.r_offset, text);
  }
}

std::string_view Image::imported(std::uint64_t slot) const {
  const auto found = imports_.find(slot);
  return found == imports_.end() ? std::string_view{} : found->second;
}

Function Image::function_at(std::uint64_t address) const {
  return UnwindTable(*this, unwind_header_).function_at(address);
}

}  // namespace steelyard::partition
