#include "tidepool/arena.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "support.h"

namespace {

using tests::counted;
using tests::hidden;
using tests::is_aligned;

TEST(Arena, TakesNoMemoryUntilItIsUsed) {
  tp::arena arena;
  EXPECT_EQ(arena.held(), 0u);
  EXPECT_EQ(arena.used(), 0u);
  arena.reset();
  EXPECT_EQ(arena.trim(), 0u);
  EXPECT_NE(arena.allocate(0), nullptr);
  EXPECT_GE(arena.held(), 65536u);
}

TEST(Arena, AlignsAndDoesNotOverlap) {
  tp::arena arena;
  tests::random random(1);
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (int i = 0; i < 5000; ++i) {
    std::size_t alignment = std::size_t{1} << random.below(13);
    std::size_t size = random.below(random.below(20) == 0 ? 100000 : 300);
    auto* block = static_cast<unsigned char*>(arena.allocate(size, alignment));
    ASSERT_TRUE(is_aligned(block, alignment));
    std::memset(block, i % 251, size);
    blocks.emplace_back(block, size);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    auto [block, size] = blocks[i];
    ASSERT_TRUE(std::all_of(block, block + size, [i](unsigned char byte) { return byte == i % 251; })) << i;
  }
}

TEST(Arena, LargeRequestsGetTheirOwnBlock) {
  tp::arena arena({.block_size = 4096});
  auto* small = static_cast<char*>(arena.allocate(10));
  auto* large = static_cast<char*>(arena.allocate(1000000));
  std::memset(large, 1, 1000000);
  EXPECT_NE(small, nullptr);
  EXPECT_GE(arena.held(), 1004096u);
}

TEST(Arena, ResetKeepsTheMemoryForTheNextFrame) {
  tp::arena arena({.block_size = 8192});
  auto frame = [&arena] {
    std::vector<void*> places;
    for (int i = 0; i < 100; ++i) places.push_back(arena.allocate(static_cast<std::size_t>(500 + i * 7), 32));
    arena.reset();
    return places;
  };
  auto first = frame();
  std::size_t held = arena.held();
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(frame(), first) << "the same frame gets the same addresses";
    EXPECT_EQ(arena.held(), held) << "and takes no memory";
  }
  EXPECT_EQ(arena.used(), 0u);
  EXPECT_EQ(arena.trim(), held);
  EXPECT_EQ(arena.held(), 0u);
}

TEST(Arena, FramesThatGrowDoNotPileUpBlocks) {
  tp::arena arena({.block_size = 4096});
  std::size_t size = 0;
  for (int i = 0; i < 1000; ++i) {
    size = 4096 + static_cast<std::size_t>(i) * 100;
    ASSERT_NE(arena.try_allocate(size), nullptr);
    arena.reset();
  }
  EXPECT_LT(arena.held(), 3 * size);
}

TEST(Arena, ScopesNest) {
  tp::arena arena;
  static_cast<void>(arena.allocate(100));
  std::size_t outside = arena.used();
  void* inside = nullptr;
  {
    tp::arena::scope outer(arena);
    inside = arena.allocate(1000);
    std::size_t middle = arena.used();
    {
      tp::arena::scope inner(arena);
      static_cast<void>(arena.allocate(200000));
      EXPECT_GT(arena.used(), 200000u);
    }
    EXPECT_EQ(arena.used(), middle);
  }
  EXPECT_EQ(arena.used(), outside);
  EXPECT_EQ(arena.allocate(1000), inside) << "the place is used again";
}

TEST(Arena, RunsDestructorsInReverseOrder) {
  static std::string order;
  struct named {
    explicit named(char letter) : name(letter) {}
    ~named() { order += name; }
    char name;
  };
  order.clear();
  tp::arena arena;
  static_cast<void>(arena.make<named>('a'));
  {
    tp::arena::scope scope(arena);
    static_cast<void>(arena.make<named>('b'));
    static_cast<void>(arena.make<named>('c'));
  }
  EXPECT_EQ(order, "cb");
  static_cast<void>(arena.make<named>('d'));
  static_cast<void>(arena.make_without_destructor<named>('e'));
  arena.reset();
  EXPECT_EQ(order, "cbda");
  { tp::arena other; static_cast<void>(other.make<named>('f')); }
  EXPECT_EQ(order, "cbdaf") << "the end of the arena ends its objects";
}

