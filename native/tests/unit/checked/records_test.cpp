#include "checked/records.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace {

using namespace tp;
using namespace tp::check;

// Addresses that no block has: the tests share the table with the library.
void* address(size_t i) { return reinterpret_cast<void*>((uintptr_t{1} << 46) + i * 16); }

Record record_of(size_t i, State state = State::live) {
  Record record{};
  record.block = reinterpret_cast<uintptr_t>(address(i));
  record.memory = record.block - 16;
  record.size = i;
  record.serial = next_serial();
  record.alignment_log2 = 4;
  record.state = state;
  return record;
}

void insert(size_t i) {
  RecordAccess access(address(i));
  ASSERT_TRUE(access.insert(record_of(i)));
}

void retire(size_t i) {
  RecordAccess access(address(i));
  Record* record = access.find();
  if (record != nullptr) access.retire(record, State::retired);
}

bool is_known(size_t i) {
  RecordAccess access(address(i));
  return access.find() != nullptr;
}

TEST(Records, AreFoundByTheirBlockAlone) {
  EXPECT_FALSE(is_known(1));
  insert(1);
  EXPECT_TRUE(is_known(1));
  EXPECT_FALSE(is_known(2));
  RecordAccess access(address(1));
  EXPECT_EQ(access.find()->size, 1u);
  access.retire(access.find(), State::retired);
}

TEST(Records, OfManyBlocksAreAllKept) {
  constexpr size_t first = 1000, count = 100000;
  for (size_t i = first; i < first + count; ++i) insert(i);
  for (size_t i = first; i < first + count; ++i) {
    RecordAccess access(address(i));
    Record* record = access.find();
    ASSERT_NE(record, nullptr) << i;
    EXPECT_EQ(record->size, i);
  }
  for (size_t i = first; i < first + count; ++i) retire(i);
}

// Retired blocks are remembered until newer ones take their place, so that the table does not grow without end.
TEST(Records, OfRetiredBlocksAreBounded) {
  constexpr size_t first = 1000000, count = 400000;
  for (size_t i = first; i < first + count; ++i) {
    insert(i);
    retire(i);
  }
  size_t known = 0;
  for (size_t i = first; i < first + count; ++i) known += is_known(i);
  EXPECT_LE(known, size_t{shard_count} * Shard::most_retired);
  EXPECT_TRUE(is_known(first + count - 1));
  EXPECT_FALSE(is_known(first));
  uint32_t places = 0;
  for (const Shard& shard : shards) places += shard.capacity;
  EXPECT_LE(places * sizeof(Record), size_t{64} << 20);
}

TEST(Records, OfAnAddressThatIsUsedAgainAreReplaced) {
  insert(7000000);
  retire(7000000);
  insert(7000000);
  // What is retired now must not forget the new block.
  for (size_t i = 7000001; i < 7200000; ++i) {
    insert(i);
    retire(i);
  }
  RecordAccess access(address(7000000));
  ASSERT_NE(access.find(), nullptr);
  EXPECT_EQ(access.find()->state, State::live);
  access.retire(access.find(), State::retired);
}

TEST(Records, ThatWereOverwrittenEndTheProcess) {
  insert(8000000);
  EXPECT_DEATH(
      {
        RecordAccess access(address(8000000));
        access.find()->size = 12345;
        access.find();
      },
      "a record of the checked library was overwritten");
  retire(8000000);
}

TEST(Records, OfABlockInUseAreNotReplaced) {
  insert(8000001);
  EXPECT_DEATH(insert(8000001), "the core handed out a block that is in use");
  retire(8000001);
}

TEST(Records, FindTheBlockAroundAnAddress) {
  Record around = record_of(9000000);
  around.size = 500;
  {
    RecordAccess access(address(9000000));
    ASSERT_TRUE(access.insert(around));
  }
  Record found;
  auto* begin = static_cast<char*>(address(9000000));
  for (ptrdiff_t offset : {-16, -1, 0, 499, 515}) {
    ASSERT_TRUE(find_containing(begin + offset, &found)) << offset;
    EXPECT_EQ(found.begin(), address(9000000));
  }
  EXPECT_FALSE(find_containing(begin - 17, &found));
  EXPECT_FALSE(find_containing(begin + 700, &found));
  retire(9000000);
}

TEST(Records, OfManyThreadsAreAllKept) {
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      size_t first = 20000000 + t * 1000000;
      for (size_t i = first; i < first + 20000; ++i) insert(i);
      for (size_t i = first; i < first + 20000; ++i) EXPECT_TRUE(is_known(i));
      for (size_t i = first; i < first + 20000; ++i) retire(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
