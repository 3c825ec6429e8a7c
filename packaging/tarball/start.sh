#!/bin/sh
# Starts Winnow from wherever this folder lies: ./winnow [ARGS], or ./winnow cli ARGS for the terminal program.
here=$(dirname "$(readlink -f "$0")")
wanted=@GLIBC@
found=$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2)
if [ "$(printf '%s\n%s\n' "$wanted" "${found:-0}" | sort -V | head -n 1)" != "$wanted" ]; then
  echo "winnow: this system has ${found:+glibc }${found:-no glibc}, and Winnow needs glibc $wanted or newer (Debian 12, Ubuntu 24.04, Fedora 37)" >&2
  exit 1
fi
# A desktop's own plug-ins are for another Qt.
unset QT_PLUGIN_PATH QT_QPA_PLATFORM_PLUGIN_PATH
if [ "${1:-}" = cli ]; then
  shift
  exec "$here/bin/winnow-cli" "$@"
fi
exec "$here/bin/winnow" "$@"
