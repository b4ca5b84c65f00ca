// Options from the environment and from code, seen through the inline headers: options <what>.
#include <cstdio>
#include <cstring>
#include <string_view>

#include "tidepool/tidepool.hpp"

namespace {

struct secret {
  secret() { std::memset(bytes, 0x5a, sizeof(bytes)); }
  unsigned char bytes[64];
};

// Bytes that are still there after the free; the first ones may be the library's by then.
int left_of(const void* freed) {
  const volatile unsigned char* bytes = static_cast<const volatile unsigned char*>(freed);
  int left = 0;
  for (int i = 16; i < 64; ++i) left += bytes[i] == 0x5a;
  return left;
}

int bytes_left_after_free() {
  int left = 0;
  void* block = tp::allocate<64>();
  std::memset(block, 0x5a, 64);
  tp::deallocate<64>(block);
  left += left_of(block);
  block = tp::allocate(64);
  std::memset(block, 0x5a, 64);
  tp::deallocate(block, 64);
  left += left_of(block);
  tp::pool<secret> pool;
  secret* object = pool.construct();
  pool.destroy(object);
  return left + left_of(object);
}

}  // namespace

int main(int count, char** arguments) {
  std::string_view what = count > 1 ? arguments[1] : "";
  if (what == "zeroed") {
    std::printf("%d\n", bytes_left_after_free());
  } else if (what == "limit") {
    std::size_t held = 0;
    tp::buffer_lease<char> leases[64];
    for (auto& lease : leases) {
      lease = tp::try_rent<char>(4 << 20);
      if (lease) held += lease.size();
    }
    std::printf("%zu\n", held >> 20);
  } else if (what == "profile" && count > 2) {
    for (int i = 0; i < 1000; ++i) tp::deallocate<48>(tp::allocate<48>());
    for (int i = 0; i < 500; ++i) tp::deallocate(tp::allocate(200), 200);
    if (!tp_write_size_profile(arguments[2])) return 3;
  } else if (what == "huge") {
    if (tp::set_huge_pages(tp::huge_pages::never) != 0) return 3;
    tp::deallocate(tp::allocate(1));
    if (tp::get_huge_pages() != tp::huge_pages::never) return 4;
    if (tp::set_huge_pages(tp::huge_pages::always) == 0) return 5;
  } else {
    return 2;
  }
}
