// A native program that lab "advise" looks at, the twin of its managed one: it allocates blocks of 512 to 1,535 bytes that die young,
// under a stack as deep as that of a server, writes each and reads it five times.
//
//   tidepool-bench-allocating BYTES_PER_SECOND
//
// A line of its input is a pace, Paced or Saturated, or any other question. It answers each with its state, one line of JSON, and
// ends when its input ends.
#include "clock.h"
#include "serve.h"

#include <atomic>
#include <cinttypes>
#include <thread>

namespace {

constexpr int frames = 20, batch = 64, passes = 5;
constexpr unsigned shortest = 512, lengths = 1024;  // a power of two
constexpr double most_behind = 0.05;                // seconds

std::atomic<bool> is_paced{true};
std::atomic<std::uint64_t> allocated{0};
unsigned char* kept[batch];
unsigned turn = 0;

// No pass may be left out, though nothing uses the sum.
[[gnu::noinline]] void read(const unsigned char* block, std::size_t length) {
  for (int pass = 0; pass < passes; ++pass) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < length; i += sizeof(sum)) sum += block[i];
    asm volatile("" : : "r"(sum) : "memory");
  }
}

[[gnu::noinline]] std::uint64_t allocate_batch() {
  std::uint64_t bytes = 0;
  for (unsigned char*& place : kept) {
    std::size_t length = shortest + ((turn++ * 37) & (lengths - 1));
    std::free(place);
    place = static_cast<unsigned char*>(std::malloc(length));
    if (place == nullptr) std::abort();
    std::memset(place, static_cast<int>(turn), length);
    read(place, length);
    bytes += length;
  }
  return bytes;
}

// Sampling pays for each frame.
[[gnu::noinline]] std::uint64_t allocate_below(int left) {
  std::uint64_t bytes = left > 0 ? allocate_below(left - 1) : allocate_batch();
  asm volatile("" : : : "memory");  // a call at the end would leave no frame
  return bytes;
}

void work(double bytes_per_second) {
  std::uint64_t start = bench::now();
  double done = 0;
  while (true) {
    double due = static_cast<double>(bench::now() - start) / 1e9 * bytes_per_second;
    bool paced = is_paced.load(std::memory_order_relaxed);
    if (paced && done >= due) {
      usleep(1000);
      continue;
    }
    // What it is behind is not made up for, or it would be saturated for a while.
    if (!paced || due - done > most_behind * bytes_per_second) done = due;
    std::uint64_t bytes = allocate_below(frames);
    allocated.fetch_add(bytes, std::memory_order_relaxed);
    done += static_cast<double>(bytes);
  }
}

std::uint64_t processor_time() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

void answer_state() {
  bench::answer("{\"Allocated\":%" PRIu64 ",\"ProcessorNanoseconds\":%" PRIu64 ",\"Nanoseconds\":%" PRIu64 "}",
                allocated.load(std::memory_order_relaxed), processor_time(), bench::now());
}

}  // namespace

int main(int count, char** arguments) {
  double bytes_per_second = count == 2 ? std::strtod(arguments[1], nullptr) : 0;
  if (!(bytes_per_second > 0)) {
    std::fprintf(stderr, "usage: %s BYTES_PER_SECOND\n", arguments[0]);
    return 2;
  }
  std::thread(work, bytes_per_second).detach();
  bench::command line;
  while (line.read()) {
    if (line.word(0) == "Paced" || line.word(0) == "Saturated") is_paced = line.word(0) == "Paced";
    answer_state();
  }
  std::_Exit(0);
}
