#include "tidepool/allocator.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "support.h"

namespace {

using tests::counted;
using tests::hidden;
using tests::is_aligned;

using traits = std::allocator_traits<tp::allocator<int>>;
static_assert(traits::is_always_equal::value);
static_assert(traits::propagate_on_container_move_assignment::value);
static_assert(std::is_empty_v<tp::allocator<int>>);
static_assert(std::is_same_v<traits::rebind_alloc<double>, tp::allocator<double>>);
static_assert(sizeof(std::vector<int, tp::allocator<int>>) == sizeof(std::vector<int>));
using tagged_traits = std::allocator_traits<tp::tagged_allocator<int>>;
static_assert(!tagged_traits::is_always_equal::value);
static_assert(tagged_traits::propagate_on_container_move_assignment::value);
static_assert(tagged_traits::propagate_on_container_swap::value);
static_assert(!tagged_traits::propagate_on_container_copy_assignment::value);

using text = std::basic_string<char, std::char_traits<char>, tp::allocator<char>>;

// The same work on every container; Make<T> gives the allocator of T.
template <template <class> class Allocator, class Account>
void carries_the_containers(Account account) {
  using string = std::basic_string<char, std::char_traits<char>, Allocator<char>>;
  std::vector<string, Allocator<string>> texts{Allocator<string>(account)};
  std::deque<int, Allocator<int>> queue{Allocator<int>(account)};
  std::list<int, Allocator<int>> chain{Allocator<int>(account)};
  std::map<int, int, std::less<>, Allocator<std::pair<const int, int>>> index{Allocator<std::pair<const int, int>>(account)};
  std::set<int, std::less<>, Allocator<int>> distinct{Allocator<int>(account)};
  std::unordered_map<int, int, std::hash<int>, std::equal_to<>, Allocator<std::pair<const int, int>>> counts{
      Allocator<std::pair<const int, int>>(account)};
  for (int i = 0; i < 3000; ++i) {
    texts.emplace_back(static_cast<std::size_t>(i % 90), 'x', Allocator<char>(account));
    queue.push_back(i);
    if (i % 3 == 0) queue.pop_front();
    chain.push_front(i);
    index[i * 7919 % 3000] = i;
    distinct.insert(i % 500);
    ++counts[i % 700];
  }
  EXPECT_EQ(texts[2000].size(), 2000u % 90);
  EXPECT_EQ(queue.size(), 2000u);
  EXPECT_EQ(queue.back(), 2999);
  EXPECT_EQ(chain.front(), 2999);
  EXPECT_EQ(index.size(), 3000u);
  EXPECT_EQ(distinct.size(), 500u);
  EXPECT_EQ(counts[42], 5);
  auto copied = texts;
  auto moved = std::move(texts);
  EXPECT_EQ(copied, moved);
  chain.remove_if([](int i) { return i % 2 == 0; });
  EXPECT_EQ(chain.size(), 1500u);
}

struct nothing {
  template <class T>
  operator tp::allocator<T>() const {
    return {};
  }
};

TEST(Allocator, CarriesTheStandardContainers) { carries_the_containers<tp::allocator>(nothing{}); }

TEST(Allocator, TaggedCarriesTheStandardContainersAndRefundsAll) {
  tp::tag tag("containers");
  carries_the_containers<tp::tagged_allocator, tp::tag&>(tag);
  EXPECT_EQ(tag.used(), 0u);
  EXPECT_GT(tag.peak(), 100000u);
}

TEST(Allocator, OverAlignedElementsAreAligned) {
  struct alignas(64) line {
    float lanes[16];
  };
  std::vector<line, tp::allocator<line>> lines;
  for (int i = 0; i < 100; ++i) {
    lines.emplace_back();
    ASSERT_TRUE(is_aligned(lines.data(), 64)) << "vector of " << lines.size();
  }
  std::list<line, tp::allocator<line>> nodes(50);
  for (const line& each : nodes) EXPECT_TRUE(is_aligned(&each, 64));
  tp::tag tag("aligned");
  std::list<line, tp::tagged_allocator<line>> tagged(50, tp::tagged_allocator<line>(tag));
  for (const line& each : tagged) EXPECT_TRUE(is_aligned(&each, 64));
}

TEST(Allocator, TooManyElementsThrow) {
  tp::allocator<long> allocator;
  EXPECT_THROW(static_cast<void>(allocator.allocate(hidden(SIZE_MAX / 4))), std::bad_array_new_length) << "the product overflows";
  EXPECT_THROW(static_cast<void>(allocator.allocate(hidden(PTRDIFF_MAX / 16))), std::bad_alloc) << "the system has not so much";
  tp::tag tag("overflow");
  tp::tagged_allocator<long> tagged(tag);
  EXPECT_THROW(static_cast<void>(tagged.allocate(hidden(SIZE_MAX / 4))), std::bad_array_new_length);
  EXPECT_EQ(tag.used(), 0u);
}

TEST(Allocator, OneAndManyElementsExchangeBlocks) {
  // A vector of capacity 1 and a list node take the same path; both kinds are freed by their count.
  for (std::size_t count : {1u, 2u, 1u, 100u, 1u}) {
    tp::allocator<counted> allocator;
    counted* block = allocator.allocate(count);
    EXPECT_GE(tp_usable_size(block), count * sizeof(counted));
    allocator.deallocate(block, count);
  }
}

TEST(Allocator, ElementsThatThrowLoseNothing) {
  tp::tag tag("throws");
  for (int fail_at = 0; fail_at < 20; ++fail_at) {
    counted::until_throw = fail_at;
    EXPECT_THROW((std::vector<counted, tp::tagged_allocator<counted>>(20, tp::tagged_allocator<counted>(tag))),
                 std::runtime_error);
    counted::until_throw = fail_at;
    EXPECT_THROW((std::list<counted, tp::tagged_allocator<counted>>(20, tp::tagged_allocator<counted>(tag))),
                 std::runtime_error);
    counted::until_throw = -1;
    EXPECT_EQ(counted::live, 0);
    EXPECT_EQ(tag.used(), 0u);
  }
}

TEST(Allocator, BudgetStopsAContainer) {
  tp::tag tag("stops", 50000);
  std::list<int, tp::tagged_allocator<int>> chain{tp::tagged_allocator<int>(tag)};
  EXPECT_THROW(
      for (;;) chain.push_back(1), std::bad_alloc);
  EXPECT_GT(chain.size(), 1000u);
  EXPECT_LE(tag.used(), 50000u);
  chain.clear();
  EXPECT_EQ(tag.used(), 0u);
}

TEST(Allocator, TagGoesWithTheElements) {
  tp::tag a("a"), b("b");
  std::vector<int, tp::tagged_allocator<int>> first(1000, 1, tp::tagged_allocator<int>(a));
  std::vector<int, tp::tagged_allocator<int>> second(10, 2, tp::tagged_allocator<int>(b));
  EXPECT_NE(first.get_allocator(), second.get_allocator());
  int* data = first.data();
  second = std::move(first);
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(&second.get_allocator().account(), &a);
  EXPECT_EQ(b.used(), 0u);
  std::vector<int, tp::tagged_allocator<int>> third(10, 3, tp::tagged_allocator<int>(b));
  third.swap(second);
  EXPECT_EQ(&third.get_allocator().account(), &a);
  auto copy = third;
  EXPECT_EQ(&copy.get_allocator().account(), &a);
  EXPECT_EQ(a.used(), 8000u);
  second = third;  // copies the elements, keeps its tag
  EXPECT_EQ(&second.get_allocator().account(), &b);
}

TEST(Allocator, SharedPointersUseIt) {
  tp::tag tag("shared");
  auto shared = std::allocate_shared<counted>(tp::tagged_allocator<counted>(tag), 6);
  EXPECT_EQ(shared->value, 6);
  EXPECT_GE(tag.used(), sizeof(counted));
  shared.reset();
  EXPECT_EQ(tag.used(), 0u);
  EXPECT_EQ(counted::live, 0);
  EXPECT_EQ(std::allocate_shared<counted>(tp::allocator<counted>(), 7)->value, 7);
}

TEST(Allocator, ContainersEndInOtherThreads) {
  for (int i = 0; i < 20; ++i) {
    std::map<int, text, std::less<>, tp::allocator<std::pair<const int, text>>> map;
    for (int n = 0; n < 1000; ++n) map.emplace(n, "a text that is longer than the short form allows");
    std::thread([moved = std::move(map)]() mutable { moved.clear(); }).join();
  }
}

}  // namespace
