#!/bin/sh
# Installs the executable beside this file: sh install.sh [FOLDER]. The default is /usr/local/bin.
set -eu
target=${1:-/usr/local/bin}
here=$(dirname "$0")

fail() {
  echo "rapport: $1" >&2
  exit 1
}

# Without these checks, the system would say "not found" of a file that exists.
for loader in /lib/ld-musl-*; do
  [ ! -e "$loader" ] || [ -e /lib64/ld-linux-x86-64.so.2 ] || [ -e /lib/ld-linux-aarch64.so.1 ] ||
    fail 'This executable needs glibc, and this system has musl, as Alpine does. Install Node 24.11 or newer (apk add nodejs npm) and the npm package @rapport/server.'
done
if problem=$("$here/rapport" --version 2>&1); then
  mkdir -p "$target"
  cp "$here/rapport" "$target/rapport"
  echo "Installed rapport $("$target/rapport" --version 2>/dev/null) in $target."
  exit 0
fi
case $problem in
  *libstdc++*|*libgcc_s*) fail 'A C++ library is missing. On Debian and Ubuntu: apt-get install libstdc++6. On Fedora: dnf install libstdc++.' ;;
  *libatomic*) fail 'A library is missing. On Debian and Ubuntu: apt-get install libatomic1. On Fedora: dnf install libatomic.' ;;
  *GLIBC*) fail 'The glibc of this system is older than 2.28. Use Debian 10, Ubuntu 20.04, RHEL 8 or newer.' ;;
  *'not found'* | *'No such file'*) fail 'This executable needs glibc, which this system does not have. Install Node 24.11 or newer and the npm package @rapport/server.' ;;
  *'xec format'*) fail "This executable is for another processor than $(uname -m)." ;;
  *) fail "The executable does not start: $problem" ;;
esac
