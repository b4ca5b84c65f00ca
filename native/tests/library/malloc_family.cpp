// malloc_family [ours]: what programs may expect of malloc and its relatives. Runs with any malloc, so that the
// expectations are those of the C library; with "ours" every block must also be Tidepool's.
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <vector>

#include "support/pattern.h"

namespace {

bool (*owns)(const void*);
int failures = 0;

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      printf("line %d: %s\n", __LINE__, #condition);                      \
      ++failures;                                                         \
    }                                                                     \
  } while (false)

volatile size_t huge = SIZE_MAX / 2 + 1;
volatile size_t zero = 0;

bool good(const void* block, size_t size, size_t alignment = 16) {
  if (block == nullptr || !test::is_aligned(block, alignment)) return false;
  if (owns != nullptr && !owns(block)) return false;
  return malloc_usable_size(const_cast<void*>(block)) >= size;
}

template <typename Allocate>
bool refused(int error, Allocate allocate) {
  errno = 0;
  void* block = allocate();
  return block == nullptr && errno == error;
}

void allocates() {
  for (size_t size : {0, 1, 8, 24, 100, 1024, 5000, 32768, 40000, 200000, 2000000}) {
    void* blocks[] = {malloc(size), calloc(1, size), realloc(nullptr, size), reallocarray(nullptr, 1, size), valloc(size), pvalloc(size),
                      memalign(64, size), aligned_alloc(256, size)};
    for (void* block : blocks) {
      CHECK(good(block, size));
      test::fill(block, size, 1);
    }
    CHECK(test::is_aligned(blocks[4], static_cast<size_t>(sysconf(_SC_PAGESIZE))));
    CHECK(malloc_usable_size(blocks[5]) >= static_cast<size_t>(sysconf(_SC_PAGESIZE)) || size == 0);
    CHECK(test::is_aligned(blocks[6], 64));
    CHECK(test::is_aligned(blocks[7], 256));
    for (void* block : blocks) CHECK(test::is_filled(block, size, 1));
    for (void* block : blocks) free(block);
  }
  errno = 33;
  free(nullptr);
  free(malloc(100));
  CHECK(errno == 33);
  CHECK(malloc_usable_size(nullptr) == 0);
}

void zeroes() {
  for (int round = 0; round < 50; ++round) {
    for (size_t size : {10, 100, 3000, 70000}) {
      auto* block = static_cast<unsigned char*>(calloc(3, size));
      CHECK(good(block, 3 * size));
      CHECK(test::is_zero(block, 3 * size));
      memset(block, 0xff, malloc_usable_size(block));
      free(block);
    }
  }
}

void refuses() {
  CHECK(refused(ENOMEM, [] { return malloc(huge); }));
  CHECK(refused(ENOMEM, [] { return calloc(huge, 2); }));
  CHECK(refused(ENOMEM, [] { return calloc(huge / 4, huge / 4); }));
  CHECK(refused(ENOMEM, [] { return memalign(64, huge); }));
  CHECK(refused(ENOMEM, [] { return aligned_alloc(64, huge); }));
  CHECK(refused(ENOMEM, [] { return valloc(huge); }));
  CHECK(refused(ENOMEM, [] { return pvalloc(SIZE_MAX - zero - 10); }));
  void* volatile block = malloc(100);  // a block that realloc refused is live, which the compiler does not believe
  test::fill(block, 100, 2);
  CHECK(refused(ENOMEM, [&] { return realloc(block, huge); }));
  CHECK(refused(ENOMEM, [&] { return reallocarray(block, huge, 2 + zero); }));
  CHECK(test::is_filled(block, 100, 2));
  free(block);
  void* untouched = &failures;
  errno = 44;
  CHECK(posix_memalign(&untouched, 3, 10) == EINVAL);
  CHECK(posix_memalign(&untouched, 4, 10) == EINVAL);
  CHECK(posix_memalign(&untouched, zero, 10) == EINVAL);
  CHECK(posix_memalign(&untouched, 64, huge) == ENOMEM);
  CHECK(untouched == &failures);
}

void aligns() {
  for (size_t alignment = sizeof(void*); alignment <= (1 << 21); alignment *= 2) {
    for (size_t size : {0, 1, 100, 5000, 100000}) {
      void* block = nullptr;
      CHECK(posix_memalign(&block, alignment, size) == 0);
      CHECK(good(block, size, alignment));
      test::fill(block, size, 3);
      CHECK(test::is_filled(block, size, 3));
      free(block);
    }
  }
  void* block = memalign(48, 100);  // glibc rounds up
  CHECK(good(block, 100, 64));
  free(block);
}

