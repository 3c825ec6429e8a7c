# A bare Debian or Ubuntu with a package in it, for packaging/check and packaging/film, which source this with `package` and `suite` set. Where
# the GPU's package of the same version lies beside a .deb, it is installed, too.
#
# SUITE is bookworm, trixie or noble. Its bare system is made once by debootstrap (300 MB) in $WINNOW_ROOTS, default /var/tmp/winnow-roots; the
# trial works on a copy that is thrown away. No compiler is there. Needs root, and Debian's (Ubuntu's) archive; Ubuntu's keys, where they are not
# those of a package, by UBUNTU_KEYRING. Sets root, window, cli and resources.
roots=${WINNOW_ROOTS:-/var/tmp/winnow-roots}
base=$roots/base-$suite root=$roots/run-$suite.$$
mkdir -p "$roots"
exec 8>"$roots/lock" && flock 8  # one at a time: the screens share their number
step() { printf '%s %s, %s: %s\n' "$(date +%T)" "${package##*/}" "$suite" "$*"; }
fail() { step "FAILED: $*"; exit 1; }

if [ ! -e "$base/.complete" ]; then
  step "making the bare system"
  rm -rf "$base"
  case "$suite" in
    noble) debootstrap --variant=minbase --components=main,universe ${UBUNTU_KEYRING:+--keyring="$UBUNTU_KEYRING"} noble "$base" http://archive.ubuntu.com/ubuntu gutsy ;;
    *) debootstrap --variant=minbase "$suite" "$base" http://deb.debian.org/debian ;;
  esac >"$roots/debootstrap-$suite.log" || fail "debootstrap, see $roots/debootstrap-$suite.log"
  touch "$base/.complete"
fi
cleanup() {
  for folder in dev proc; do ! mountpoint -q "$root/$folder" || umount -l "$root/$folder"; done
  rm -rf --one-file-system "$root"
}
trap 'kill ${program:-} ${screen:-} 2>/dev/null || true; sleep 1; cleanup' EXIT
cp -a --reflink=auto "$base" "$root"
mount --bind /dev "$root/dev"
mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/resolv.conf"
in_root() { chroot "$root" env -i LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
as_user() { in_root su -s /bin/bash user -c "cd; export LANG=C.UTF-8 DISPLAY=:7 XDG_RUNTIME_DIR=/tmp/user; $*"; }
in_root useradd -m user
in_root install -d -m 700 -o user /tmp/user
in_root apt-get update -qq

step "a screen, and no compiler"
in_root apt-get install -y -qq --no-install-recommends xvfb xdotool x11-apps fonts-dejavu-core zstd >/dev/null 2>&1 || fail "apt-get"
! in_root sh -c 'command -v cc gcc g++ clang' || fail "there is a compiler"
cp "$package" "$root/tmp/${package##*/}"
packages=("/tmp/${package##*/}")
gpu=${package##*/}; gpu=${package%/*}/winnow-cuda_${gpu#winnow_}
if [[ "$package" == *.deb ]] && [ -e "$gpu" ]; then
  cp "$gpu" "$root/tmp/${gpu##*/}"
  packages+=("/tmp/${gpu##*/}")
fi
case "$package" in
  *.deb)
    in_root apt-get install -y -qq --no-install-recommends "${packages[@]}" >"$root/tmp/apt.log" 2>&1 || { tail -20 "$root/tmp/apt.log"; fail "apt-get install"; }
    window=winnow cli=winnow-cli resources=/usr/share/winnow
    [ -d "$root$resources" ] || resources=/usr/lib/winnow/share/winnow ;;  # with libraries of its own
  *)
    as_user "tar --zstd -xf /tmp/${package##*/}"
    folder=/home/user/$(basename "$package" .tar.zst)
    window=$folder/winnow cli="$folder/winnow cli" resources=$folder/share/winnow ;;
esac
(cd "$root" && rm "${packages[@]#/}")
[ ${#packages[@]} = 1 ] || step "with ${gpu##*/}"
step "installed: $(du -shx "$root" | cut -f1) with the system"

start_screen() {
  chroot "$root" Xvfb :7 -screen 0 "${1:-1280x800}x24" -nolisten tcp >/dev/null 2>&1 &
  screen=$!
  sleep 2
}
