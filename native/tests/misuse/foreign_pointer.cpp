// A pointer is freed that no block of this library ever was.
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
  char bytes[64];
  char* pointer = opaque(bytes);
  expect_address(pointer, 0);
  tp_free(pointer);
}

static void of_another_allocator() {
  void* pointer = opaque(malloc(100));
  expect_address(pointer, 0);
  tp_free(pointer);
}

static void resized() {
  void* pointer = opaque(malloc(100));
  expect_address(pointer, 0);
  require(tp_realloc(pointer, 200) == nullptr, "realloc of a foreign pointer gave a block");
}

static void sized() {
  char* pointer = opaque(static_bytes);
  expect_address(pointer, 0);
  tp_free_sized(pointer, 64);
}

static void of_unused_memory() {
  // A large block's neighbourhood belongs to the library, but nothing begins there.
  char* block = static_cast<char*>(tp_malloc(size_t{1} << 20));
  char* pointer = opaque(block + (size_t{8} << 20));
  expect_address(pointer, 0);
  tp_free(pointer);
  tp_free(block);
}

int main() {
  const char* text = "foreign pointer: tp_free";
  return run<7>({
      {"free of static memory", tp_misuse_foreign_pointer, of_static_memory, nullptr, nullptr, nullptr, text},
      {"free of static memory before the first use", tp_misuse_foreign_pointer, before_first_use, nullptr, nullptr, nullptr, text},
      {"free of the stack", tp_misuse_foreign_pointer, of_the_stack, nullptr, nullptr, nullptr, text},
      {"free of another allocator's block", tp_misuse_foreign_pointer, of_another_allocator, nullptr, nullptr, nullptr, text},
      {"realloc of another allocator's block", tp_misuse_foreign_pointer, resized, nullptr, nullptr, nullptr, "tp_realloc"},
      {"sized free of static memory", tp_misuse_foreign_pointer, sized, nullptr, nullptr, nullptr, "tp_free_sized"},
      {"free of memory where nothing begins", tp_misuse_foreign_pointer, of_unused_memory, nullptr, nullptr, nullptr, text},
  });
}