TEST(Arena, ConstructorsThatThrowAreNotDestroyed) {
  tp::arena arena;
  static_cast<void>(arena.make<counted>(1));
  counted::until_throw = 0;
  EXPECT_THROW(static_cast<void>(arena.make<counted>(2)), std::runtime_error);
  static_cast<void>(arena.make<counted>(3));
  EXPECT_EQ(counted::live, 2);
  arena.reset();
  EXPECT_EQ(counted::live, 0);
}

TEST(Arena, ObjectsMadeByAConstructorEndAfterItsObject) {
  static std::string order;
  struct inner {
    ~inner() { order += 'i'; }
  };
  struct outer {
    explicit outer(tp::arena& memory) : part(memory.make<inner>()) {}
    ~outer() { order += part != nullptr ? 'o' : '?'; }
    inner* part;
  };
  tp::arena arena;
  static_cast<void>(arena.make<outer>(arena));
  arena.reset();
  EXPECT_EQ(order, "oi");
}

TEST(Arena, SpansAndOverAlignedObjects) {
  struct alignas(512) wide {
    char bytes[512];
  };
  tp::arena arena;
  EXPECT_TRUE(is_aligned(arena.make<wide>(), 512));
  auto numbers = arena.make_span<double>(1000);
  EXPECT_EQ(numbers.size(), 1000u);
  EXPECT_TRUE(is_aligned(numbers.data(), alignof(double)));
  EXPECT_THROW(static_cast<void>(arena.make_span<double>(hidden(SIZE_MAX / 4))), std::bad_alloc);
}

TEST(Arena, KeepsItsLimitAndItsTagsBudget) {
  tp::arena limited({.block_size = 65536, .limit = 4 * 65536});
  int blocks = 0;
  while (limited.try_allocate(60000) != nullptr) ASSERT_LE(++blocks, 4);
  EXPECT_EQ(blocks, 4);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_THROW(static_cast<void>(limited.allocate(60000)), std::bad_alloc);
  EXPECT_EQ(limited.try_allocate(hidden(SIZE_MAX - 20)), nullptr);
  EXPECT_EQ(limited.try_allocate(hidden(SIZE_MAX - 20), 4096), nullptr);

  tp::tag tag("frame", 200000);
  {
    tp::arena charged({.block_size = 65536, .tag = &tag});
    while (charged.try_allocate(60000) != nullptr) {
    }
    EXPECT_EQ(tag.used(), charged.held());
    EXPECT_GT(tag.used(), 100000u);
    charged.reset();
    EXPECT_EQ(charged.trim(), tag.peak());
    EXPECT_EQ(tag.used(), 0u);
    static_cast<void>(charged.allocate(1));
  }
  EXPECT_EQ(tag.used(), 0u);
}

TEST(ArenaDeathTest, MisuseOfMarksIsNoticed) {
  tp::arena arena;
  auto early = arena.get_mark();
  static_cast<void>(arena.allocate(100));
  auto late = arena.get_mark();
  arena.rewind(early);
  EXPECT_DEATH(arena.rewind(late), "no longer valid");
  EXPECT_DEATH(
      {
        tp::arena::scope scope(arena);
        arena.reset();
      },
      "inside of a scope");
  EXPECT_DEATH(
      {
        auto outer = std::make_unique<tp::arena::scope>(arena);
        auto inner = std::make_unique<tp::arena::scope>(arena);
        outer.reset();
      },
      "out of order");
}

// Random programs of allocations, objects, marks, rewinds and resets beside a model that knows what must be alive: live
// memory keeps its contents, and the counts of bytes and of objects return exactly to what they were at the mark.
class arena_program {
 public:
  explicit arena_program(std::uint64_t seed) : random_(seed), arena_({.block_size = std::size_t{1024} << random_.below(5)}) {}

