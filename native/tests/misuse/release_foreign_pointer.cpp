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

static void works() {
  void* first = tp_malloc(64);
  void* second = tp_malloc(64);
  require(first != second && tp_is_valid(), "the heap is broken");
  tp_free(first);
  tp_free(second);
}

int main() {
  const char* text = "foreign pointer";
  return run<7>({
      {"free of static memory", tp_misuse_foreign_pointer, of_static_memory, works, nullptr, nullptr, text},
      {"free of static memory before the first use", tp_misuse_foreign_pointer, before_first_use, works, nullptr, nullptr, text},
      {"free of the stack", tp_misuse_foreign_pointer, of_the_stack, works, nullptr, nullptr, text},
      {"free of another allocator's block", tp_misuse_foreign_pointer, of_another_allocator, works, nullptr, nullptr, text},
      {"sized free of static memory", tp_misuse_foreign_pointer, sized, works, nullptr, nullptr, text},
      {"realloc of another allocator's block", tp_misuse_foreign_pointer, resized, works, nullptr, nullptr, text},
      {"free of memory where nothing begins", tp_misuse_foreign_pointer, of_unused_memory, works, nullptr, nullptr, text},
  });
}
