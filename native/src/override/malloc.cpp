// malloc and its relatives, for libtidepool-preload: each is the tp_ function of the same meaning. Where the C standard
// leaves a choice, the answer is glibc's, because the programs that are run under this library were tested with that.
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "api/process.h"
#include "base/config.h"
#include "os/os.h"

namespace {

// The smallest power of two that is not below n; 0 when there is none.
size_t power_of_two_from(size_t n) {
  if (n <= 1) return 1;
  unsigned bits = tp::log2_floor(n - 1) + 1;
  return bits < 64 ? size_t{1} << bits : 0;
}

void* fail(int error) {
  errno = error;
  return nullptr;
}

}  // namespace

extern "C" {

TP_EXPORT void* malloc(size_t size) noexcept { return tp::detail::allocate(size); }

TP_EXPORT void free(void* block) noexcept { tp::detail::deallocate(block); }

TP_EXPORT void* calloc(size_t count, size_t size) noexcept { return tp_calloc(count, size); }

// Size 0 frees the block and returns null, as in glibc: programs use it so.
TP_EXPORT void* realloc(void* block, size_t size) noexcept {
  if (TP_UNLIKELY(size == 0 && block != nullptr)) {
    tp::detail::deallocate(block);
    return nullptr;
  }
  return tp_realloc(block, size);
}

TP_EXPORT void* reallocarray(void* block, size_t count, size_t size) noexcept {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return fail(ENOMEM);
  return realloc(block, bytes);
}

// Reports by its result alone: errno is kept.
TP_EXPORT int posix_memalign(void** block, size_t alignment, size_t size) noexcept {
  if (!tp::is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  int saved = errno;
  void* allocated = tp_aligned_alloc(alignment, size);
  errno = saved;
  // An alignment that this library does not offer is a valid one to the caller.
  if (allocated == nullptr) return ENOMEM;
  *block = allocated;
  return 0;
}

TP_EXPORT void* aligned_alloc(size_t alignment, size_t size) noexcept { return tp_aligned_alloc(alignment, size); }

// Takes any alignment and rounds it up.
TP_EXPORT void* memalign(size_t alignment, size_t size) noexcept {
  size_t power = power_of_two_from(alignment);
  return power != 0 ? tp_aligned_alloc(power, size) : fail(EINVAL);
}

TP_EXPORT void* valloc(size_t size) noexcept { return tp_aligned_alloc(tp::os::page_size(), size); }

// Whole pages of the system, at least one.
TP_EXPORT void* pvalloc(size_t size) noexcept {
  size_t page = tp::os::page_size();
  if (size > tp::max_size - page) return fail(ENOMEM);
  return tp_aligned_alloc(page, size != 0 ? tp::round_up(size, page) : page);
}

TP_EXPORT size_t malloc_usable_size(void* block) noexcept { return tp_usable_size(block); }

// C23
TP_EXPORT void free_sized(void* block, size_t size) noexcept;
TP_EXPORT void free_sized(void* block, size_t size) noexcept { tp_free_sized(block, size); }
TP_EXPORT void free_aligned_sized(void* block, size_t alignment, size_t size) noexcept;
TP_EXPORT void free_aligned_sized(void* block, size_t alignment, size_t size) noexcept {
  tp_free_aligned_sized(block, alignment, size);
}

// The padding is what glibc leaves at the top of its heap; here as much may stay of what is idle. 1: memory went back to the
// system.
TP_EXPORT int malloc_trim(size_t padding) noexcept { return tp::trim_process(padding) != 0 ? 1 : 0; }

// In old programs, and the names by which some reach the functions behind an override: a block of the C library's own
// heap would be a foreign pointer to free.
#define TP_ALSO(result, name, parameters, call) \
  TP_EXPORT result name parameters noexcept;    \
  TP_EXPORT result name parameters noexcept { return call; }

TP_ALSO(void, cfree, (void* block), free(block))
TP_ALSO(void, __libc_free, (void* block), free(block))
TP_ALSO(void, __libc_cfree, (void* block), free(block))
TP_ALSO(void*, __libc_malloc, (size_t size), malloc(size))
TP_ALSO(void*, __libc_calloc, (size_t count, size_t size), calloc(count, size))
TP_ALSO(void*, __libc_realloc, (void* block, size_t size), realloc(block, size))
TP_ALSO(void*, __libc_memalign, (size_t alignment, size_t size), memalign(alignment, size))
TP_ALSO(void*, __libc_valloc, (size_t size), valloc(size))
TP_ALSO(void*, __libc_pvalloc, (size_t size), pvalloc(size))
TP_ALSO(int, __posix_memalign, (void** block, size_t alignment, size_t size), posix_memalign(block, alignment, size))
}
