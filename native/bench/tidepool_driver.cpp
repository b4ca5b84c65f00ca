// The driver of this library's C++ faces.
//
//   tidepool-bench-tidepool FACE    command loop (serve.h)
//
// FACE: shared (tp_malloc and tp_free of libtidepool.so), inline (tp::allocate), pool (tp::pool<T>), pmr (tp::shared_resource).
// pool also answers "left" by the bytes of its pools that are still rented.
#include <tidepool/tidepool.hpp>

#include "serve.h"

namespace {

struct shared_face {
  struct block {
    char* begin;
  };
  static void rent(block& in, std::size_t size) { in.begin = static_cast<char*>(tp_malloc(size)); }
  static void give_back(block& in, std::size_t) { tp_free(in.begin); }
  static char* data(block& in) { return in.begin; }
};

struct inline_face {
  struct block {
    char* begin;
  };
  static void rent(block& in, std::size_t size) { in.begin = static_cast<char*>(tp::allocate(size)); }
  static void give_back(block& in, std::size_t size) { tp::deallocate(in.begin, size); }
  static char* data(block& in) { return in.begin; }
};

struct pmr_face {
  struct block {
    char* begin;
  };
  static inline std::pmr::memory_resource* volatile chosen = tp::shared_resource();
  static inline std::pmr::memory_resource* resource = chosen;
  static void rent(block& in, std::size_t size) { in.begin = static_cast<char*>(resource->allocate(size)); }
  static void give_back(block& in, std::size_t size) { resource->deallocate(in.begin, size); }
  static char* data(block& in) { return in.begin; }
};

template <std::size_t Size>
struct pool_face {
  struct item {
    item() {}  // as boost's pools, which give raw blocks: nothing is zeroed
    char bytes[Size];
  };
  struct block {
    item* one;
  };
  static inline tp::pool<item> pool;
  static void rent(block& in, std::size_t) { in.one = pool.construct(); }
  static void give_back(block& in, std::size_t) { pool.destroy(in.one); }
  static char* data(block& in) { return in.one->bytes; }
};

bool answer_pool(const bench::command& line) {
  if (line.word(0) == "hello") {
    bench::answer("ok tidepool %d", tp_version());
  } else if (line.word(0) == "left") {
    bench::answer("ok %zu", pool_face<64>::pool.get_usage().live_bytes + pool_face<512>::pool.get_usage().live_bytes +
                                pool_face<4096>::pool.get_usage().live_bytes);
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  std::string_view face = count > 1 ? arguments[1] : "";
  if (face == "shared") return bench::serve_any_size<shared_face>();
  if (face == "inline") return bench::serve_any_size<inline_face>();
  if (face == "pmr") return bench::serve_any_size<pmr_face>();
  if (face == "pool") return bench::serve_fixed_sizes<pool_face, true>(answer_pool);
  std::fprintf(stderr, "usage: %s shared|inline|pool|pmr\n", arguments[0]);
  return 2;
}