void reallocates() {
  auto* block = static_cast<unsigned char*>(malloc(10));
  for (int i = 0; i < 10; ++i) block[i] = static_cast<unsigned char>(i);
  for (size_t size : {100, 1000, 10000, 100000, 3000000, 50000, 500, 10}) {
    block = static_cast<unsigned char*>(size == 1000 ? reallocarray(block, 10, size / 10) : realloc(block, size));
    CHECK(good(block, size));
    for (int i = 0; i < 10; ++i) CHECK(block[i] == i);
  }
  CHECK(realloc(block, zero) == nullptr);  // frees
  std::vector<void*> blocks(1000);
  for (void*& b : blocks) b = malloc(100);
  for (void* b : blocks) CHECK(reallocarray(b, zero, 5) == nullptr);
}

using Allocator = void* (*)(size_t);
using Deleter = void (*)(void*);

// Names that not every C library has.
void others() {
  for (const char* name : {"__libc_malloc", "__libc_valloc", "__libc_pvalloc"}) {
    auto allocate = reinterpret_cast<Allocator>(dlsym(RTLD_DEFAULT, name));
    if (allocate == nullptr) continue;
    void* block = allocate(1000);
    CHECK(good(block, 1000));
    free(block);
  }
  if (auto release = reinterpret_cast<Deleter>(dlsym(RTLD_DEFAULT, "__libc_free"))) release(malloc(50));
  if (auto allocate = reinterpret_cast<void* (*)(size_t, size_t)>(dlsym(RTLD_DEFAULT, "__libc_memalign"))) free(allocate(128, 50));
  if (auto allocate = reinterpret_cast<void* (*)(size_t, size_t)>(dlsym(RTLD_DEFAULT, "__libc_calloc"))) free(allocate(3, 50));
  if (owns != nullptr) {
    auto sized = reinterpret_cast<void (*)(void*, size_t)>(dlsym(RTLD_DEFAULT, "free_sized"));
    auto aligned = reinterpret_cast<void (*)(void*, size_t, size_t)>(dlsym(RTLD_DEFAULT, "free_aligned_sized"));
    auto cfree = reinterpret_cast<Deleter>(dlsym(RTLD_DEFAULT, "cfree"));
    CHECK(sized != nullptr && aligned != nullptr && cfree != nullptr);
    if (failures != 0) return;
    sized(malloc(77), 77);
    aligned(aligned_alloc(64, 128), 64, 128);
    cfree(malloc(20));
  }
  std::vector<void*> blocks(20000);
  for (void*& block : blocks) {
    block = malloc(1000);
    memset(block, 1, 1000);
  }
  for (void* block : blocks) free(block);
  CHECK(malloc_trim(0) == 1);
  if (owns != nullptr) CHECK(malloc_trim(0) == 0);  // nothing has changed since; glibc gives the same memory back again
}

// What the C library itself allocates is freed by the program, and the other way round.
void shares_with_the_c_library() {
  char* copy = strdup("a string");
  CHECK(good(copy, 9));
  free(copy);
  char* text = nullptr;
  CHECK(asprintf(&text, "%0500d", 5) == 500);
  CHECK(good(text, 501));
  free(text);
  FILE* file = tmpfile();
  CHECK(file != nullptr);
  for (int i = 0; i < 3000; ++i) fputs("line of a file ", file);
  fputc('\n', file);
  rewind(file);
  auto* line = static_cast<char*>(malloc(5));
  size_t room = 5;
  CHECK(getline(&line, &room, file) == 3000 * 15 + 1);  // reallocated by the C library
  CHECK(good(line, room));
  free(line);
  fclose(file);
  char* path = realpath("/", nullptr);
  CHECK(good(path, 2));
  free(path);
  CHECK(setenv("A_VARIABLE", "value", 1) == 0 && unsetenv("A_VARIABLE") == 0);
}

}  // namespace

int main(int count, char**) {
  if (count > 1) {
    owns = reinterpret_cast<bool (*)(const void*)>(dlsym(RTLD_DEFAULT, "tp_owns"));
    if (owns == nullptr) {
      puts("tp_owns is not there");
      return 1;
    }
  }
  allocates();
  zeroes();
  refuses();
  aligns();
  reallocates();
  others();
  shares_with_the_c_library();
  return failures != 0;
}
