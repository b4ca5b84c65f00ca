// Resident memory of this process, in bytes.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

namespace test {

// False where more is resident than the program's own memory: with sanitizers, and under an emulator.
inline bool resident_is_ours() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#else
  return getenv("TIDEPOOL_UNDER_QEMU") == nullptr;
#endif
}

inline size_t resident_bytes() {
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  unsigned long total = 0, resident = 0;
  int found = fscanf(file, "%lu %lu", &total, &resident);
  fclose(file);
  return found == 2 ? resident * static_cast<size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace test
