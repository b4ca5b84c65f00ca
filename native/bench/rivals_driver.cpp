// The driver of rivals that are not malloc: boost's pools and the standard library's pool resources.
//
//   tidepool-bench-rivals FACE      command loop (serve.h)
//
// FACE: pmr-synchronized, pmr-unsynchronized, boost-pool, boost-singleton. Without boost's headers the latter two end with
// exit code 3.
#include <memory_resource>

#include "serve.h"

#if BENCH_HAS_BOOST
#include <boost/pool/pool.hpp>
#include <boost/pool/singleton_pool.hpp>
#include <boost/version.hpp>
#endif

namespace {

template <class Resource>
struct pmr_face {
  struct block {
    char* begin;
  };
  static inline Resource upstream;
  // As programs have it: behind the interface, so that every call is a virtual one.
  static inline std::pmr::memory_resource* volatile chosen = &upstream;
  static inline std::pmr::memory_resource* resource = chosen;
  static void rent(block& in, std::size_t size) { in.begin = static_cast<char*>(resource->allocate(size)); }
  static void give_back(block& in, std::size_t size) { resource->deallocate(in.begin, size); }
  static char* data(block& in) { return in.begin; }
};

#if BENCH_HAS_BOOST
// Of one thread only.
template <std::size_t Size>
struct boost_pool_face {
  struct block {
    void* begin;
  };
  static inline boost::pool<> pool{Size};
  static void rent(block& in, std::size_t) { in.begin = pool.malloc(); }
  static void give_back(block& in, std::size_t) { pool.free(in.begin); }
  static char* data(block& in) { return static_cast<char*>(in.begin); }
};

struct bench_tag {};

template <std::size_t Size>
struct boost_singleton_face {
  struct block {
    void* begin;
  };
  using pool = boost::singleton_pool<bench_tag, Size>;
  static void rent(block& in, std::size_t) { in.begin = pool::malloc(); }
  static void give_back(block& in, std::size_t) { pool::free(in.begin); }
  static char* data(block& in) { return static_cast<char*>(in.begin); }
};

bool answer_boost(const bench::command& line) {
  if (line.word(0) != "hello") return false;
  bench::answer("ok boost " BOOST_LIB_VERSION);
  return true;
}
#endif

}  // namespace

int main(int count, char** arguments) {
  std::string_view face = count > 1 ? arguments[1] : "";
  if (face == "pmr-synchronized") return bench::serve_any_size<pmr_face<std::pmr::synchronized_pool_resource>>();
  if (face == "pmr-unsynchronized") return bench::serve_any_size<pmr_face<std::pmr::unsynchronized_pool_resource>, false>();
  if (face == "boost-pool" || face == "boost-singleton") {
#if BENCH_HAS_BOOST
    return face == "boost-pool" ? bench::serve_fixed_sizes<boost_pool_face, false>(answer_boost)
                                : bench::serve_fixed_sizes<boost_singleton_face, true>(answer_boost);
#else
    std::fprintf(stderr, "built without boost\n");
    return 3;
#endif
  }
  std::fprintf(stderr, "usage: %s pmr-synchronized|pmr-unsynchronized|boost-pool|boost-singleton\n", arguments[0]);
  return 2;
}
