#!/usr/bin/env bash
# Downloads Debian's packages of the engine's small libraries and unpacks them into a folder, without installing anything.
# The folder serves as CMAKE_PREFIX_PATH (<folder>/usr) here or, copied, on a machine that has only a compiler and torch.
set -euo pipefail
target=${1:?usage: unpack-small-libraries.sh FOLDER}
mkdir -p "$target/debs"
target=$(readlink -f "$target")
cd "$target/debs"
for package in nlohmann-json3-dev libpcre2-dev libpcre2-8-0 libpcre2-16-0 libpcre2-32-0 libpcre2-posix3 libhwy-dev libhwy1 zlib1g-dev zlib1g libgtest-dev libgmock-dev googletest; do
  ls "${package}"_*.deb >/dev/null 2>&1 || apt-get download "$package"
done
for archive in *.deb; do dpkg-deb -x "$archive" "$target"; done
# pkg-config files name /usr: point them at the folder.
find "$target/usr" -name '*.pc' -exec sed -i "s|^prefix=.*|prefix=$target/usr|" {} +
echo "unpacked into $target; configure with -DCMAKE_PREFIX_PATH=$target/usr and PKG_CONFIG_PATH=$target/usr/lib/x86_64-linux-gnu/pkgconfig"