  void run() {
    for (int step = 0; step < 2000; ++step) {
      switch (random_.below(10)) {
        case 0: mark(); break;
        case 1: rewind(); break;
        case 2: if (random_.below(20) == 0) reset(); break;
        case 3: if (random_.below(10) == 0) arena_.trim(); break;
        case 4: make(); break;
        default: allocate(); break;
      }
      ASSERT_EQ(counted::live, objects_);
    }
    verify();
    reset();
    ASSERT_EQ(counted::live, 0);
  }

 private:
  struct piece {
    unsigned char* at;
    std::size_t size;
    unsigned char fill;
  };
  struct saved {
    tp::arena::mark mark;
    std::size_t pieces, used;
    int objects;
  };

  void allocate() {
    std::size_t size = random_.below(random_.below(30) == 0 ? 50000 : 200);
    std::size_t alignment = std::size_t{1} << random_.below(9);
    auto* at = static_cast<unsigned char*>(arena_.allocate(size, alignment));
    ASSERT_TRUE(is_aligned(at, alignment));
    auto fill = static_cast<unsigned char>(random_.below(256));
    std::memset(at, fill, size);
    pieces_.push_back({at, size, fill});
  }

  void make() {
    if (random_.below(4) == 0) {
      counted::until_throw = 0;
      ASSERT_THROW(static_cast<void>(arena_.make<counted>()), std::runtime_error);
      return;
    }
    ASSERT_EQ(arena_.make<counted>(77)->value, 77);
    ++objects_;
  }

  void mark() { marks_.push_back({arena_.get_mark(), pieces_.size(), arena_.used(), objects_}); }

  void rewind() {
    if (marks_.empty()) return;
    marks_.resize(marks_.size() - random_.below(static_cast<std::uint32_t>(marks_.size())));
    saved to = marks_.back();
    marks_.pop_back();
    verify();
    arena_.rewind(to.mark);
    pieces_.resize(to.pieces);
    objects_ = to.objects;
    ASSERT_EQ(arena_.used(), to.used);
  }

  void reset() {
    verify();
    arena_.reset();
    pieces_.clear();
    marks_.clear();
    objects_ = 0;
    ASSERT_EQ(arena_.used(), 0u);
  }

  void verify() {
    for (const piece& each : pieces_) {
      ASSERT_TRUE(std::all_of(each.at, each.at + each.size, [&](unsigned char byte) { return byte == each.fill; }));
    }
  }

  tests::random random_;
  tp::arena arena_;
  std::vector<piece> pieces_;
  std::vector<saved> marks_;
  int objects_ = 0;
};

TEST(Arena, RandomProgramsMatchTheModel) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ASSERT_NO_FATAL_FAILURE(arena_program(seed).run());
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Arena, RefusesAnAlignmentThatIsNoneAndGoesOn) {
  tp::arena arena;
  for (bool used : {false, true}) {
    std::byte* block = used ? static_cast<std::byte*>(arena.allocate(100)) : nullptr;
    std::size_t before = arena.used();
    for (std::size_t alignment : {std::size_t{0}, std::size_t{3}, std::size_t{24}, SIZE_MAX}) {
      errno = 0;
      EXPECT_EQ(arena.try_allocate(8, hidden(alignment)), nullptr) << alignment;
      EXPECT_EQ(errno, EINVAL) << alignment;
      EXPECT_EQ(arena.used(), before);
    }
    errno = 0;
    EXPECT_EQ(arena.try_allocate(8, hidden(std::size_t{1} << 63)), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    auto* next = static_cast<std::byte*>(arena.allocate(100));
    EXPECT_TRUE(!used || next >= block + 100);
  }
}

TEST(Arena, OptionsWithoutBoundsAreServedAsFarAsMemoryGoes) {
  tp::arena endless({.block_size = SIZE_MAX});
  errno = 0;
  EXPECT_EQ(endless.try_allocate(8), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  tp::arena tiny({.block_size = 0});
  for (int i = 0; i < 100; ++i) std::memset(tiny.allocate(1000), 1, 1000);
  EXPECT_EQ(tiny.try_allocate(hidden(SIZE_MAX)), nullptr);
  EXPECT_EQ(tiny.try_allocate(hidden(SIZE_MAX - 31)), nullptr);
  EXPECT_THROW(static_cast<void>(tiny.make_span<long>(hidden(SIZE_MAX / 4))), std::bad_alloc);
}

}  // namespace
