#include "tidepool/memory_resource.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <list>
#include <map>
#include <memory_resource>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "support.h"

namespace {

using tests::counted;
using tests::hidden;
using tests::is_aligned;

// Used before main and after it: the shared resource has no beginning and no end.
struct before_and_after_main {
  std::pmr::vector<int> numbers{tp::shared_resource()};
  before_and_after_main() { numbers.assign(1000, 7); }
  ~before_and_after_main() {
    numbers.push_back(1);
    if (numbers.size() != 1001) std::abort();
  }
} global_user;

template <class Check>
void with_each_resource(Check check) {
  tp::heap heap;
  tp::tag tag("each");
  tp::arena arena;
  tp::resource plain;
  tp::heap_resource of_heap(heap);
  tp::tag_resource of_tag(tag);
  tp::tag_resource of_tag_over_heap(tag, &of_heap);
  tp::arena_resource of_arena(arena);
  for (std::pmr::memory_resource* each : std::initializer_list<std::pmr::memory_resource*>{
           tp::shared_resource(), &plain, &of_heap, &of_tag, &of_tag_over_heap, &of_arena}) {
    check(*each);
  }
  EXPECT_EQ(tag.used(), 0u);
  EXPECT_EQ(heap.get_usage().live_bytes, 0u);
}

TEST(MemoryResource, GlobalsMayUseIt) { EXPECT_EQ(global_user.numbers[999], 7); }

TEST(MemoryResource, AlignsAsAsked) {
  with_each_resource([](std::pmr::memory_resource& memory) {
    for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
      for (std::size_t size : {0u, 1u, 24u, 1000u, 40000u}) {
        void* block = memory.allocate(size, alignment);
        ASSERT_NE(block, nullptr);
        ASSERT_TRUE(is_aligned(block, alignment)) << size << " aligned to " << alignment;
        std::memset(block, 1, size);
        memory.deallocate(block, size, alignment);
      }
    }
  });
}

TEST(MemoryResource, CarriesTheStandardContainers) {
  with_each_resource([](std::pmr::memory_resource& memory) {
    std::pmr::vector<std::pmr::string> texts(&memory);
    std::pmr::map<int, std::pmr::string> index(&memory);
    std::pmr::unordered_map<std::pmr::string, int> counts(&memory);
    std::pmr::list<int> chain(&memory);
    for (int i = 0; i < 2000; ++i) {
      texts.emplace_back(std::string(static_cast<std::size_t>(i % 100), 'x'));
      index.emplace(i, "a text that is too long for the short form");
      counts.emplace(std::pmr::string(std::to_string(i) + " and some more characters", &memory), i);
      chain.push_back(i);
    }
    EXPECT_EQ(texts[199].size(), 99u);
    EXPECT_EQ(index.size(), 2000u);
    EXPECT_EQ(counts.at("1234 and some more characters"), 1234);
    EXPECT_EQ(chain.back(), 1999);
    EXPECT_EQ(texts[5].get_allocator().resource(), &memory) << "the strings are in the resource too";
  });
}

TEST(MemoryResource, EqualityTellsWhoMayDeallocate) {
  tp::resource one, two;
  EXPECT_TRUE(one == two);
  EXPECT_TRUE(one == *tp::shared_resource());
  EXPECT_FALSE(one == *std::pmr::new_delete_resource());
  tp::heap heap, other_heap;
  tp::heap_resource a(heap), b(heap), c(other_heap);
  EXPECT_TRUE(a == b);
  EXPECT_FALSE(a == c);
  EXPECT_FALSE(a == one);
  tp::tag tag("tag"), other_tag("other");
  tp::tag_resource d(tag), e(tag, &one), f(other_tag), g(tag, &a);
  EXPECT_TRUE(d == e) << "equal upstreams";
  EXPECT_FALSE(d == f);
  EXPECT_FALSE(d == g);
  tp::arena arena, other_arena;
  tp::arena_resource h(arena), i(arena), j(other_arena);
  EXPECT_TRUE(h == i);
  EXPECT_FALSE(h == j);
}

TEST(MemoryResource, EqualResourcesExchangeBlocks) {
  tp::resource one, two;
  void* block = one.allocate(100, 8);
  two.deallocate(block, 100, 8);
  std::pmr::vector<int> from(1000, 5, &one);
  int* data = from.data();
  std::pmr::vector<int> to(&two);
  to = std::move(from);
  EXPECT_EQ(to.data(), data) << "moved, not copied";
}

TEST(MemoryResource, ThrowsWhenMemoryIsUsedUp) {
  EXPECT_THROW(static_cast<void>(tp::shared_resource()->allocate(hidden(SIZE_MAX / 2 + 2))), std::bad_alloc);
  tp::heap heap({.limit = 1 << 20});
  tp::heap_resource limited(heap);
  EXPECT_THROW(
      {
        std::pmr::vector<char> grows(&limited);
        for (;;) grows.resize(grows.size() + 10000);
      },
      std::bad_alloc);
  EXPECT_EQ(heap.get_usage().live_bytes, 0u);
  tp::arena arena({.limit = 1 << 20});
  tp::arena_resource bump(arena);
  EXPECT_THROW(static_cast<void>(bump.allocate(2 << 20)), std::bad_alloc);
}

TEST(MemoryResource, BudgetIsKeptAndRefunded) {
  tp::tag tag("budget", 100000);
  tp::tag_resource memory(tag);
  EXPECT_EQ(&memory.account(), &tag);
  {
    std::pmr::vector<char> bytes(&memory);
    bytes.reserve(60000);
    EXPECT_EQ(tag.used(), 60000u);
    EXPECT_THROW(bytes.reserve(60001), std::bad_alloc) << "old and new array do not fit together";
    EXPECT_EQ(bytes.capacity(), 60000u);
  }
  EXPECT_EQ(tag.used(), 0u);
}

TEST(MemoryResource, UpstreamThatFailsIsNotCharged) {
  tp::tag tag("upstream");
  tp::tag_resource over_nothing(tag, std::pmr::null_memory_resource());
  EXPECT_THROW(static_cast<void>(over_nothing.allocate(100)), std::bad_alloc);
  EXPECT_EQ(tag.used(), 0u);
}

TEST(MemoryResource, ElementsThatThrowLoseNothing) {
  tp::tag tag("throws");
  tp::tag_resource memory(tag);
  for (int fail_at = 0; fail_at < 20; ++fail_at) {
    counted::until_throw = fail_at;
    EXPECT_THROW(std::pmr::vector<counted>(20, &memory), std::runtime_error);
    counted::until_throw = -1;
    EXPECT_EQ(counted::live, 0);
    EXPECT_EQ(tag.used(), 0u);
  }
}

TEST(MemoryResource, ContainersEndInOtherThreads) {
  for (int i = 0; i < 20; ++i) {
    std::pmr::list<std::pmr::string> lines(tp::shared_resource());
    for (int n = 0; n < 500; ++n) lines.emplace_back("a line that is longer than the short form allows");
    std::thread([moved = std::move(lines)]() mutable { moved.clear(); }).join();
  }
}

}  // namespace
