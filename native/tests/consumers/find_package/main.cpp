// Containers, a buffer and an arena; with the argument "twice" a double free, which the checked library must catch.
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "tidepool/tidepool.hpp"

int main(int count, char** arguments) {
  std::map<int, std::string, std::less<>, tp::allocator<std::pair<const int, std::string>>> names;
  for (int i = 0; i < 1000; ++i) names[i] = "name " + std::to_string(i);
  auto buffer = tp::rent_zeroed<int>(1000, 64);
  tp::arena arena;
  auto squares = arena.make_span<int>(1000);
  for (std::size_t i = 0; i < squares.size(); ++i) squares[i] = static_cast<int>(i * i) + buffer[i];
  if (names[999] != "name 999" || squares[31] != 961) return 1;
  if (count > 1 && std::strcmp(arguments[1], "twice") == 0) {
    void* volatile block = tp::allocate(100);
    void* other = tp::allocate(100);
    tp::deallocate(block, 100);
    tp::deallocate(other, 100);
    tp::deallocate(block, 100);
  }
  std::printf("%s\n", tp_is_checked() ? "checked" : "release");
}
