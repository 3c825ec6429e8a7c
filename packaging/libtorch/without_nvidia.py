#!/usr/bin/env python3
"""Copies the wheel's libtorch_cpu and libc10 so that they need nothing of NVIDIA's: without_nvidia.py WHEEL_LIB_FOLDER STUBS_FOLDER TARGET_FOLDER

libtorch_cpu asks the loader for libcudart and libcupti, by name and by the version of each symbol. Both are the same string of its dynamic
string table, which is overwritten by the name of our own library (absent_cudart.c, absent_cupti.c), and the version's hash is corrected. So
libtorch_cpu finds its symbols in our libraries alone, and libtorch_cuda, where it is opened later, finds its own in NVIDIA's: versions of
different names never meet. The search path becomes $ORIGIN. Nothing moves in the file, so no section has to grow.

Fails where our libraries lack a symbol that libtorch_cpu wants, so that a new wheel is noticed here and not by who installed it.
"""
import pathlib
import shutil
import struct
import sys

REPLACED = {b"libcudart.so.13": b"libnocudart.so", b"libcupti.so.13": b"libnocupti.so"}
SYMTAB, DYNSYM_BYTES = 6, 24
STRTAB, STRSZ, GNU_HASH = 5, 10, 0x6FFFFEF5
NEEDED, SONAME, RPATH, RUNPATH = 1, 14, 15, 29
VERSYM, VERNEED, VERNEEDNUM = 0x6FFFFFF0, 0x6FFFFFFE, 0x6FFFFFFF


class Elf:
    """A 64-bit little-endian library: its dynamic section, by what the loader itself reads."""

    def __init__(self, path):
        self.path = path
        self.bytes = bytearray(path.read_bytes())
        if self.bytes[:6] != b"\x7fELF\x02\x01":
            raise SystemExit(f"{path} is no 64-bit ELF file")
        table, = struct.unpack_from("<Q", self.bytes, 32)
        size, count = struct.unpack_from("<HH", self.bytes, 54)
        headers = [struct.unpack_from("<IIQQQQQQ", self.bytes, table + i * size) for i in range(count)]
        self.loads = [(h[3], h[2], h[5]) for h in headers if h[0] == 1]
        place, = (h[2] for h in headers if h[0] == 2)
        self.dynamic = []
        while True:
            tag, value = struct.unpack_from("<qQ", self.bytes, place)
            if tag == 0:
                break
            self.dynamic.append((tag, value, place))
            place += 16
        self.strings = self.offset(self.value(STRTAB))

    def value(self, tag):
        return next(v for t, v, _ in self.dynamic if t == tag)

    def offset(self, address):
        return next(address - start + at for start, at, size in self.loads if start <= address < start + size)

    def string(self, index):
        start = self.strings + index
        return bytes(self.bytes[start:self.bytes.index(0, start)])

    def needed_versions(self):
        """(place of the record, place of its version, file, version, index) of each version that the loader looks for."""
        record = self.offset(self.value(VERNEED))
        for _ in range(self.value(VERNEEDNUM)):
            _, count, file, aux, following = struct.unpack_from("<HHIII", self.bytes, record)
            version = record + aux
            for _ in range(count):
                _, _, index, name, after = struct.unpack_from("<IHHII", self.bytes, version)
                yield version, self.string(file), self.string(name), index
                version += after
            record += following

    def symbols(self):
        """(name, version index, defined) of the dynamic symbols; the version table lies behind them or their strings do."""
        symbols, versions = self.offset(self.value(SYMTAB)), self.offset(self.value(VERSYM))
        for i in range(self.symbol_count()):
            name, _, _, section, _, _ = struct.unpack_from("<IBBHQQ", self.bytes, symbols + i * DYNSYM_BYTES)
            index, = struct.unpack_from("<H", self.bytes, versions + 2 * i)
            yield name, index & 0x7FFF, section != 0

    def symbol_count(self):
        """As the loader's hash table has it: the last chain's last symbol."""
        table = self.offset(self.value(GNU_HASH))
        buckets, first, bloom, _ = struct.unpack_from("<IIII", self.bytes, table)
        heads = table + 16 + 8 * bloom
        last = max(struct.unpack_from(f"<{buckets}I", self.bytes, heads))
        if last < first:
            return first
        chains = heads + 4 * buckets
        while struct.unpack_from("<I", self.bytes, chains + 4 * (last - first))[0] & 1 == 0:
            last += 1
        return last + 1


def elf_hash(name):
    value = 0
    for byte in name:
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high & 0xFFFFFFFF
    return value


def overwrite_string(elf, old, new):
    """Every use of the whole string has the new text; fails where a symbol's name is a part of it."""
    if len(new) > len(old):
        raise SystemExit(f"{new.decode()} does not fit into the place of {old.decode()}")
    start = elf.bytes.find(b"\0" + old + b"\0", elf.strings, elf.strings + elf.value(STRSZ)) + 1
    if start == 0:
        raise SystemExit(f"{elf.path} does not name {old.decode()}: has the wheel changed?")
    inside = range(start - elf.strings + 1, start - elf.strings + len(old) + 1)
    shared = [elf.string(name) for name, _, _ in elf.symbols() if name in inside]
    if shared:
        raise SystemExit(f"{elf.path}: {old.decode()} shares its text with the symbol {shared[0].decode()}")
    elf.bytes[start:start + len(old)] = new.ljust(len(old), b"\0")


def replace_needs(elf, stubs):
    for old, new in REPLACED.items():
        changed = [(place, index) for place, file, name, index in elf.needed_versions() if file == old and name == old]
        indices = {index for _, index in changed}
        wanted = {elf.string(name) for name, index, defined in elf.symbols() if index in indices and not defined}
        stub = Elf(stubs / new.decode())
        missing = wanted - {stub.string(name) for name, _, defined in stub.symbols() if defined}
        if missing:
            raise SystemExit(f"{new.decode()} lacks what {elf.path.name} wants: {b', '.join(sorted(missing)).decode()}")
        overwrite_string(elf, old, new)
        for place, _ in changed:
            struct.pack_into("<I", elf.bytes, place, elf_hash(new))


def search_beside(elf):
    """RUNPATH $ORIGIN in the place of the wheel's search path."""
    for tag, value, place in elf.dynamic:
        if tag in (RPATH, RUNPATH):
            old = elf.string(value)
            start = elf.strings + value
            elf.bytes[start:start + len(old)] = b"$ORIGIN".ljust(len(old), b"\0")
            struct.pack_into("<q", elf.bytes, place, RUNPATH)


def left_of_nvidia(elf):
    return [elf.string(value).decode() for tag, value, _ in elf.dynamic if tag == NEEDED and elf.string(value) in REPLACED]


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    wheel, stubs, target = map(pathlib.Path, sys.argv[1:])
    target.mkdir(parents=True, exist_ok=True)
    for name in ("libtorch_cpu.so", "libc10.so"):
        elf = Elf(wheel / name)
        if left_of_nvidia(elf):
            replace_needs(elf, stubs)
        search_beside(elf)
        if left_of_nvidia(elf):
            raise SystemExit(f"{name} still needs {', '.join(left_of_nvidia(elf))}")
        (target / name).write_bytes(elf.bytes)
        shutil.copymode(wheel / name, target / name)
        del elf


if __name__ == "__main__":
    main()
