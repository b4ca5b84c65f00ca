// A program that was compiled with the inline headers of the release library runs with the checked one: every inline path
// still comes to it.
#undef TIDEPOOL_CHECKED
#include "expect.h"
#include "tidepool/pool.hpp"

using namespace misuse;

struct particle {
  char bytes[48];
};

static void inline_double_free() {
  void* block = opaque(tp::detail::allocate_fixed<48>());
  expect_address(block, 48);
  tp::detail::free_fixed<48>(opaque(block));
  tp::detail::free_fixed<48>(opaque(block));
}

static void inline_free_of_other_type() {
  char* block = static_cast<char*>(opaque(tp::detail::allocate(100)));
  expect_address(block + 16, 100);
  tp::detail::deallocate(opaque(block + 16));
}

static tp::pool<particle>* first;
static tp::pool<particle>* second;

static void object_of_another_pool() {
  first = new tp::pool<particle>;
  second = new tp::pool<particle>;
  particle* object = opaque(first->construct());
  expect_address(object, sizeof(particle));
  second->destroy(object);
}

static void object_destroyed_twice() {
  first = new tp::pool<particle>;
  particle* object = opaque(first->construct());
  expect_address(object, sizeof(particle));
  first->destroy(opaque(object));
  first->destroy(opaque(object));
}

static particle* spoilt;
static char before;

static void overflow_in_pool() {
  first = new tp::pool<particle>;
  spoilt = opaque(first->construct());
  expect_address(spoilt, sizeof(particle));
  before = opaque(spoilt->bytes)[48];
  opaque(spoilt->bytes)[48] = 0;
  first->destroy(opaque(spoilt));
}

static void put_right() {
  opaque(spoilt->bytes)[48] = before;
  first->destroy(spoilt);
}

// Many rounds, so that a list that filled up inline would show.
static void works() {
  for (int i = 0; i < 5000; ++i) {
    void* block = opaque(tp::detail::allocate_fixed<64>());
    require(block != nullptr, "no block");
    memset(block, 1, 64);
    tp::detail::free_fixed<64>(block);
  }
  tp::pool<particle> pool;
  for (int i = 0; i < 5000; ++i) pool.destroy(pool.construct());
  require(tp_try_malloc(64) == nullptr, "the inline path has a list of its own");
}

int main() {
  return run<5>({
      {"double free of a fixed size", tp_misuse_double_free, inline_double_free, works, nullptr, nullptr, "double free: "},
      {"interior pointer", tp_misuse_interior_pointer, inline_free_of_other_type, works, nullptr, nullptr, "16 bytes into"},
      {"object of another pool", tp_misuse_heap_mismatch, object_of_another_pool, works, nullptr, nullptr, "tp_pool_return"},
      {"object destroyed twice", tp_misuse_double_free, object_destroyed_twice, works, nullptr, nullptr, "tp_pool_return"},
      {"overflow in a pool", tp_misuse_overflow, overflow_in_pool, put_right, nullptr, nullptr, "offset 48"},
  });
}
