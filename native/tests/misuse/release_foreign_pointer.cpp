// The release library: a pointer outside of its memory is freed.
#include "expect.h"

using namespace misuse;

static char static_bytes[64];

static void of_static_memory() {
  tp_free(tp_malloc(16));
  char* pointer = opaque(static_bytes);
  expect_address(pointer, 0);
  tp_free(pointer);
}

static void before_first_use() {
  char* pointer = opaque(static_bytes);
  expect_address(pointer, 0);
  tp_free(pointer);
}

static void of_the_stack() {
  tp_free(tp_malloc(16));
  char bytes[64];
  char* pointer = opaque(bytes);
  expect_address(pointer, 0);
  tp_free(pointer);
}

static void of_another_allocator() {
  tp_free(tp_malloc(16));
  void* pointer = opaque(malloc(100));
  expect_address(pointer, 0);
  tp_free(pointer);
}

static void sized() {
  tp_free(tp_malloc(16));
  char* pointer = opaque(static_bytes);
  expect_address(pointer, 0);
  tp_free_sized(pointer, 64);
}

static void resized() {
  void* pointer = opaque(malloc(100));
  expect_address(pointer, 0);
  require(tp_realloc(pointer, 200) == nullptr, "realloc of a foreign pointer gave a block");
}

static void of_unused_memory() {
  char* block = static_cast<char*>(tp_malloc(size_t{1} << 20));
  char* pointer = opaque(block + (size_t{64} << 20));
  expect_address(pointer, 0);
  tp_free(pointer);
  tp_free(block);
}

// Far behind all that was ever handed out: address space that the library has taken, and nothing more.
static void of_reserved_memory() {
  char* block = static_cast<char*>(tp_malloc(100));
  tp_statistics statistics{};
  statistics.struct_size = sizeof(statistics);
  tp_get_statistics(&statistics);
  char* pointer = opaque(block + statistics.reserved_bytes / 2);
  expect_address(pointer, 0);
  tp_free(pointer);
  tp_free(block);
}

// The bytes behind the last block of a page: 64 KiB are 1365 blocks of 48 bytes and 16 bytes more.
static void behind_the_last_block() {
  char* block = static_cast<char*>(tp_malloc(48));
  char* page = block - reinterpret_cast<uintptr_t>(block) % 65536;
  char* pointer = opaque(page + 1365 * 48);
  expect_address(pointer, 0);
  require(tp_usable_size(pointer) == 0, "the place has a size");
  tp_free(block);
}

// The thread trusts its caller; whose block it is shows when it goes back.
static void returned_to_a_pool() {
  tp_pool_options options = {};
  options.struct_size = sizeof(options);
  options.block_size = 100;
  tp_pool* pool = tp_pool_create(&options);
  char* pointer = opaque(static_bytes);
  expect_address(pointer, 0);
  tp_pool_return(pool, pointer);
  tp_thread_idle();
}

static void works() {
  void* first = tp_malloc(64);
  void* second = tp_malloc(64);
  require(first != second && tp_is_valid(), "the heap is broken");
  tp_free(first);
  tp_free(second);
}

int main() {
  const char* text = "foreign pointer";
  return run<10>({
      {"free of static memory", tp_misuse_foreign_pointer, of_static_memory, works, nullptr, nullptr, text},
      {"free of static memory before the first use", tp_misuse_foreign_pointer, before_first_use, works, nullptr, nullptr, text},
      {"free of the stack", tp_misuse_foreign_pointer, of_the_stack, works, nullptr, nullptr, text},
      {"free of another allocator's block", tp_misuse_foreign_pointer, of_another_allocator, works, nullptr, nullptr, text},
      {"sized free of static memory", tp_misuse_foreign_pointer, sized, works, nullptr, nullptr, text},
      {"realloc of another allocator's block", tp_misuse_foreign_pointer, resized, works, nullptr, nullptr, text},
      {"free of memory where nothing begins", tp_misuse_foreign_pointer, of_unused_memory, works, nullptr, nullptr, text},
      {"free of memory that is only reserved", tp_misuse_foreign_pointer, of_reserved_memory, works, nullptr, nullptr, text},
      {"size of what lies behind the last block", tp_misuse_foreign_pointer, behind_the_last_block, works, nullptr, nullptr, text},
      {"return of static memory to a pool", tp_misuse_foreign_pointer, returned_to_a_pool, works, nullptr, nullptr, text},
  });
}
