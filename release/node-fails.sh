#!/bin/sh
# npm ci runs this when the Node of package.json does not start. The system says "not found" of a file that exists.
problem=$(node --version 2>&1)
for loader in /lib/ld-musl-*; do
  [ ! -e "$loader" ] || problem=musl
done
case $problem in
  musl) needs='glibc, and this system has musl, as Alpine does (apk add nodejs npm)' ;;
  *libatomic*) needs='libatomic. On Debian and Ubuntu: apt-get install libatomic1. On Fedora: dnf install libatomic' ;;
  *libstdc++* | *libgcc_s*) needs='libstdc++. On Debian and Ubuntu: apt-get install libstdc++6. On Fedora: dnf install libstdc++' ;;
  *GLIBC*) needs='glibc 2.28 or newer: Debian 10, Ubuntu 20.04, RHEL 8' ;;
  *) needs="what this system lacks ($problem)" ;;
esac
cat >&2 <<END
rapport: The Node of package.json does not start. It needs $needs.
To use another Node, install 24.11 or newer and run: npm ci --ignore-scripts && rm node_modules/.bin/node
END
exit 1
