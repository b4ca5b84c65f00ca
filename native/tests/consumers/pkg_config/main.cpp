// Built without CMake: what pkg-config says is all it has.
#include <cstdio>
#include <cstring>

#include "tidepool/tidepool.hpp"

int main() {
  auto buffer = tp::rent<char>(1000);
  std::memset(buffer.data(), 'x', buffer.size());
  auto text = tp::make_unique<long>(42);
  if (buffer[999] != 'x' || *text != 42 || tp_version() <= 0) return 1;
  std::puts("pkg-config knows the way");
}
