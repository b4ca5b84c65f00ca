// A program whose operators new and delete are replaced by one of its source files.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "tidepool/tidepool.h"

struct alignas(64) line {
  char bytes[64];
};

int main() {
  auto text = std::make_unique<std::string>("a text that is longer than the short form of a string");
  auto lines = std::make_unique<line[]>(10);
  if (!tp_owns(text.get()) || !tp_owns(text->data()) || !tp_owns(lines.get())) return 1;
  if (reinterpret_cast<std::uintptr_t>(lines.get()) % 64 != 0) return 2;
  std::puts("new and delete are the library's");
}
