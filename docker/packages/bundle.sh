#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# bundle.sh PACKAGE.deb DIR NAME: makes DIR/NAME.tar.gz of a Debian package: a
# directory NAME that runs wherever a user unpacks it, with the libraries that its
# programs need beside those of libc. bubblewrap is the system's.
set -euo pipefail
deb=$1 dir=$2 name=$3
top=$dir/work/bundle
tree=$top/$name
# These belong together, and with the kernel's loader: they are the system's.
system='^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|nss_.*|util|anl))\.so'

rm -rf "$top"
mkdir -p "$top"
dpkg-deb -x "$deb" "$top/root"
mv "$top/root/usr" "$tree"
# A unit has to name the place of its program, and the package's is not this one.
rm -rf "${tree:?}/lib"
mkdir "$tree/lib"

# dynamic FILE: succeeds for a program that the loader starts with libraries.
dynamic() { readelf -l "$1" 2>/dev/null | grep -q 'INTERP' && [[ $1 != */ic-agent-boxed ]]; }

while IFS= read -r program; do
  dynamic "$program" || continue
  while read -r library _ path _; do
    [[ $library =~ $system || $path != /* ]] || cp -Ln "$path" "$tree/lib/$library"
  done < <(ldd "$program")
  case $program in
  */libexec/*) patchelf --set-rpath '$ORIGIN/../../lib' "$program" ;;
  *) patchelf --set-rpath '$ORIGIN/../lib' "$program" ;;
  esac
done < <(find "$tree/bin" "$tree/libexec" -type f | sort)
for library in "$tree"/lib/*; do
  chmod 644 "$library"
  patchelf --set-rpath '$ORIGIN' "$library"
done
tar -C "$top" --sort=name --owner=0 --group=0 --numeric-owner \
  --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" | gzip -n -9 >"$dir/$name.tar.gz"
rm -rf "$top"
