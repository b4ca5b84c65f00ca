#!/usr/bin/env bash
# The library exports tp_ names alone; the preload library also the malloc family and every operator new and delete.
source "$(dirname "$0")/common.sh"
need nm binutils

names_of() { nm -D --defined-only "$1" | awk '{ print $3 }' | sed 's/@.*//' | sort -u; }

others=$(names_of "$TIDEPOOL_LIBRARY" | grep -vE '^tp_' || true)
[[ -z $others ]] || fail "libtidepool.so exports: $others"

header=$TIDEPOOL_ROOT/native/include/tidepool/tidepool.h
while read -r name; do
  for library in "$TIDEPOOL_LIBRARY" "$TIDEPOOL_PRELOAD" "$checked"; do
    names_of "$library" | grep -qx "$name" || fail "$library does not export $name of tidepool.h"
  done
done < <(grep -oE '^TP_EXPORT [^(]*\b(tp_[a-z_]+)\(' "$header" | grep -oE 'tp_[a-z_]+\($' | tr -d '(')

overridden=(malloc calloc realloc reallocarray free cfree posix_memalign aligned_alloc memalign valloc pvalloc malloc_usable_size
  malloc_trim free_sized free_aligned_sized)
for n in w a; do
  overridden+=("_Zn${n}m" "_Zn${n}mRKSt9nothrow_t" "_Zn${n}mSt11align_val_t" "_Zn${n}mSt11align_val_tRKSt9nothrow_t")
done
for d in l a; do
  overridden+=("_Zd${d}Pv" "_Zd${d}Pvm" "_Zd${d}PvRKSt9nothrow_t" "_Zd${d}PvSt11align_val_t" "_Zd${d}PvmSt11align_val_t"
    "_Zd${d}PvSt11align_val_tRKSt9nothrow_t")
done
exported=$(names_of "$TIDEPOOL_PRELOAD")
for name in "${overridden[@]}"; do
  grep -qx "$name" <<<"$exported" || fail "libtidepool-preload.so does not export $name"
done
others=$(grep -vE '^(tp_|__libc_|__posix_memalign$)' <<<"$exported" | grep -vxF "$(printf '%s\n' "${overridden[@]}")" || true)
[[ -z $others ]] || fail "libtidepool-preload.so also exports: $others"

# Programs allocate before constructors of the library would run: there must be none that set its variables. The two that
# are there: the compiler's own, and the one that puts the handlers of fork in place.
for library in "$TIDEPOOL_LIBRARY" "$TIDEPOOL_PRELOAD" "$checked"; do
  constructors=$(readelf -SW "$library" | awk '$0 ~ / \.init_array / { sub(/.*\.init_array/, ""); print $4 }')
  [[ $((16#${constructors:-0})) -le 16 ]] || fail "$library has constructors (.init_array of 0x$constructors bytes): a variable is not constinit"
done
