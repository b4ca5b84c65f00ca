#!/usr/bin/env bash
# The library exports tp_ names and the thread's heap alone; the preload libraries also the malloc family and every operator
# new and delete.
source "$(dirname "$0")/common.sh"
need nm binutils

names_of() { nm -D --defined-only "$1" | awk '{ print $3 }' | sed 's/@.*//' | sort -u; }

# Its name says which size classes the library was built with.
heap='_ZN2tp6detail46headers_and_library_have_the_same_size_classesI[A-Za-z0-9]*EE11thread_heapE'
for library in "$TIDEPOOL_LIBRARY" "$TIDEPOOL_PRELOAD" "$checked" "$checked_preload"; do
  [[ $(names_of "$library" | grep -cxE "$heap") == 1 ]] || fail "$library does not say which size classes it was built with"
done
others=$(names_of "$TIDEPOOL_LIBRARY" | grep -vxE "tp_.*|$heap" || true)
[[ -z $others ]] || fail "libtidepool.so exports: $others"

header=$TIDEPOOL_ROOT/native/include/tidepool/tidepool.h
while read -r name; do
  for library in "$TIDEPOOL_LIBRARY" "$TIDEPOOL_PRELOAD" "$checked" "$checked_preload"; do
    names_of "$library" | grep -qx "$name" || fail "$library does not export $name of tidepool.h"
  done
done < <(grep -oE '^TP_EXPORT [^(]*\b(tp_[a-z_]+)\(' "$header" | grep -oE 'tp_[a-z_]+\($' | tr -d '(')

overridden=(malloc calloc realloc reallocarray free cfree posix_memalign aligned_alloc memalign valloc pvalloc malloc_usable_size
  malloc_trim free_sized free_aligned_sized dlopen)
for n in w a; do
  overridden+=("_Zn${n}m" "_Zn${n}mRKSt9nothrow_t" "_Zn${n}mSt11align_val_t" "_Zn${n}mSt11align_val_tRKSt9nothrow_t")
done
for d in l a; do
  overridden+=("_Zd${d}Pv" "_Zd${d}Pvm" "_Zd${d}PvRKSt9nothrow_t" "_Zd${d}PvSt11align_val_t" "_Zd${d}PvmSt11align_val_t"
    "_Zd${d}PvSt11align_val_tRKSt9nothrow_t")
done
for library in "$TIDEPOOL_PRELOAD" "$checked_preload"; do
  exported=$(names_of "$library")
  for name in "${overridden[@]}"; do
    grep -qx "$name" <<<"$exported" || fail "$library does not export $name"
  done
  others=$(grep -vxE "tp_.*|__libc_.*|__posix_memalign|$heap" <<<"$exported" | grep -vxF "$(printf '%s\n' "${overridden[@]}")" || true)
  [[ -z $others ]] || fail "$library also exports: $others"
done

# Programs allocate before constructors of the library would run: there must be none that set its variables. The two that
# are there: the compiler's own, and the one that puts the handlers of fork in place; the checked library has one more, which
# puts its part of them in place and says when it is hidden.
for library in "$TIDEPOOL_LIBRARY" "$TIDEPOOL_PRELOAD" "$checked" "$checked_preload"; do
  most=16
  if [[ $library == *checked* ]]; then most=24; fi
  constructors=$(readelf -SW "$library" | awk '$0 ~ / \.init_array / { sub(/.*\.init_array/, ""); print $4 }')
  [[ $((16#${constructors:-0})) -le $most ]] || fail "$library has constructors (.init_array of 0x$constructors bytes): a variable is not constinit"
done
