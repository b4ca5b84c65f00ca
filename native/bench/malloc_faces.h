// The faces of the driver that knows nothing but the C++ library: run under LD_PRELOAD, "malloc" is whichever allocator
// is preloaded.
#ifndef TIDEPOOL_BENCH_MALLOC_FACES_H
#define TIDEPOOL_BENCH_MALLOC_FACES_H

#include <cstdlib>
#include <new>
#include <vector>

#include "mutex_pool.h"

namespace bench {

struct malloc_face {
  struct block {
    char* begin;
  };
  static void rent(block& in, std::size_t size) { in.begin = static_cast<char*>(std::malloc(size)); }
  static void give_back(block& in, std::size_t) { std::free(in.begin); }
  static char* data(block& in) { return in.begin; }
};

// The usual choice of the classic experiment. It zeroes what it allocates, and keeps three pointers.
struct vector_face {
  union block {
    block() {}
    ~block() {}
    std::vector<char> items;
  };
  static void rent(block& in, std::size_t size) { new (&in.items) std::vector<char>(size); }
  static void give_back(block& in, std::size_t) { in.items.~vector(); }
  static char* data(block& in) { return in.items.data(); }
};

// What std::vector<char>(n) does, done with calloc: zeroed memory behind a header object of three pointers.
struct zeroed_face {
  struct block {
    char *begin, *end, *capacity;
  };
  static void rent(block& in, std::size_t size) {
    in.begin = static_cast<char*>(std::calloc(size, 1));
    in.end = in.capacity = in.begin + size;
  }
  static void give_back(block& in, std::size_t) { std::free(in.begin); }
  static char* data(block& in) { return in.begin; }
};

struct mutex_pool_face {
  struct block {
    char* begin;
  };
  static inline mutex_pool pool;
  static void rent(block& in, std::size_t size) { in.begin = static_cast<char*>(pool.rent(size)); }
  static void give_back(block& in, std::size_t) { pool.give_back(in.begin); }
  static char* data(block& in) { return in.begin; }
};

}  // namespace bench
#endif
