// A program with three frequent sizes and some of everything. Prints what it asked for and what rounding lost; with an
// argument, records its sizes there.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tidepool/tidepool.h"

namespace {

std::uint32_t state = 12345;

std::uint32_t next_random() { return state = state * 1664525u + 1013904223u; }

std::size_t next_size() {
  std::uint32_t kind = (next_random() >> 16) % 100;
  if (kind < 45) return 264;
  if (kind < 75) return 648;
  if (kind < 95) return 2100;
  std::uint32_t octave = std::uint32_t{32} << ((next_random() >> 16) % 8);
  return octave + (next_random() >> 8) % octave;
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) tp_set_option(tp_option_profile, 1);
  constexpr int blocks = 20000;
  std::vector<void*> held;
  unsigned long long requested = 0, usable = 0;
  for (int i = 0; i < blocks; ++i) {
    std::size_t size = next_size();
    held.push_back(tp_malloc(size));
    requested += size;
    usable += tp_usable_size(held.back());
  }
  for (void* block : held) tp_free(block);
  if (count > 1 && !tp_write_size_profile(arguments[1])) return 1;
  std::printf("requested=%llu waste=%llu\n", requested, usable - requested);
  return 0;
}
