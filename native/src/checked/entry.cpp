#include "checked/entry.h"

#if TIDEPOOL_CHECKED

#include <errno.h>
#include <string.h>

#include "checked/annotate.h"
#include "checked/block.h"
#include "checked/core.h"
#include "checked/guard.h"
#include "checked/process.h"
#include "checked/records.h"

namespace tp::check {

namespace {

constexpr size_t most_pool_block = size_t{1} << 20;
constexpr size_t most_pool_alignment = slice_size;

bool is_pool(const Owner* owner) { return owner != nullptr && owner->block_size != 0; }

Owner* new_owner(OwnerKind kind, const char* name, size_t limit, bool zero_on_free) {
  start();
  Owner* owner = make_owner(kind, name);
  if (owner == nullptr) return nullptr;
  owner->heap = core_create_heap(kind == OwnerKind::pool, owner->name, limit);
  if (owner->heap == nullptr) {
    abandon_owner(owner);
    errno = ENOMEM;
    return nullptr;
  }
  owner->created = stacks::capture(checked_depth);
  owner->zero_on_free = zero_on_free;
  return owner;
}

void destroy_owner(Owner* owner, const char* call) {
  if (!verify_blocks_of(owner, call)) return;
  stacks::StackId stack = stacks::capture(checked_depth);
  Heap* heap = owner->heap;
  destroy_blocks_of(owner, stack);
  retire_owner(owner, stack);
  core_destroy_heap(heap);
}

void usage_of(const Owner* owner, size_t* live, size_t* held) {
  if (live != nullptr) *live = owner != nullptr ? owner->live_bytes.load(std::memory_order_relaxed) : 0;
  if (held != nullptr) *held = owner != nullptr ? core_held_bytes(owner->heap) : 0;
}

// The program may have closed parts of its block for AddressSanitizer.
void open_contents(const Record& record) {
  RecordAccess access(record.begin());
  open_for_asan(record.begin(), record.size);
}

}  // namespace

void* allocate(size_t size, size_t alignment, bool zero) { return allocate_block(nullptr, size, alignment, zero); }

// Always moves the block, so that a use of the old pointer is found.
void* reallocate(void* block, size_t size) {
  if (block == nullptr) return allocate_block(nullptr, size, 0, false);
  Record old;
  if (!examine_block(block, {.call = "tp_realloc"}, &old)) return nullptr;
  void* moved = allocate_block(is_pool(old.owner) ? nullptr : old.owner, size, 0, false);
  if (moved == nullptr) return nullptr;
  open_contents(old);
  memcpy(moved, block, size < old.size ? size : old.size);
  release_block(block, {.call = "tp_realloc"});
  return moved;
}

void release(void* block) {
  if (block != nullptr) release_block(block, {.call = "tp_free"});
}

void release_sized(void* block, size_t size) {
  if (block != nullptr) release_block(block, {.call = "tp_free_sized", .with_size = true, .size = size});
}

void release_aligned_sized(void* block, size_t alignment, size_t size) {
  if (block == nullptr) return;
  release_block(block, {.call = "tp_free_aligned_sized", .with_size = true, .size = size, .alignment = alignment});
}

size_t usable_size(const void* block) {
  Record record;
  if (block == nullptr || !examine_block(block, {.call = "tp_usable_size", .frees = false}, &record)) return 0;
  return record.size;
}

bool owns(const void* address) {
  Record record;
  return may_be_guarded(address) && find_containing(address, &record) && record.guarded &&
         record.state <= State::quarantined;
}

tp_heap* heap_create(const tp_heap_options* options) {
  constexpr tp_heap_options defaults{};
  if (options != nullptr && options->struct_size != sizeof(tp_heap_options)) {
    errno = EINVAL;
    return nullptr;
  }
  if (options == nullptr) options = &defaults;
  return reinterpret_cast<tp_heap*>(new_owner(OwnerKind::heap, options->name, options->limit, options->zero_on_free));
}

void* heap_allocate(tp_heap* heap, size_t size, size_t alignment, bool zero) {
  Owner* owner = verify_owner(heap, OwnerKind::heap, "tp_heap_malloc");
  return owner != nullptr ? allocate_block(owner, size, alignment, zero) : nullptr;
}

void heap_release(tp_heap* heap, void* block) {
  Owner* owner = verify_owner(heap, OwnerKind::heap, "tp_heap_free");
  if (owner != nullptr && block != nullptr) release_block(block, {.call = "tp_heap_free", .with_owner = true, .owner = owner});
}

void heap_release_aligned_sized(tp_heap* heap, void* block, size_t alignment, size_t size) {
  constexpr const char* call = "tp_heap_free_aligned_sized";
  Owner* owner = verify_owner(heap, OwnerKind::heap, call);
  if (owner == nullptr || block == nullptr) return;
  release_block(block, {.call = call, .with_owner = true, .owner = owner, .with_size = true, .size = size, .alignment = alignment});
}

void heap_usage(tp_heap* heap, size_t* live_bytes, size_t* held_bytes) {
  usage_of(verify_owner(heap, OwnerKind::heap, "tp_heap_usage"), live_bytes, held_bytes);
}

void heap_destroy(tp_heap* heap) {
  if (heap == nullptr) return;
  Owner* owner = verify_owner(heap, OwnerKind::heap, "tp_heap_destroy");
  if (owner != nullptr) destroy_owner(owner, "tp_heap_destroy");
}

tp_pool* pool_create(const tp_pool_options* options) {
  size_t alignment = options != nullptr && options->alignment != 0 ? options->alignment : min_alignment;
  if (options == nullptr || options->struct_size != sizeof(tp_pool_options) || options->block_size == 0 ||
      options->block_size > most_pool_block || !is_power_of_two(alignment) || alignment > most_pool_alignment) {
    errno = EINVAL;
    return nullptr;
  }
  if (alignment < min_alignment) alignment = min_alignment;
  Owner* owner = new_owner(OwnerKind::pool, options->name, options->limit, options->zero_on_free);
  if (owner == nullptr) return nullptr;
  owner->block_size = round_up(options->block_size, alignment);
  owner->front.block_size = static_cast<uint32_t>(owner->block_size);
  owner->alignment_log2 = static_cast<uint8_t>(log2_floor(alignment));
  return reinterpret_cast<tp_pool*>(owner);
}

void* pool_rent(tp_pool* pool) {
  Owner* owner = verify_owner(pool, OwnerKind::pool, "tp_pool_rent");
  if (owner == nullptr) return nullptr;
  return allocate_block(owner, owner->block_size, size_t{1} << owner->alignment_log2, false);
}

void pool_return(tp_pool* pool, void* block) {
  Owner* owner = verify_owner(pool, OwnerKind::pool, "tp_pool_return");
  if (owner != nullptr && block != nullptr) release_block(block, {.call = "tp_pool_return", .with_owner = true, .owner = owner});
}

size_t pool_block_size(const tp_pool* pool) {
  Owner* owner = verify_owner(pool, OwnerKind::pool, "tp_pool_block_size");
  return owner != nullptr ? owner->block_size : 0;
}

void pool_usage(tp_pool* pool, size_t* live_bytes, size_t* held_bytes) {
  usage_of(verify_owner(pool, OwnerKind::pool, "tp_pool_usage"), live_bytes, held_bytes);
}

void pool_destroy(tp_pool* pool) {
  if (pool == nullptr) return;
  Owner* owner = verify_owner(pool, OwnerKind::pool, "tp_pool_destroy");
  if (owner != nullptr) destroy_owner(owner, "tp_pool_destroy");
}

}  // namespace tp::check

#endif
