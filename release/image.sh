#!/bin/sh
# Lays out the files of the container image: sh release/image.sh DIST NODE TARGET. The image has nothing else: no shell, no
# package manager, no other libraries.
set -eu
dist=$1 node=$2 target=$3

mkdir -p "$target/app" "$target/usr/local/bin" "$target/etc" "$target/data" "$target/tmp"
cp -R "$dist/." "$target/app"
cp -L "$node" "$target/usr/local/bin/node"
# The symbols are 18 MB.
if command -v strip > /dev/null; then strip "$target/usr/local/bin/node"; fi
# The libraries that Node is linked to, and the loader that reads them.
for library in $(ldd "$node" | grep -o '/[^ ]*'); do
  mkdir -p "$target$(dirname "$library")"
  cp -L "$library" "$target$library"
done
# The command line, for docker exec. The image has no env, which the first line of main.js names.
printf '#!/usr/local/bin/node\nimport "../../../app/main.js"\n' > "$target/usr/local/bin/rapport"
chmod 755 "$target/usr/local/bin/rapport"
# Another name of the one file of busybox, to read the first API key.
mkdir -p "$target/bin"
ln -s wget "$target/bin/cat"
# glibc would ask DNS for localhost first.
echo 'hosts: files dns' > "$target/etc/nsswitch.conf"
echo 'rapport:x:65532:65532::/data:/' > "$target/etc/passwd"
chmod 1777 "$target/tmp"
