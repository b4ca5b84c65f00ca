// The inline headers over a library whose thread-local storage is dynamic.
#include <cstdio>
#include <thread>

#include "tidepool/tidepool.hpp"

#if !defined(TIDEPOOL_TLS_DYNAMIC)
#error "the headers must know how the library was built"
#endif

int main() {
  tp::pool<long> pool;
  long* object = pool.construct(42);
  std::thread([&] { pool.destroy(object); }).join();
  if (pool.get_usage().live_bytes != 0) return 1;
  for (int i = 0; i < 10000; ++i) tp::deallocate(tp::allocate(100), 100);
  std::puts("linked");
}
