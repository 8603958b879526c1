#!/usr/bin/env bash
# SPDX-License-Identifier: ISC
# package.sh DIR [--sign KEY]: makes a release of this tree in DIR: a source
# archive, Debian packages, a bundle that runs from any directory, an SBOM,
# checksums and, with a key of ssh's, a signature. `./dev package` calls it. The same tree gives the same bytes,
# wherever and by whom it is built, on the same versions of the compiler and the
# libraries.
# package.sh DIR --staged TREE: only the Debian packages, for a test, of programs
# that ./dev build has staged in TREE.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
umask 022
export LC_ALL=C TZ=UTC

say() { printf 'package: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

[ $# -ge 1 ] || die "usage: package.sh DIR [--sign KEY]"
out=$1 key='' staged=''; shift
while [ $# -gt 0 ]; do
  case $1 in
  --sign) [ $# -ge 2 ] || die "--sign needs the file of a key"; key=$2; shift 2 ;;
  --staged) [ -d "${2:-}/usr/local/bin" ] || die "--staged needs a tree of ./dev build"
    staged=$(cd "$2" && pwd); shift 2 ;;
  *) die "$1 is no option of package.sh; there is --sign KEY" ;;
  esac
done
[ -z "$key" ] || [ -r "$key" ] || die "$key cannot be read: give the file of a key of ssh's"

version=$(sed -n "s/^  version: '\([^']*\)'.*/\1/p" "$top/meson.build")
[ -n "$version" ] || die "meson.build names no version"
read -r commit epoch <<<"$("$here/commit.sh")"
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$epoch}
name=ironcurtain-$version
mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -rf "$out/work" "$out"/*.deb "$out"/*.tar.gz "$out"/*.json "$out"/SHA256SUMS*
mkdir "$out/work"

# The source archive is what git has of the commit, and nothing else.
source_archive() {
  [ -e "$top/.git" ] || die "the source archive is made from a checkout: git clone first"
  git -C "$top" diff --quiet HEAD -- ||
    say "uncommitted changes stay out: the packages are of commit ${commit:0:12}"
  git -C "$top" archive --format=tar --prefix="$name/" HEAD |
    gzip -n "$([ -n "$staged" ] && echo -1 || echo -9)" >"$out/$name.tar.gz"
}

debian_packages() {
  local tree=$out/work/$name
  tar -x -C "$out/work" -f "$out/$name.tar.gz"
  cp "$out/$name.tar.gz" "$out/work/ironcurtain_$version.orig.tar.gz"
  cp -r "$tree/docker/packages/debian" "$tree/debian"
  {
    echo "ironcurtain ($version-1) unstable; urgency=medium"
    printf '\n  * Commit %s; see CHANGES.md.\n\n' "$commit"
    echo " -- IronCurtain maintainers <maintainers@ironcurtain.invalid>  $(date -u -R -d "@$SOURCE_DATE_EPOCH")"
  } >"$tree/debian/changelog"
  (cd "$tree" && if [ -n "$staged" ]; then
      IC_STAGED=$staged DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage --no-sign --no-check-builddeps --build=binary
    else dpkg-buildpackage --no-sign --build=binary; fi) >"$out/work/log" 2>&1 ||
    { tail -n 30 "$out/work/log" >&2; die "the packages do not build: see $out/work/log"; }
  cp "$out"/work/*.deb "$out/"
}

source_archive
debian_packages
[ -z "$staged" ] || { rm -rf "$out/work"; exit 0; }
"$here/bundle.sh" "$out"/ironcurtain_*.deb "$out" "$name-linux-$(dpkg --print-architecture)"
python3 "$here/sbom.py" "$out"/ironcurtain_*.deb >"$out/$name.spdx.json"
(cd "$out" && sha256sum -- *.deb *.tar.gz *.json >SHA256SUMS)
if [ -n "$key" ]; then
  ssh-keygen -q -Y sign -n ironcurtain-release -f "$key" "$out/SHA256SUMS"
fi
rm -rf "$out/work"
say "made $(cd "$out" && ls | tr '\n' ' ')in $out"
