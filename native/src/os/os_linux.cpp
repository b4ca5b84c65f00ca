#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <initializer_list>

#include "os/os.h"

#if !defined(MAP_FIXED_NOREPLACE)
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#if !defined(MREMAP_DONTUNMAP)
#define MREMAP_DONTUNMAP 4
#endif

// Calls that may wait are made by number: the C library's functions end a thread that was cancelled, with the locks that it holds.
namespace tp::os {

namespace {

std::atomic<size_t> calls{0};

// Callers of malloc and free may look at errno afterwards.
struct KeepErrno {
  int saved = errno;
  ~KeepErrno() { errno = saved; }
};

#if defined(TIDEPOOL_TESTING)
std::atomic<size_t> until_failure{0};
std::atomic<size_t> barriers{0};
std::atomic<uint64_t> stopped_at{0};

bool must_fail() {
  calls.fetch_add(1, std::memory_order_relaxed);
  size_t left = until_failure.load(std::memory_order_relaxed);
  while (left != 0) {
    if (!until_failure.compare_exchange_weak(left, left - 1)) continue;
    if (left != 1) return false;
    errno = ENOMEM;
    return true;
  }
  return false;
}
#else
bool must_fail() {
  calls.fetch_add(1, std::memory_order_relaxed);
  return false;
}
#endif

}  // namespace

#if defined(TIDEPOOL_TESTING)
void fail_after(size_t nth) { until_failure.store(nth); }
size_t barrier_count() { return barriers.load(std::memory_order_relaxed); }
void stop_clock(uint64_t at_ms) { stopped_at.store(at_ms); }
#endif

size_t call_count() { return calls.load(std::memory_order_relaxed); }

size_t page_size() {
  static std::atomic<size_t> known{0};
  size_t size = known.load(std::memory_order_relaxed);
  if (size == 0) {
    size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    known.store(size, std::memory_order_relaxed);
  }
  return size;
}

void* reserve(size_t length, size_t alignment) {
  KeepErrno keep;
  if (must_fail()) return nullptr;
  size_t mapped = length + alignment - page_size();
  if (mapped < length) return nullptr;
  void* map = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return nullptr;
  auto start = reinterpret_cast<uintptr_t>(map);
  uintptr_t aligned = (start + alignment - 1) & ~(alignment - 1);
  size_t before = aligned - start;
  if (before != 0) munmap(map, before);
  size_t after = mapped - before - length;
  if (after != 0) munmap(reinterpret_cast<void*>(aligned + length), after);
  madvise(reinterpret_cast<void*>(aligned), length, MADV_DONTDUMP);
  return reinterpret_cast<void*>(aligned);
}

void release(void* address, size_t length) {
  KeepErrno keep;
  calls.fetch_add(1, std::memory_order_relaxed);
  munmap(address, length);
}

bool commit(void* address, size_t length) {
  KeepErrno keep;
  if (must_fail() || mprotect(address, length, PROT_READ | PROT_WRITE) != 0) return false;
  madvise(address, length, MADV_DODUMP);
  return true;
}

Mapped map_at(void* address, size_t length, Access access) {
  KeepErrno keep;
  if (must_fail()) return Mapped::no_memory;
  int protection = access == Access::read ? PROT_READ : PROT_READ | PROT_WRITE;
  void* map = mmap(address, length, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (map == MAP_FAILED) return errno == ENOMEM || errno == EAGAIN ? Mapped::no_memory : Mapped::taken;
  if (map != address) {  // kernels before 4.17, and emulators, take the address for a hint
    munmap(map, length);
    return Mapped::taken;
  }
  if (access == Access::read) madvise(map, length, MADV_DONTDUMP);
  return Mapped::yes;
}

void* likely_place() {
  KeepErrno keep;
  calls.fetch_add(1, std::memory_order_relaxed);
  void* map = mmap(nullptr, page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return nullptr;
  munmap(map, page_size());
  return map;
}

bool discard(void* address, size_t length) {
  KeepErrno keep;
  return !must_fail() && madvise(address, length, MADV_DONTNEED) == 0;
}

bool protect(void* address, size_t length, bool accessible) {
  KeepErrno keep;
  return !must_fail() && mprotect(address, length, accessible ? PROT_READ | PROT_WRITE : PROT_NONE) == 0;
}

void set_huge_pages(void* address, size_t length, bool wanted) {
  KeepErrno keep;
  calls.fetch_add(1, std::memory_order_relaxed);
  madvise(address, length, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

namespace {

enum class Moved { yes, no, several_mappings };

// MREMAP_DONTUNMAP (Linux 5.7) leaves the old range mapped, so that no other mapping can slip into the hole.
Moved move_mapping(void* from, void* to, size_t length) {
  // In two steps: a range of several mappings is refused, and older kernels that are told the target unmap it first.
  // The place that the first one would rather have is none: without that argument the system is told what a register holds, and refuses
  // what is no whole page.
  void* between = mremap(from, length, length, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, nullptr);
  if (between == MAP_FAILED) return errno == EFAULT ? Moved::several_mappings : Moved::no;
  if (mremap(between, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to) {
    // The target may be gone by now: it gets fresh pages and a copy.
    mmap(to, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    __builtin_memcpy(to, between, length);
    munmap(between, length);
  }
  // qemu's user mode takes the old range for unmapped, and the next access would fault: it is mapped again there.
  unsigned char resident = 0;
  if (mincore(from, page_size(), &resident) != 0) {
    mmap(from, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  }
  return Moved::yes;
}

// What has been moved once is a mapping of its own, so a block that moves again and again has one more each time. They are found
// by halving: a few calls for each of them, where a copy would touch every byte.
Moved move_or_halve(char* from, char* to, size_t length, bool is_part) {
  constexpr size_t shortest_half = 64 * 1024;
  Moved moved = move_mapping(from, to, length);
  if (moved == Moved::yes || (moved == Moved::no && !is_part)) return moved;
  size_t half = length / 2 & ~(shortest_half - 1);
  if (moved == Moved::no || half == 0) {
    __builtin_memcpy(to, from, length);
    return Moved::yes;
  }
  move_or_halve(from, to, half, true);
  return move_or_halve(from + half, to + half, length - half, true);
}

}  // namespace

bool move_pages(void* from, void* to, size_t length) {
  KeepErrno keep;
  if (must_fail()) return false;
  return move_or_halve(static_cast<char*>(from), static_cast<char*>(to), length, false) == Moved::yes;
}

size_t mapping_limit() {
  KeepErrno keep;
  size_t least = SIZE_MAX;
  for (auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < least) least = limit.rlim_cur;
  }
  return least;
}

uint64_t now_ms() {
#if defined(TIDEPOOL_TESTING)
  if (uint64_t stopped = stopped_at.load(); stopped != 0) return stopped;
#endif
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1000000;
}

uint64_t random_seed() {
  KeepErrno keep;
  uint64_t seed = 0;
  if (syscall(SYS_getrandom, &seed, sizeof(seed), GRND_NONBLOCK) != static_cast<long>(sizeof(seed))) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    seed = (static_cast<uint64_t>(now.tv_nsec) << 32) ^ reinterpret_cast<uintptr_t>(&seed) ^ static_cast<uint64_t>(getpid());
  }
  return seed;
}

void write_all(int file_descriptor, const char* text, size_t length) {
  KeepErrno keep;
  while (length != 0) {
    long written = syscall(SYS_write, file_descriptor, text, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text += written;
    length -= static_cast<size_t>(written);
  }
}

NoCancellation::NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }

NoCancellation::~NoCancellation() {
  int disabled = 0;
  pthread_setcancelstate(before_, &disabled);
}

void wait(std::atomic<uint32_t>* word, uint32_t expected, uint32_t milliseconds) {
  KeepErrno keep;
  timespec time{static_cast<time_t>(milliseconds / 1000), static_cast<long>(milliseconds % 1000) * 1000000};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, milliseconds != 0 ? &time : nullptr, nullptr, 0);
}

void wake_one(std::atomic<uint32_t>* word) {
  KeepErrno keep;
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

bool has_barrier_of_process() {
#if defined(__SANITIZE_THREAD__)
  return false;  // it knows of no barrier but those of the language
#else
  enum : int { unknown, present, absent };
  static std::atomic<int> known{unknown};
  int answer = known.load(std::memory_order_relaxed);
  if (answer == unknown) {
    KeepErrno keep;
    answer = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 ? present : absent;
    known.store(answer, std::memory_order_relaxed);
  }
  return answer == present;
#endif
}

// Where a filter of system calls was set up after the registration: taking access from a page interrupts every processor
// that runs a thread of this process, for the sake of its translations. Some processors are told without an interrupt; no
// store of theirs takes as long as the pause.
TP_COLD static void barrier_by_protection() {
  void* page = mmap(nullptr, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) {
    *static_cast<volatile char*>(page) = 1;
    mprotect(page, page_size(), PROT_NONE);
    munmap(page, page_size());
  }
  timespec while_stores_arrive{0, 1'000'000};
  syscall(SYS_nanosleep, &while_stores_arrive, nullptr);
}

void barrier_of_process() {
  KeepErrno keep;
#if defined(TIDEPOOL_TESTING)
  barriers.fetch_add(1, std::memory_order_relaxed);
#endif
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return;
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
      syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) {
    return;
  }
  barrier_by_protection();
}

}  // namespace tp::os
