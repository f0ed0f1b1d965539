// SPDX-License-Identifier: BSD-3-Clause
#include "partition/evex.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "partition/instruction.h"

namespace steelyard::partition {
namespace {

std::string text_of(const cs_x86_op& operand) {
  if (operand.type == X86_OP_REG) {
    const int number = vector_of(operand.reg);
    return (number >= kMask0 ? "k" : "v") + std::to_string(number >= kMask0 ? number - kMask0 : number);
  }
  const x86_op_mem& place = operand.mem;
  std::string text = std::to_string(place.disp) + "(";
  text += place.base == X86_REG_RIP       ? "rip"
          : place.base == X86_REG_INVALID ? ""
                                          : "r" + std::to_string(number_of(place.base));
  if (vector_of(place.index) >= 0) text += " v" + std::to_string(vector_of(place.index));
  if (number_of(place.index) >= 0) text += " r" + std::to_string(number_of(place.index));
  return text + ")" + std::to_string(operand.size);
}

/// Length, name and operands; those that are written are marked.
std::string decoded(std::vector<std::uint8_t> bytes) {
  CapstoneInstruction made;
  if (!decode_evex(bytes.data(), bytes.size(), 0x1000, made.instruction)) return "none";
  const Instruction i(made);
  std::string text = std::to_string(i.next() - i.address()) + " " + i.name();
  for (int n = 0; n < i.operands(); ++n)
    text += ((i.operand(n).access & CS_AC_WRITE) != 0 ? " >" : " ") + text_of(i.operand(n));
  return text;
}

// Bytes and operands as objdump of binutils 2.40 shows them.
TEST(Evex, DecodesWhatIsReadAndWritten) {
  // vextractf64x2 $1, %ymm6, %xmm11
  EXPECT_EQ(decoded({0x62, 0xd3, 0xfd, 0x28, 0x19, 0xf3, 0x01}), "7 vector >v11 v6 v0");
  // valignq $3, %ymm15, %ymm15, %ymm1
  EXPECT_EQ(decoded({0x62, 0xd3, 0x85, 0x28, 0x03, 0xcf, 0x03}), "7 vector >v1 v15 v15");
  // vfmadd132sd %xmm16, %xmm8, %xmm15
  EXPECT_EQ(decoded({0x62, 0x32, 0xbd, 0x08, 0x99, 0xf8}), "6 vector >v15 v16 v8");
  // vcmpneqpd %ymm6, %ymm1, %k2
  EXPECT_EQ(decoded({0x62, 0xf1, 0xf5, 0x28, 0xc2, 0xd6, 0x04}), "7 vector >k2 v6 v1");
}

TEST(Evex, DecodesPlacesInMemory) {
  // vfmadd231sd 8(%rax,%rdi,8), %xmm2, %xmm31
  EXPECT_EQ(decoded({0x62, 0x62, 0xed, 0x08, 0xb9, 0x7c, 0xf8, 0x01}), "8 vector >v31 8(r0 r7)8 v2");
  // vfmadd231pd -0x40(%rcx,%rax,1), %zmm3, %zmm2
  EXPECT_EQ(decoded({0x62, 0xf2, 0xe5, 0x48, 0xb8, 0x54, 0x01, 0xff}), "8 vector >v2 -64(r1 r0)64 v3");
  // vaddpd 0x5d5e(%rip){1to4}, %ymm0, %ymm1
  EXPECT_EQ(decoded({0x62, 0xf1, 0xfd, 0x38, 0x58, 0x0d, 0x5e, 0x5d, 0x00, 0x00}), "10 vector >v1 23902(rip)8 v0");
  // vmovupd %zmm1, (%r11,%r15,1)
  EXPECT_EQ(decoded({0x62, 0x91, 0xfd, 0x48, 0x11, 0x0c, 0x3b}), "7 vmovups >0(r11 r15)64 v1");
  // vpscatterqd %xmm1, 0(,%ymm4,1){%k2}
  EXPECT_EQ(decoded({0x62, 0xf2, 0x7d, 0x2a, 0xa1, 0x0c, 0x25, 0x00, 0x00, 0x00, 0x00}), "11 vector >0( v4)4 v1 v0 k2");
}

TEST(Evex, LeavesOutWhatItDoesNotKnow) {
  EXPECT_EQ(decoded({0x62, 0xf2, 0x7d, 0x48, 0x7c, 0xc0}), "none");              // vpbroadcastd %eax, %zmm0
  EXPECT_EQ(decoded({0x62, 0xf1, 0xd5, 0x48, 0x73, 0xf5, 0x02}), "none");        // vpsllq $2, %zmm5, %zmm5
  EXPECT_EQ(decoded({0x62, 0xf5, 0x7c, 0x48, 0x58, 0xc0}), "none");              // vaddph %zmm0, %zmm0, %zmm0
  EXPECT_EQ(decoded({0xc5, 0xfc, 0x28, 0xc1, 0x90, 0x90}), "none");              // vmovaps %ymm1, %ymm0
  EXPECT_EQ(decoded({0x62, 0xf1, 0xfd, 0x48, 0x13, 0x44, 0x24, 0x08}), "none");  // a store of a part
}

TEST(Evex, ReadsNoByteBehindTheEnd) {
  const std::vector<std::uint8_t> whole{0x62, 0xf1, 0xfd, 0x38, 0x58, 0x0d, 0x5e, 0x5d, 0x00, 0x00};
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(decoded({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}), "none") << size;
}

}  // namespace
}  // namespace steelyard::partition
