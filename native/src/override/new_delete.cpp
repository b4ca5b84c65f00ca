// operator new and operator delete in all their forms, for libtidepool-preload.
//
// The library has no C++ runtime of its own, and a program that has none needs none. When memory is used up, the operator
// of the program's runtime takes over, found by name: it asks this library's malloc again, calls the new handler, throws.
// Its exception passes through the functions below, which have unwind tables and nothing to clean up.
//
// The functions carry the names that the compiler would give to operator new(unsigned long) and so on; defined under
// these, they need no header of the C++ library.
#include <dlfcn.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/report.h"

namespace {

// The next definition of the operator: in the libraries behind this one, or in a runtime that was loaded with dlopen and
// is not seen from here.
TP_COLD void* next_definition(const char* name) {
  if (void* found = dlsym(RTLD_NEXT, name)) return found;
  for (const char* runtime : {"libstdc++.so.6", "libc++abi.so.1", "libc++.so.1"}) {
    void* library = dlopen(runtime, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    if (void* found = dlsym(library, name)) return found;
  }
  return nullptr;
}

// For the forms that throw; does not return null.
template <typename... Arguments>
TP_COLD void* new_after_failure(const char* name, Arguments... arguments) {
  auto next = reinterpret_cast<void* (*)(Arguments...)>(next_definition(name));
  if (next == nullptr) tp::fatal("operator new: out of memory, and the program has no C++ runtime that could throw", nullptr);
  return next(arguments...);
}

template <typename... Arguments>
TP_COLD void* nothrow_new_after_failure(const char* name, Arguments... arguments) {
  auto next = reinterpret_cast<void* (*)(Arguments...)>(next_definition(name));
  return next != nullptr ? next(arguments...) : nullptr;
}

[[gnu::always_inline]] inline void release(void* block, size_t size) {
  // Only the checked library looks at the size; the release library finds the class as fast without it.
  if constexpr (tp::checked) return tp_free_sized(block, size);
  tp::detail::deallocate(block);
}

[[gnu::always_inline]] inline void release(void* block, size_t size, size_t alignment) {
  if constexpr (tp::checked) return tp_free_aligned_sized(block, alignment, size);
  tp::detail::deallocate(block);
}

}  // namespace

extern "C" {

#define TP_NEW(name)                                              \
  TP_EXPORT void* name(size_t size);                              \
  TP_EXPORT void* name(size_t size) {                             \
    if (void* block = tp::detail::allocate(size)) return block;   \
    return new_after_failure(#name, size);                        \
  }

#define TP_NEW_NOTHROW(name)                                      \
  TP_EXPORT void* name(size_t size, const void* tag) noexcept;    \
  TP_EXPORT void* name(size_t size, const void* tag) noexcept {   \
    if (void* block = tp::detail::allocate(size)) return block;   \
    return nothrow_new_after_failure(#name, size, tag);           \
  }

#define TP_NEW_ALIGNED(name)                                              \
  TP_EXPORT void* name(size_t size, size_t alignment);                    \
  TP_EXPORT void* name(size_t size, size_t alignment) {                   \
    if (void* block = tp_aligned_alloc(alignment, size)) return block;    \
    return new_after_failure(#name, size, alignment);                     \
  }

#define TP_NEW_ALIGNED_NOTHROW(name)                                              \
  TP_EXPORT void* name(size_t size, size_t alignment, const void* tag) noexcept;  \
  TP_EXPORT void* name(size_t size, size_t alignment, const void* tag) noexcept { \
    if (void* block = tp_aligned_alloc(alignment, size)) return block;            \
    return nothrow_new_after_failure(#name, size, alignment, tag);                \
  }

#define TP_DELETE(name, ...)                          \
  TP_EXPORT void name(void* block __VA_ARGS__) noexcept; \
  TP_EXPORT void name(void* block __VA_ARGS__) noexcept

// size_t is unsigned long (m) in the names below.
static_assert(sizeof(size_t) == sizeof(unsigned long));

TP_NEW(_Znwm)
TP_NEW(_Znam)
TP_NEW_NOTHROW(_ZnwmRKSt9nothrow_t)
TP_NEW_NOTHROW(_ZnamRKSt9nothrow_t)
TP_NEW_ALIGNED(_ZnwmSt11align_val_t)
TP_NEW_ALIGNED(_ZnamSt11align_val_t)
TP_NEW_ALIGNED_NOTHROW(_ZnwmSt11align_val_tRKSt9nothrow_t)
TP_NEW_ALIGNED_NOTHROW(_ZnamSt11align_val_tRKSt9nothrow_t)

TP_DELETE(_ZdlPv) { tp::detail::deallocate(block); }
TP_DELETE(_ZdaPv) { tp::detail::deallocate(block); }
TP_DELETE(_ZdlPvRKSt9nothrow_t, , const void*) { tp::detail::deallocate(block); }
TP_DELETE(_ZdaPvRKSt9nothrow_t, , const void*) { tp::detail::deallocate(block); }
TP_DELETE(_ZdlPvSt11align_val_t, , size_t) { tp::detail::deallocate(block); }
TP_DELETE(_ZdaPvSt11align_val_t, , size_t) { tp::detail::deallocate(block); }
TP_DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, , size_t, const void*) { tp::detail::deallocate(block); }
TP_DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, , size_t, const void*) { tp::detail::deallocate(block); }
TP_DELETE(_ZdlPvm, , size_t size) { release(block, size); }
TP_DELETE(_ZdaPvm, , size_t size) { release(block, size); }
TP_DELETE(_ZdlPvmSt11align_val_t, , size_t size, size_t alignment) { release(block, size, alignment); }
TP_DELETE(_ZdaPvmSt11align_val_t, , size_t size, size_t alignment) { release(block, size, alignment); }
}
