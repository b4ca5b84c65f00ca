#include "checked/layout.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "misuses.h"

namespace {

using namespace tp;
using namespace tp::check;

// A record over memory of the test's own.
class Block {
 public:
  Block(size_t size, size_t alignment) {
    Layout layout = layout_of(size, alignment);
    bytes_.resize(layout.extent + alignment);
    uintptr_t memory = round_up(reinterpret_cast<uintptr_t>(bytes_.data()), alignment);
    record.size = size;
    record.alignment_log2 = static_cast<uint8_t>(log2_floor(alignment));
    record.memory = memory;
    record.block = memory + layout.front;
    record.state = State::live;
    arm(record);
  }

  Record record{};

 private:
  std::vector<unsigned char> bytes_;
};

TEST(Layout, KeepsTheAlignmentAndRoomForCanaries) {
  for (size_t alignment = 16; alignment <= 65536; alignment *= 2) {
    for (size_t size : {0, 1, 15, 16, 17, 100, 4096, 100000}) {
      Layout layout = layout_of(size, alignment);
      EXPECT_EQ(layout.front % alignment, 0u);
      EXPECT_EQ(layout.front == 0, alignment > 4096);
      EXPECT_GE(layout.extent, layout.front + size + 16);
      EXPECT_EQ(layout.extent % 16, 0u);
    }
  }
}

TEST(Canaries, AreIntactWhateverTheBlockHolds) {
  Block block(100, 16);
  for (int value : {0, 0x55, 0xff}) {
    memset(block.record.begin(), value, 100);
    EXPECT_EQ(damage_around(block.record), intact);
  }
}

// Every byte around the block, one by one, with every change of one bit.
TEST(Canaries, ShowEveryChangedByte) {
  for (size_t size : {0, 1, 13, 16, 31, 200}) {
    Block block(size, 32);
    Layout layout = layout_of(size, 32);
    auto* memory = reinterpret_cast<unsigned char*>(block.record.memory);
    for (size_t at = 0; at < layout.extent; ++at) {
      ptrdiff_t offset = memory + at - block.record.begin();
      if (offset >= 0 && offset < static_cast<ptrdiff_t>(size)) continue;
      unsigned char before = test::peek(memory + at);
      EXPECT_NE(before, 0);
      for (unsigned bit = 0; bit < 8; ++bit) {
        test::poke(memory + at, before ^ static_cast<unsigned char>(1u << bit));
        EXPECT_EQ(damage_around(block.record), offset);
      }
      test::poke(memory + at, before);
    }
    EXPECT_EQ(damage_around(block.record), intact);
  }
}

TEST(Canaries, DifferBetweenBlocks) {
  Block first(16, 16), second(16, 16);
  EXPECT_NE(memcmp(first.record.begin() + 16, second.record.begin() + 16, 16), 0);
}

TEST(Poison, ShowsEveryWrittenByte) {
  for (size_t size : {1, 2, 15, 64, 4097}) {
    Block block(size, 16);
    poison(block.record);
    EXPECT_EQ(damage_inside(block.record), intact);
    for (size_t at = 0; at < size; at += size < 100 ? 1 : 97) {
      block.record.begin()[at] ^= 1;
      EXPECT_EQ(damage_inside(block.record), static_cast<ptrdiff_t>(at));
      block.record.begin()[at] ^= 1;
    }
    EXPECT_EQ(damage_around(block.record), intact);
  }
}

TEST(Poison, IsZeroWhereSecretsAreWiped) {
  Block block(40, 16);
  block.record.zero_on_free = true;
  memset(block.record.begin(), 7, 40);
  poison(block.record);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(block.record.begin()[i], 0);
  EXPECT_EQ(damage_inside(block.record), intact);
}

TEST(Poison, OfNothingIsIntact) {
  Block block(0, 16);
  poison(block.record);
  EXPECT_EQ(damage_inside(block.record), intact);
  EXPECT_EQ(damage_around(block.record), intact);
}

}  // namespace
