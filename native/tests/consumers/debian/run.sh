#!/usr/bin/env bash
# The Debian packages: installed in a folder, used from there, removed. TIDEPOOL_SYMBOLS=record writes the list of symbols anew.
source "$(dirname "$0")/../common.sh"

need dpkg-gensymbols dpkg-dev
need pkg-config pkg-config
need cpack cmake

export SOURCE_DATE_EPOCH=1700000000
build_project "$native" "$scratch/build" -DCMAKE_INSTALL_PREFIX=/usr -DTIDEPOOL_BUILD_TESTS=OFF -DTIDEPOOL_BUILD_BENCH=OFF
quietly package cmake --build "$scratch/build" --target package
packages=$scratch/build/packages
version=$(sed -n 's/^project(tidepool VERSION \([0-9.]*\).*/\1/p' "$native/CMakeLists.txt")
library=libtidepool${version%.*}
architecture=$(dpkg --print-architecture)
names=("$library" libtidepool-dev tidepool-preload)
for name in "${names[@]}"; do
  file=$packages/${name}_${version}_$architecture.deb
  [[ -f $file ]] || fail "there is no $file: $(ls "$packages")"
  [[ $(dpkg-deb -f "$file" Package Version | sed 's/.*: //' | paste -sd ' ') == "$name $version" ]] || fail "$file has another name or version"
  mkdir -p "$scratch/content"
  dpkg-deb -x "$file" "$scratch/content/$name"
  cmp -s "$native/../LICENSE" "$scratch/content/$name/usr/share/doc/$name/copyright" || fail "$name has not its licence"
done
[[ $(dpkg-deb -f "$packages/${library}_${version}_$architecture.deb" Depends) == 'libc6 (>= '*')' ]] || fail "$library depends on more than libc"
grep -qF "$library (= $version)" <(dpkg-deb -f "$packages/libtidepool-dev_${version}_$architecture.deb" Depends) || fail "libtidepool-dev depends on another library"

# The symbols of the file are those of the library: none may go while the SONAME stays.
symbols=$native/packages/symbols
shared=$(find "$scratch/content/$library" -name 'libtidepool.so.*' -type f)
mkdir -p "$scratch/debian"
printf 'Source: tidepool\n\nPackage: %s\nArchitecture: any\n' "$library" >"$scratch/debian/control"
list=("-p$library" "-v$version" -q -e"$shared")
if [[ ${TIDEPOOL_SYMBOLS:-} == record ]]; then
  (cd "$scratch" && dpkg-gensymbols "${list[@]}" -O"$scratch/symbols") || fail 'dpkg-gensymbols failed'
  cp "$scratch/symbols" "$symbols"
fi
if ! (cd "$scratch" && dpkg-gensymbols "${list[@]}" -c4 -I"$symbols" -O"$scratch/symbols") >"$scratch/symbols.log" 2>&1; then
  cat "$scratch/symbols.log" >&2
  fail 'native/packages/symbols differs: a new symbol is added to it with TIDEPOOL_SYMBOLS=record; one that has gone needs a new SONAME'
fi
cmp -s "$symbols" <(dpkg-deb --ctrl-tarfile "$packages/${library}_${version}_$architecture.deb" | tar -xO ./symbols) || fail 'the package has other symbols'

# Installed by dpkg itself, in a folder with a database of its own. What the packages depend on is on the
# machine, not in the folder; the loader's cache of the machine is left alone.
installation=$scratch/root
mkdir -p "$installation/var/lib/dpkg"/{info,updates,triggers}
touch "$installation/var/lib/dpkg"/{status,available}
mkdir -p "$scratch/path"
printf '#!/bin/sh\necho called >>"%s"\n' "$scratch/ldconfig.calls" >"$scratch/path/ldconfig"
chmod +x "$scratch/path/ldconfig"
in_root() {
  PATH=$scratch/path:$PATH:/usr/sbin:/sbin dpkg --instdir="$installation" --admindir="$installation/var/lib/dpkg" --log=/dev/null \
    --force-not-root --force-depends --force-script-chrootless "$@"
}
quietly install in_root --install "$packages"/*.deb
[[ -s $scratch/ldconfig.calls ]] || fail "the packages do not tell the loader's cache of their libraries"
prefix=$installation/usr
libdir=$(dirname "$(find "$prefix/lib" -name libtidepool.so)")
export PKG_CONFIG_PATH=$libdir/pkgconfig
read -ra flags <<<"$(pkg-config --cflags --libs tidepool)"
quietly compile "$CXX" -std=c++20 -O2 "$here/../pkg_config/main.cpp" -o "$scratch/program" "${flags[@]}"
LD_LIBRARY_PATH=$libdir "$scratch/program" >/dev/null || fail "the program ended with $?"
quietly configure-found cmake -S "$here/../find_package" -B "$scratch/found" -DCMAKE_PREFIX_PATH="$prefix"

# tidepool-run, from where it is installed, through a link too.
quietly preloaded "$CC" -O1 -fno-builtin "$here/../preload/main.c" -o "$scratch/preloaded" -ldl
"$prefix/bin/tidepool-run" "$scratch/preloaded" >/dev/null || fail "under tidepool-run the program ended with $?"
ln -s "$prefix/bin/tidepool-run" "$scratch/run"
"$scratch/run" -- "$scratch/preloaded" >/dev/null || fail "under a link to tidepool-run the program ended with $?"
[[ $("$prefix/bin/tidepool-run" sh -c 'exit 7' || echo $?) == 7 ]] || fail "tidepool-run does not end as the program does"
quietly misuser "$CC" -O0 -fno-builtin "$here/../preload/misuser.c" -o "$scratch/misuser"
if output=$("$prefix/bin/tidepool-run" --checked "$scratch/misuser" 1 2>&1); then fail "tidepool-run --checked lets a write past the end pass"; fi
[[ $output == *overflow* ]] || fail "of a write past the end it said: $output"
for wrong in '' --nonsense; do
  # shellcheck disable=SC2086 # no argument, or one
  if output=$("$prefix/bin/tidepool-run" $wrong 2>&1) || [[ $output != *usage:* ]]; then fail "tidepool-run '$wrong': $output"; fi
done
[[ $("$prefix/bin/tidepool-run" --help) == *--checked* ]] || fail "tidepool-run --help"
for page in man1/tidepool-run.1 man1/tidepool-tune.1 man3/tidepool.3; do
  [[ -f $prefix/share/man/$page ]] || fail "$page is not installed"
  if command -v man >/dev/null; then
    warnings=$(MANWIDTH=80 man --warnings --local-file "$prefix/share/man/$page" 2>&1 >/dev/null || true)
    [[ -z $warnings ]] || fail "$page: $warnings"
  fi
done

quietly remove in_root --purge "${names[@]}"
left=$(find "$installation" -path "$installation/var/lib/dpkg" -prune -o ! -type d -print)
[[ -z $left ]] || fail "removal leaves $left"
echo ok
