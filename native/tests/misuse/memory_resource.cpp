// A memory resource is told another size, or another alignment, than at the allocation.
#include <memory_resource>

#include "expect.h"
#include "tidepool/memory_resource.hpp"

using namespace misuse;

static void* block;
static tp_heap* heap;
static size_t size_of_block;

static void allocate(std::pmr::memory_resource& from, size_t size, size_t alignment) {
  block = opaque(from.allocate(size, alignment));
  size_of_block = size;
  expect_address(block, size);
}

static tp::heap_resource of_heap() {
  heap = tp_heap_create(nullptr);
  return tp::heap_resource(heap);
}

static void wrong_size_of_heap() {
  tp::heap_resource resource = of_heap();
  allocate(resource, 100, 8);
  resource.deallocate(opaque(block), 99, 8);
}

static void wrong_alignment_of_heap() {
  tp::heap_resource resource = of_heap();
  allocate(resource, 100, 64);
  resource.deallocate(opaque(block), 100, 8);
}

static void wrong_size() {
  allocate(*tp::shared_resource(), 100, 8);
  tp::shared_resource()->deallocate(opaque(block), 101, 8);
}

static void smaller_alignment() {
  allocate(*tp::shared_resource(), 100, 64);
  tp::shared_resource()->deallocate(opaque(block), 100, 8);
}

static void larger_alignment() {
  allocate(*tp::shared_resource(), 30, 8);
  tp::shared_resource()->deallocate(opaque(block), 30, 4096);
}

static void block_is_live() {
  require(tp_usable_size(block) == size_of_block, "the block is gone");
  tp_free(block);
}

// What is right is not reported, whichever way the alignment is small.
static bool right_claims_pass() {
  shared = static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  tp_set_misuse_handler(record);
  tp::heap_resource heap_memory = of_heap();
  for (std::pmr::memory_resource* resource : {tp::shared_resource(), static_cast<std::pmr::memory_resource*>(&heap_memory)}) {
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
      for (size_t size : {0, 1, 16, 64, 1000, 4096, 70000}) resource->deallocate(resource->allocate(size, alignment), size, alignment);
    }
    resource->deallocate(resource->allocate(100, 1), 100, 16);
  }
  tp_heap_destroy(heap);
  tp_set_misuse_handler(nullptr);
  if (shared->calls != 0) fprintf(stderr, "right claims: %s\n", shared->message);
  return shared->calls == 0;
}

int main() {
  if (!right_claims_pass()) return 1;
  return run<5>({
      {"size of a heap's block", tp_misuse_size_mismatch, wrong_size_of_heap, block_is_live, nullptr, nullptr, "with size 99"},
      {"alignment of a heap's block", tp_misuse_size_mismatch, wrong_alignment_of_heap, block_is_live, nullptr, nullptr,
       "aligned to 64, with alignment 8"},
      {"size", tp_misuse_size_mismatch, wrong_size, block_is_live, nullptr, nullptr, "with size 101"},
      {"smaller alignment", tp_misuse_size_mismatch, smaller_alignment, block_is_live, nullptr, nullptr, "aligned to 64, with alignment 8"},
      {"larger alignment", tp_misuse_size_mismatch, larger_alignment, block_is_live, nullptr, nullptr, "with alignment 4096"},
  });
}
