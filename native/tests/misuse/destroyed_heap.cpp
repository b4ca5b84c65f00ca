// A heap is used, or a block of it given back, after the heap was destroyed.
#include "expect.h"

using namespace misuse;

static tp_heap* heap;

static tp_heap* make_destroyed() {
  tp_heap_options options{};
  options.struct_size = sizeof(options);
  options.name = "level";
  heap = tp_heap_create(&options);
  tp_heap_destroy(heap);
  expect_address(heap, 0);
  return opaque(heap);
}

static void allocates() { require(tp_heap_malloc(make_destroyed(), 10) == nullptr, "a destroyed heap gave a block"); }
static void allocates_zeroed() { require(tp_heap_zalloc(make_destroyed(), 10) == nullptr, "a destroyed heap gave a block"); }

static void destroys_again() { tp_heap_destroy(make_destroyed()); }

static void asks() {
  size_t live = 1;
  tp_heap_usage(make_destroyed(), &live, nullptr);
  require(live == 0, "a destroyed heap has live bytes");
}

// Another heap in between: the pointer is not that of the new one.
static void after_another() {
  tp_heap* old = make_destroyed();
  tp_heap* other = tp_heap_create(nullptr);
  require(other != old, "the pointer was used again at once");
  require(tp_heap_malloc(old, 10) == nullptr, "a destroyed heap gave a block");
}

[[gnu::noinline]] static void* allocate_in_heap_here(size_t size) {
  void* block = opaque(tp_heap_malloc(heap, size));
  keep_frame();
  return block;
}

static void frees_block() {
  heap = tp_heap_create(nullptr);
  void* block = allocate_in_heap_here(300);
  tp_heap_destroy(heap);
  expect_address(block, 300);
  tp_free(opaque(block));
}

static void frees_large_block() {
  heap = tp_heap_create(nullptr);
  void* block = allocate_in_heap_here(1000000);
  tp_heap_destroy(heap);
  expect_address(block, 1000000);
  tp_free(opaque(block));
}

int main() {
  const char* text = "destroyed heap: ";
  return run<7>({
      {"allocate", tp_misuse_destroyed_heap, allocates, nullptr, nullptr, nullptr, "'level'"},
      {"allocate zeroed", tp_misuse_destroyed_heap, allocates_zeroed, nullptr, nullptr, nullptr, text},
      {"destroy again", tp_misuse_destroyed_heap, destroys_again, nullptr, nullptr, nullptr, "tp_heap_destroy"},
      {"ask for its usage", tp_misuse_destroyed_heap, asks, nullptr, nullptr, nullptr, "tp_heap_usage"},
      {"after another heap was made", tp_misuse_destroyed_heap, after_another, nullptr, nullptr, nullptr, text},
      {"free a block of it", tp_misuse_destroyed_heap, frees_block, nullptr, site(allocate_in_heap_here), nullptr, text},
      {"free a large block of it", tp_misuse_destroyed_heap, frees_large_block, nullptr, site(allocate_in_heap_here), nullptr, text},
  });
}
