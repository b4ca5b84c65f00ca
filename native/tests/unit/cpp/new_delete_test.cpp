#include "tidepool/new_delete.hpp"  // for the whole test program

#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "support.h"

namespace {

using tests::hidden;
using tests::is_aligned;

// Keeps a call of an operator, which the compiler may leave out when its result is not used.
void use(void* block) {
  void* volatile kept = block;
  static_cast<void>(kept);
}

// Calls of the operators themselves: new-expressions may be optimised away together with their delete.
template <class New, class Delete>
void round_trip(std::size_t size, std::size_t alignment, New allocate, Delete free) {
  void* block = allocate();
  ASSERT_NE(block, nullptr);
  EXPECT_TRUE(tp_owns(block)) << "the operator is the library's";
  EXPECT_TRUE(is_aligned(block, alignment));
  std::memset(block, 0x3c, size);
  free(block);
}

TEST(NewDelete, EveryFormIsReplaced) {
  for (std::size_t size : {0u, 1u, 24u, 1000u, 5000u, 100000u}) {
    round_trip(size, 16, [&] { return ::operator new(size); }, [&](void* p) { ::operator delete(p); });
    round_trip(size, 16, [&] { return ::operator new[](size); }, [&](void* p) { ::operator delete[](p); });
    round_trip(size, 16, [&] { return ::operator new(size); }, [&](void* p) { ::operator delete(p, size); });
    round_trip(size, 16, [&] { return ::operator new[](size); }, [&](void* p) { ::operator delete[](p, size); });
    round_trip(size, 16, [&] { return ::operator new(size, std::nothrow); },
               [&](void* p) { ::operator delete(p, std::nothrow); });
    round_trip(size, 16, [&] { return ::operator new[](size, std::nothrow); },
               [&](void* p) { ::operator delete[](p, std::nothrow); });
    for (std::size_t bytes : {32u, 64u, 4096u}) {
      std::align_val_t alignment{bytes};
      round_trip(size, bytes, [&] { return ::operator new(size, alignment); }, [&](void* p) { ::operator delete(p, alignment); });
      round_trip(size, bytes, [&] { return ::operator new[](size, alignment); },
                 [&](void* p) { ::operator delete[](p, alignment); });
      round_trip(size, bytes, [&] { return ::operator new(size, alignment); },
                 [&](void* p) { ::operator delete(p, size, alignment); });
      round_trip(size, bytes, [&] { return ::operator new[](size, alignment); },
                 [&](void* p) { ::operator delete[](p, size, alignment); });
      round_trip(size, bytes, [&] { return ::operator new(size, alignment, std::nothrow); },
                 [&](void* p) { ::operator delete(p, alignment, std::nothrow); });
      round_trip(size, bytes, [&] { return ::operator new[](size, alignment, std::nothrow); },
                 [&](void* p) { ::operator delete[](p, alignment, std::nothrow); });
    }
  }
}

TEST(NewDelete, NullMayBeDeleted) {
  ::operator delete(nullptr);
  ::operator delete(nullptr, 10);
  ::operator delete[](nullptr, 10, std::align_val_t{64});
  ::operator delete(nullptr, std::nothrow);
}

constexpr std::size_t too_much = PTRDIFF_MAX;

class NewHandler : public testing::Test {
 protected:
  static inline int calls = 0;
  void SetUp() override { calls = 0; }
  void TearDown() override { std::set_new_handler(nullptr); }

  // Gives up at the third call, as a handler does that has nothing left to free.
  static void gives_up() {
    if (++calls == 3) std::set_new_handler(nullptr);
  }
  static void throws() {
    ++calls;
    throw std::bad_alloc();
  }
};

TEST_F(NewHandler, WithoutOneBadAllocIsThrown) {
  EXPECT_THROW(use(::operator new(hidden(too_much))), std::bad_alloc);
  EXPECT_THROW(use(::operator new[](hidden(too_much))), std::bad_alloc);
  EXPECT_THROW(use(::operator new(hidden(too_much), std::align_val_t{64})), std::bad_alloc);
  EXPECT_EQ(::operator new(hidden(too_much), std::nothrow), nullptr);
  EXPECT_EQ(::operator new(hidden(too_much), std::align_val_t{64}, std::nothrow), nullptr);
}

TEST_F(NewHandler, IsCalledUntilItGivesUp) {
  std::set_new_handler(gives_up);
  EXPECT_THROW(use(::operator new(hidden(too_much))), std::bad_alloc);
  EXPECT_EQ(calls, 3);
  calls = 0;
  std::set_new_handler(gives_up);
  EXPECT_EQ(::operator new[](hidden(too_much), std::nothrow), nullptr);
  EXPECT_EQ(calls, 3);
}

TEST_F(NewHandler, MayThrow) {
  std::set_new_handler(throws);
  EXPECT_THROW(use(::operator new(hidden(too_much))), std::bad_alloc);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(::operator new(hidden(too_much), std::nothrow), nullptr) << "the nothrow form swallows it";
  EXPECT_EQ(calls, 2);
}

// A handler that frees memory lets the allocation succeed.
TEST_F(NewHandler, FreesMemoryAndTheAllocationSucceeds) {
  static void* reserve = nullptr;
  static std::size_t reserve_bytes = std::size_t{64} << 20;
  reserve = ::operator new(reserve_bytes);
  std::memset(reserve, 1, reserve_bytes);
  tp_purge(0);
  tp_statistics statistics{};
  statistics.struct_size = sizeof statistics;
  tp_get_statistics(&statistics);
  ASSERT_EQ(tp_set_option(tp_option_memory_limit, static_cast<int64_t>(statistics.committed_bytes + (8 << 20))), 0);
  std::set_new_handler([] {
    ++calls;
    ::operator delete(reserve);
    reserve = nullptr;
    tp_purge(0);
    std::set_new_handler(nullptr);
  });
  void* block = ::operator new(std::size_t{32} << 20);
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(calls, 1);
  tp_set_option(tp_option_memory_limit, 0);
  ::operator delete(block);
}

TEST(NewDelete, OrdinaryProgramsWork) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      std::vector<std::string> texts;
      for (int i = 0; i < 5000; ++i) texts.push_back(std::string(static_cast<std::size_t>(i % 200), 'y'));
      EXPECT_EQ(texts[1199].size(), 199u);
      EXPECT_TRUE(tp_owns(texts[1199].data()));
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace
