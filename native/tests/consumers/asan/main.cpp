// A program built with AddressSanitizer over the checked library, which is not. The argument names what it does wrong.
#include <cstring>

#include "tidepool/tidepool.h"

int main(int, char** arguments) {
  auto* block = static_cast<volatile char*>(tp_malloc(100));
  block[99] = 1;
  if (std::strcmp(arguments[1], "freed") == 0) {
    tp_free(const_cast<char*>(block));
    return block[50];
  }
  if (std::strcmp(arguments[1], "behind") == 0) return block[100];
  tp_free(const_cast<char*>(block));
  // What is right stays so: blocks leave the quarantine, are moved, and are used again from end to end.
  tp_purge(0);
  for (std::size_t size = 1; size < 200000; size = size * 3 / 2 + 1) {
    auto* first = static_cast<char*>(tp_malloc(size));
    std::memset(first, 1, size);
    first = static_cast<char*>(tp_realloc(first, size * 2));
    std::memset(first, 2, size * 2);
    tp_free(first);
    if (size % 2 == 0) tp_purge(0);
  }
  return tp_is_valid() ? 0 : 1;
}
