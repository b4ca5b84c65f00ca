// What of this process is in memory, as the kernel's page tables say it.
#ifndef TIDEPOOL_BENCH_RESIDENT_H
#define TIDEPOOL_BENCH_RESIDENT_H

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace bench {

struct resident {
  long all_kib = 0;        // pages of files too
  long anonymous_kib = 0;  // heap, stacks, data

  // smaps_rollup counts the pages; the counters of status and statm lag behind by up to some hundred pages for each core.
  static resident now() {
    static char text[8192];
    int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
      std::perror("/proc/self/smaps_rollup");
      std::exit(3);
    }
    std::size_t length = 0;
    for (ssize_t got; length < sizeof(text) - 1 && (got = read(file, text + length, sizeof(text) - 1 - length)) > 0;) {
      length += static_cast<std::size_t>(got);
    }
    close(file);
    text[length] = 0;
    return {field(text, "\nRss:"), field(text, "\nAnonymous:")};
  }

 private:
  static long field(const char* text, const char* name) {
    const char* line = std::strstr(text, name);
    if (line == nullptr) {
      std::fprintf(stderr, "smaps_rollup has no%s\n", name);
      std::exit(3);
    }
    return std::strtol(line + std::strlen(name), nullptr, 10);
  }
};

}  // namespace bench
#endif
