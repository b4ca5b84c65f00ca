#include "checked/owner.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "misuses.h"

namespace {

using namespace tp::check;

TEST(Owners, BeginAsThePoolsOfTheInlineHeaders) {
  Owner* owner = make_owner(OwnerKind::pool, "numbers");
  ASSERT_NE(owner, nullptr);
  EXPECT_EQ(static_cast<void*>(&owner->front), owner);
  EXPECT_EQ(owner->front.bin, 0u);
  EXPECT_STREQ(owner->name, "numbers");
  abandon_owner(owner);
}

TEST(Owners, KeepThirtyOneBytesOfAName) {
  Owner* owner = make_owner(OwnerKind::heap, "0123456789012345678901234567890123456789");
  EXPECT_STREQ(owner->name, "0123456789012345678901234567890");
  abandon_owner(owner);
}

TEST(Owners, ThatAreDestroyedAreKnownForLong) {
  test::Misuses misuses;
  Owner* first = make_owner(OwnerKind::heap, "first");
  retire_owner(first, 0);
  std::set<Owner*> later;
  for (int i = 0; i < 4000; ++i) {
    Owner* owner = make_owner(OwnerKind::heap, nullptr);
    EXPECT_NE(owner, first);
    later.insert(owner);
    retire_owner(owner, 0);
  }
  EXPECT_EQ(verify_owner(first, OwnerKind::heap, "test"), nullptr);
  auto seen = misuses.take();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].kind, tp_misuse_destroyed_heap);
  EXPECT_NE(seen[0].message.find("'first'"), std::string::npos);
}

TEST(Owners, AreBoundedAndUsedAgain) {
  std::set<Owner*> seen;
  for (int i = 0; i < 100000; ++i) {
    Owner* owner = make_owner(OwnerKind::heap, nullptr);
    ASSERT_NE(owner, nullptr);
    seen.insert(owner);
    retire_owner(owner, 0);
  }
  EXPECT_LE(seen.size(), 5000u);
}

TEST(Owners, AreCountedByKind) {
  size_t heaps = count_owners(OwnerKind::heap), pools = count_owners(OwnerKind::pool);
  Owner* heap = make_owner(OwnerKind::heap, nullptr);
  Owner* pool = make_owner(OwnerKind::pool, nullptr);
  EXPECT_EQ(count_owners(OwnerKind::heap), heaps + 1);
  EXPECT_EQ(count_owners(OwnerKind::pool), pools + 1);
  retire_owner(heap, 0);
  abandon_owner(pool);
  EXPECT_EQ(count_owners(OwnerKind::heap), heaps);
  EXPECT_EQ(count_owners(OwnerKind::pool), pools);
}

TEST(Owners, AreToldFromEverythingElse) {
  test::Misuses misuses;
  Owner* owner = make_owner(OwnerKind::heap, nullptr);
  EXPECT_EQ(verify_owner(owner, OwnerKind::heap, "test"), owner);
  EXPECT_EQ(verify_owner(reinterpret_cast<char*>(owner) + 8, OwnerKind::heap, "test"), nullptr);
  EXPECT_EQ(verify_owner(owner + 100000, OwnerKind::heap, "test"), nullptr);
  EXPECT_EQ(verify_owner(nullptr, OwnerKind::heap, "test"), nullptr);
  EXPECT_EQ(verify_owner(owner, OwnerKind::pool, "test"), nullptr);
  auto seen = misuses.take();
  ASSERT_EQ(seen.size(), 4u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(seen[i].kind, tp_misuse_foreign_pointer);
  EXPECT_EQ(seen[3].kind, tp_misuse_heap_mismatch);
  abandon_owner(owner);
}

TEST(Owners, ThatWereOverwrittenEndTheProcess) {
  Owner* owner = make_owner(OwnerKind::heap, nullptr);
  EXPECT_DEATH(
      {
        owner->serial ^= 1;
        verify_owner(owner, OwnerKind::heap, "test");
      },
      "a heap or pool of the checked library was overwritten");
  abandon_owner(owner);
}

}  // namespace
