// Memory of this process, in bytes.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

struct ProcessMemory {
  size_t mapped, resident;
};

inline ProcessMemory process_memory() {
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == nullptr) return {0, 0};
  unsigned long mapped = 0, resident = 0;
  int found = fscanf(file, "%lu %lu", &mapped, &resident);
  fclose(file);
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return found == 2 ? ProcessMemory{mapped * page, resident * page} : ProcessMemory{0, 0};
}

inline size_t resident_bytes() { return process_memory().resident; }

// Address space, which a limit of the process counts.
inline size_t mapped_bytes() { return process_memory().mapped; }

// Bytes that are locked into memory (mlockall).
inline size_t locked_bytes() {
  FILE* file = fopen("/proc/self/status", "r");
  if (file == nullptr) return 0;
  char line[1024];
  unsigned long kib = 0;
  while (fgets(line, sizeof(line), file) != nullptr && sscanf(line, "VmLck: %lu", &kib) != 1) {
  }
  fclose(file);
  return size_t{kib} * 1024;
}

// Whether the mapping at the address has this flag of two letters (VmFlags of /proc/PID/smaps).
inline bool has_mapping_flag(const void* address, const char* flag) {
  FILE* file = fopen("/proc/self/smaps", "r");
  if (file == nullptr) return false;
  char line[1024];
  bool inside = false, has = false;
  while (fgets(line, sizeof(line), file) != nullptr) {
    unsigned long begin, end;
    if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) {
      inside = reinterpret_cast<unsigned long>(address) >= begin && reinterpret_cast<unsigned long>(address) < end;
    } else if (inside && strncmp(line, "VmFlags:", 8) == 0) {
      has = strstr(line, flag) != nullptr;
    }
  }
  fclose(file);
  return has;
}

}  // namespace test
