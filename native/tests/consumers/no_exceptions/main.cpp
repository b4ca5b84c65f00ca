// Built with -fno-exceptions -fno-rtti: every part of the C++ interface, and what it does where it would throw.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <list>
#include <memory_resource>
#include <string>
#include <vector>

#include "tidepool/new_delete.hpp"
#include "tidepool/tidepool.hpp"

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "this program is to be built with -fno-exceptions -fno-rtti"
#endif

#define REQUIRE(condition)                                                   \
  do {                                                                       \
    if (!(condition)) {                                                      \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition);           \
      return 1;                                                              \
    }                                                                        \
  } while (false)

namespace {

std::size_t hidden(std::size_t number) {
  volatile std::size_t copy = number;
  return copy;
}

struct kilobyte {
  kilobyte() { bytes[0] = 1; }
  ~kilobyte() { bytes[0] = 0; }
  char bytes[1024];
};

int what_works() {
  auto buffer = tp::rent<float>(100, 64);
  REQUIRE(buffer && buffer.size() == 100);
  tp::pool<kilobyte> pool;
  REQUIRE(pool.rent()->bytes[0] == 1);
  REQUIRE(tp::make_unique<kilobyte>()->bytes[0] == 1);
  std::list<std::string, tp::allocator<std::string>> list(100, "a text that is longer than the short form");
  std::pmr::vector<int> numbers(1000, 7, tp::shared_resource());
  REQUIRE(list.size() == 100 && numbers[999] == 7);
  tp::heap heap;
  tp::heap_resource of_heap(heap);
  std::pmr::vector<int> moved(&of_heap);
  moved = std::move(numbers);  // other resource: elements are copied
  REQUIRE(moved.size() == 1000 && moved[999] == 7);
  tp::arena arena;
  REQUIRE(arena.make<kilobyte>() != nullptr);
  tp::stack_allocator stack;
  stack.deallocate(stack.allocate(100));
  tp::tag tag("tag", 10000);
  std::vector<char, tp::tagged_allocator<char>> charged(1000, 'x', tag);
  REQUIRE(tag.used() == 1000);
  delete new kilobyte;
  REQUIRE(tp_owns(numbers.data()) || numbers.empty());
  return 0;
}

// Where a pointer or a lease can tell, it does.
int what_returns_empty() {
  struct limits {
    tp::pool<kilobyte> pool{tp::pool_options{.limit = 64 * 1024}};
    tp::arena arena{tp::arena_options{.limit = 64 * 1024}};
    tp::stack_allocator stack{tp::stack_options{.capacity = 1024}};
    tp::tag tag{"tag", 100};
  } limited;
  int count = 0;
  while (kilobyte* one = limited.pool.construct()) {
    REQUIRE(++count <= 64);
    REQUIRE(one->bytes[0] == 1);
  }
  REQUIRE(count > 0);
  REQUIRE(!limited.pool.rent() && !limited.pool.try_rent() && !limited.pool.make_unique());
  REQUIRE(limited.arena.allocate(100000) == nullptr);
  REQUIRE(limited.arena.make_span<char>(100000).empty());
  REQUIRE(limited.stack.allocate(2000) == nullptr);
  REQUIRE(tp::allocate(limited.tag, 200) == nullptr);
  REQUIRE(!tp::try_rent<char>(hidden(SIZE_MAX)));
  void* volatile block = ::operator new(hidden(PTRDIFF_MAX), std::nothrow);
  REQUIRE(block == nullptr);
  return 0;
}

// Where nothing can tell, the program ends with a message; run.sh looks for it.
int what_aborts(const char* which) {
  if (std::strcmp(which, "rent") == 0) {
    auto lease = tp::rent<char>(hidden(SIZE_MAX));
    return lease ? 3 : 4;
  }
  if (std::strcmp(which, "allocator") == 0) {
    std::vector<char, tp::allocator<char>> bytes;
    bytes.reserve(hidden(PTRDIFF_MAX));
    return 3;
  }
  if (std::strcmp(which, "resource") == 0) {
    static_cast<void>(tp::shared_resource()->allocate(hidden(PTRDIFF_MAX)));
    return 3;
  }
  if (std::strcmp(which, "new") == 0) {
    void* volatile block = ::operator new(hidden(PTRDIFF_MAX));
    return block != nullptr ? 3 : 4;
  }
  if (std::strcmp(which, "length") == 0) {
    static_cast<void>(tp::allocator<long>().allocate(hidden(SIZE_MAX)));
    return 3;
  }
  return 4;
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) return what_aborts(arguments[1]);
  int failed = what_works();
  if (failed == 0) failed = what_returns_empty();
  if (failed == 0) std::puts("works without exceptions");
  return failed;
}
