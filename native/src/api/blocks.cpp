// The entry points for blocks. In the release library each is the inline fast path with one slow exit; in the checked
// library each goes to the checked layer.
#include <errno.h>
#include <string.h>

#include "api/blocks.h"
#include "base/report.h"
#include "checked/entry.h"
#include "heap/magazines.h"
#include "heap/thread_heap.h"
#include "heap/unchecked.h"

namespace tp {

namespace {

bool alignment_is_valid(size_t alignment) {
  if (is_power_of_two(alignment) && alignment <= max_alignment) return true;
  errno = EINVAL;
  return false;
}

// call: "free", "realloc" or "size".
TP_COLD void report_wrong_pointer(const void* block, const unchecked::Block& found, const char* call) {
  if (found.start == nullptr) return report_foreign_pointer(block, call);
  Text text;
  text.add(call).add(" of an interior pointer: ").add_address(block).add(" lies in the block ").add_address(found.start);
  text.add(" of ").add(found.size).add(" bytes");
  report_misuse(tp_misuse_interior_pointer, block, found.size, text.c_str());
}

TP_COLD void report_double_free(const void* block, size_t size) {
  Text text;
  text.add("double free: ").add_address(block).add(" of ").add(size).add(" bytes was the last block this thread freed");
  report_misuse(tp_misuse_double_free, block, size, text.c_str());
}

// The usable size of the large block that begins there; 0: none does, and the call was reported.
TP_NOINLINE size_t size_of_large(const void* block, const char* call) {
  unchecked::Block found = unchecked::find(block);
  if (found.start == block && found.start != nullptr) return page_of(found.id)->usable_length();
  report_wrong_pointer(block, found, call);
  return 0;
}

// The usable size of a block that was handed out, as far as can be told without a record of each; 0: the call was reported.
size_t size_or_report(const void* block, const char* call) {
  size_t size = unchecked::size_in_page(block);
  return TP_LIKELY(size != 0) ? size : size_of_large(block, call);
}

void free_slow(void* block) {
  if (block == nullptr) return;
  Heap* heap = known_heap();
  if (heap != nullptr) {
    uintptr_t offset = detail::rotate_low_bits(reinterpret_cast<uintptr_t>(block) - heap->base);
    if (offset < heap->span) {
      size_t bin = heap->bins[offset >> (slice_shift - 4)];
      if (bin != 0) {
        if (heap->top[bin][-1] == block) return report_double_free(block, shapes.of[bin].block_size);
        return return_slow(heap, block, bin);
      }
    }
  }
  if (size_or_report(block, "free") != 0) unchecked::free(block);
}

void* aligned(size_t alignment, size_t size, bool zero) {
  if (!alignment_is_valid(alignment)) return nullptr;
  if (checked) return check::allocate(size, alignment, zero);
  return or_enomem(unchecked::allocate(size, alignment, zero));
}

}  // namespace

}  // namespace tp

using namespace tp;

extern "C" TP_EXPORT void* tp_malloc_slow_(size_t size) noexcept {
  if (checked) return check::allocate(size, 0, false);
  return or_enomem(unchecked::allocate(size, 0, false));
}

#if defined(TIDEPOOL_TESTING)
static std::atomic<size_t> slow_frees{0};
size_t tp::slow_free_count() { return slow_frees.load(std::memory_order_relaxed); }
#endif

extern "C" TP_EXPORT void tp_free_slow_(void* block) noexcept {
#if defined(TIDEPOOL_TESTING)
  slow_frees.fetch_add(1, std::memory_order_relaxed);
#endif
  if (checked) return check::release(block);
  free_slow(block);
}

void* tp_malloc(size_t size) noexcept {
  if constexpr (checked) return check::allocate(size, 0, false);
  return detail::allocate(size);
}

void* tp_zalloc(size_t size) noexcept {
  if constexpr (checked) return check::allocate(size, 0, true);
  if (size > max_class_size) return or_enomem(unchecked::allocate(size, 0, true));
  void* block = detail::allocate(size);
  if (TP_LIKELY(block != nullptr)) memset(block, 0, size);
  return block;
}

