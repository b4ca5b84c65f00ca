// A number that no program guesses: it signs what the checked library keeps, and makes its canaries.
#pragma once

#include "base/config.h"

namespace tp::check {

// Random, drawn once for each process.
uint64_t secret();

inline uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace tp::check