void* tp_calloc(size_t count, size_t size) noexcept {
  size_t bytes;
  if (TP_UNLIKELY(__builtin_mul_overflow(count, size, &bytes))) return or_enomem(nullptr);
  return tp_zalloc(bytes);
}

void* tp_aligned_alloc(size_t alignment, size_t size) noexcept { return aligned(alignment, size, false); }
void* tp_aligned_zalloc(size_t alignment, size_t size) noexcept { return aligned(alignment, size, true); }

void* tp_realloc(void* block, size_t size) noexcept {
  if (block == nullptr) return tp_malloc(size);
  if (checked) return check::reallocate(block, size);
  size_t old = size_or_report(block, "realloc");
  return old != 0 ? or_enomem(unchecked::reallocate(block, old, size)) : nullptr;
}

void* tp_reallocarray(void* block, size_t count, size_t size) noexcept {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return or_enomem(nullptr);
  return tp_realloc(block, bytes);
}

void tp_free(void* block) noexcept {
  if constexpr (checked) return check::release(block);
  detail::deallocate(block);
}

void tp_free_sized(void* block, size_t size) noexcept {
  if constexpr (checked) return check::release_sized(block, size);
  (void)size;
  detail::deallocate(block);
}

void tp_free_aligned_sized(void* block, size_t alignment, size_t size) noexcept {
  if constexpr (checked) return check::release_aligned_sized(block, alignment, size);
  (void)alignment, (void)size;
  detail::deallocate(block);
}

size_t tp_usable_size(const void* block) noexcept {
  if constexpr (checked) return check::usable_size(block);
  if (size_t size = unchecked::size_in_page(block); TP_LIKELY(size != 0)) return size;
  return block != nullptr ? size_of_large(block, "size") : 0;
}

bool tp_owns(const void* address) noexcept {
  return slice_of(address) != 0 || (checked && check::owns(address));
}

size_t tp_malloc_batch(size_t size, size_t count, void** blocks) noexcept {
  size_t done = 0;
  while (done < count && (blocks[done] = tp_malloc(size)) != nullptr) ++done;
  return done;
}

size_t tp_aligned_alloc_batch(size_t alignment, size_t size, size_t count, void** blocks) noexcept {
  if (!alignment_is_valid(alignment)) return 0;
  // Classes of this alignment are the classes of a size rounded up to it, so all but the first go the fast path.
  size_t rounded = alignment > min_alignment && alignment <= max_class_size && size <= max_class_size && !checked
                       ? round_up(size != 0 ? size : 1, alignment)
                       : max_class_size + 1;
  size_t done = 0;
  if (rounded <= max_class_size && size_of_bin(bin_of(rounded)) % alignment == 0) return tp_malloc_batch(rounded, count, blocks);
  while (done < count && (blocks[done] = tp_aligned_alloc(alignment, size)) != nullptr) ++done;
  return done;
}

void tp_free_batch(void* const* blocks, size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) tp_free(blocks[i]);
}

void* tp_try_malloc(size_t size) noexcept {
  Heap* heap = known_heap();
  if (checked || heap == nullptr || heap->span == 0 || size > max_class_size) return nullptr;
  return detail::pop(heap, bin_of(size));
}

bool tp_try_free(void* block) noexcept {
  Heap* heap = known_heap();
  if (checked || heap == nullptr || block == nullptr) return false;
  uintptr_t offset = detail::rotate_low_bits(reinterpret_cast<uintptr_t>(block) - heap->base);
  if (offset >= heap->span) return false;
  size_t bin = heap->bins[offset >> (slice_shift - 4)];
  // Leaves a suspected double free to tp_free, which reports it.
  return heap->top[bin][-1] != block && detail::push(heap, bin, block);
}

size_t tp_good_size(size_t size) noexcept { return unchecked::good_size(size); }
size_t tp_class_count() noexcept { return class_count; }
size_t tp_class_size(size_t index) noexcept { return index < class_count ? detail::class_sizes[index] : 0; }
size_t tp_class_index(size_t size) noexcept { return size <= max_class_size ? bin_of(size) - 1 : class_count; }
