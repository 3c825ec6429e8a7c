#!/usr/bin/env python3
"""Writes engine/text/unicode/unicode_tables.cpp: what NFC and the letter and number classes of the `tokenizers` library are.

The library, not the newest Unicode standard, is the definition: models were trained with its ids. Its NFC tables are older than those of
Python's unicodedata, its regular expressions (Oniguruma) are newer than PCRE2 10.42. This script asks the library for every code point
and fails if tables made this way do not reproduce it.

usage: make_unicode_tables.py [--check]      (needs: tokenizers==0.22.2, Python 3.11 with unicodedata 14.0)
"""
import argparse
import pathlib
import random
import sys
import unicodedata

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

TARGET = pathlib.Path(__file__).resolve().parents[3] / "engine/text/unicode/unicode_tables.cpp"
HANGUL = range(0xAC00, 0xAC00 + 11172)
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
library_nfc = normalizers.NFC().normalize_str


def library_orders(code_point: int) -> bool:
    """Whether the library knows a combining class for the mark: two different classes around it must be reordered."""
    mark = chr(code_point)
    for other in ("\u0334", "\u0345", "\u0301", "\u0323"):  # classes 1, 240, 230, 220
        for text in ("a" + mark + other, "a" + other + mark):
            if unicodedata.normalize("NFD", text) != text and library_nfc("\u0915" + text[1:]) == "\u0915" + text[1:]:
                return False
    return True


def combining_classes():
    classes = {c: unicodedata.combining(chr(c)) for c in CODE_POINTS if unicodedata.combining(chr(c))}
    return {c: k for c, k in classes.items() if library_orders(c)}


def decompositions():
    pairs = {}
    for c in CODE_POINTS:
        fields = unicodedata.decomposition(chr(c))
        if not fields or fields.startswith("<") or c in HANGUL:
            continue
        parts = [int(field, 16) for field in fields.split()]
        if len(parts) == 2 and library_nfc(chr(parts[0]) + chr(parts[1])) not in (chr(c),) and \
                unicodedata.normalize("NFC", chr(c)) == chr(c):
            continue  # a composition that is newer than the library
        pairs[c] = (parts[0], parts[1] if len(parts) == 2 else 0)
    return pairs


def compositions(pairs):
    return {parts: c for c, parts in pairs.items() if parts[1] and unicodedata.normalize("NFC", chr(c)) == chr(c)}


def ideographs(pairs):
    """Long runs of code points that decompose into one other each: the ideographs that are there for other encodings."""
    runs = []
    for c in (c for c, parts in sorted(pairs.items()) if not parts[1]):
        if runs and runs[-1][-1] == c - 1:
            runs[-1].append(c)
        else:
            runs.append([c])
    return [run for run in runs if len(run) > 16]


def reference_nfc(text, pairs, classes, composed):
    def expand(c):
        if c in HANGUL:
            s = c - 0xAC00
            tail = [0x11A7 + s % 28] if s % 28 else []
            return [0x1100 + s // 588, 0x1161 + s % 588 // 28] + tail
        if c not in pairs:
            return [c]
        first, second = pairs[c]
        return expand(first) + ([second] if second else [])

    points = [p for ch in text for p in expand(ord(ch))]
    i = 0
    while i < len(points):
        j = i
        while j < len(points) and classes.get(points[j], 0):
            j += 1
        points[i:j] = sorted(points[i:j], key=lambda p: classes[p])
        i = j + 1
    out, starter, last = [], -1, -1
    for p in points:
        k = classes.get(p, 0)
        if starter >= 0 and (last < k or last == -1):
            a = out[starter]
            joined = composed.get((a, p))
            if 0x1100 <= a < 0x1113 and 0x1161 <= p < 0x1176:
                joined = 0xAC00 + ((a - 0x1100) * 21 + p - 0x1161) * 28
            elif a in HANGUL and (a - 0xAC00) % 28 == 0 and 0x11A7 < p < 0x11C3:
                joined = a + p - 0x11A7
            if joined is not None:
                out[starter] = joined
                continue
        if k == 0:
            starter, last = len(out), -1
        else:
            last = k
        out.append(p)
    return "".join(map(chr, out))


def verify(pairs, classes, composed):
    interesting = sorted(set(pairs) | set(classes) | {0x61, 0x41, 0x915, 0x1100, 0x1161, 0x11A8, 0xAC00, 0xAC01})
    generator = random.Random(20240607)
    samples = [chr(c) for c in CODE_POINTS]
    samples += ["".join(chr(generator.choice(interesting)) for _ in range(generator.randint(2, 9))) for _ in range(400_000)]
    samples += [unicodedata.normalize("NFD", chr(c)) for c in CODE_POINTS]
    for text in samples:
        if reference_nfc(text, pairs, classes, composed) != library_nfc(text):
            sys.exit(f"tables disagree with the library on {[hex(ord(c)) for c in text]}")


def joined(code_points):
    ranges = []
    for c in code_points:
        if ranges and ranges[-1][1] == c - 1:
            ranges[-1][1] = c
        else:
            ranges.append([c, c])
    return ranges


def added_ranges(letter):
    split = pre_tokenizers.Split(Regex(rf"\p{{{letter}}}"), "removed")
    return joined(c for c in CODE_POINTS if unicodedata.category(chr(c)) == "Cn" and not split.pre_tokenize_str(chr(c)))


def added_word_characters():
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.add_tokens([tokenizers.AddedToken("@", single_word=True, normalized=False)])
    return joined(c for c in CODE_POINTS if unicodedata.category(chr(c)) == "Cn" and not tokenizer.encode(chr(c) + "@").ids)


def rows(items, per_line):
    lines = []
    for i in range(0, len(items), per_line):
        some = items[i:i + per_line]
        fits = len("    " + ", ".join(some) + ",") <= 140
        lines += [some] if fits else [some[:per_line // 2], some[per_line // 2:]]
    return ",\n".join("    " + ", ".join(line) for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the file in the tree instead of writing it")
    arguments = parser.parse_args()
    classes, pairs = combining_classes(), decompositions()
    composed = compositions(pairs)
    verify(pairs, classes, composed)
    class_ranges = []
    for c in sorted(classes):
        if class_ranges and class_ranges[-1][1] == c - 1 and class_ranges[-1][2] == classes[c]:
            class_ranges[-1][1] = c
        else:
            class_ranges.append([c, c, classes[c]])
    runs = ideographs(pairs)
    decomposed_rows = [f"{{0x{c:X}, 0x{a:X}, 0x{b:X}}}" for c, (a, b) in sorted(pairs.items()) if not any(c in run for run in runs)]
    never_composed = joined(c for c, parts in sorted(pairs.items()) if parts[1] and parts not in composed)
    never_rows = [f"{{0x{a:X}, 0x{b:X}}}" for a, b in never_composed]
    run_rows = [f"constexpr char32_t kFrom{run[0]:X}[] = {{\n{rows([f'0x{pairs[c][0]:X}' for c in run], 16)}}};\n" for run in runs]
    run_names = [f"{{0x{run[0]:X}, kFrom{run[0]:X}}}" for run in runs]
    class_rows = [f"{{0x{a:X}, 0x{b:X}, {k}}}" for a, b, k in class_ranges]
    letters = [f"{{0x{a:X}, 0x{b:X}}}" for a, b in added_ranges("L")]
    numbers = [f"{{0x{a:X}, 0x{b:X}}}" for a, b in added_ranges("N")]
    words = [f"{{0x{a:X}, 0x{b:X}}}" for a, b in added_word_characters()]
    text = f"""// Generated by tests/golden/make/make_unicode_tables.py from tokenizers {tokenizers.__version__} and unicodedata {unicodedata.unidata_version}; do not edit.
// Data of the Unicode Character Database, (c) Unicode, Inc., under the Unicode License V3.
// clang-format off
#include "engine/text/unicode/unicode_tables.h"

namespace winnow::unicode {{
namespace {{

constexpr CanonicalPair kDecompositions[] = {{
{rows(decomposed_rows, 5)}}};

constexpr CodePointRange kNeverComposed[] = {{
{rows(never_rows, 6)}}};

{"".join(run_rows)}
constexpr CodePointRun kIdeographs[] = {{
{rows(run_names, 4)}}};

constexpr CombiningRange kCombiningRanges[] = {{
{rows(class_rows, 6)}}};

constexpr CodePointRange kAddedLetters[] = {{
{rows(letters, 6)}}};

constexpr CodePointRange kAddedNumbers[] = {{
{rows(numbers, 6)}}};

constexpr CodePointRange kAddedWordCharacters[] = {{
{rows(words, 6)}}};

}}  // namespace

std::span<const CanonicalPair> decompositions() {{ return kDecompositions; }}
std::span<const CodePointRange> never_composed() {{ return kNeverComposed; }}
std::span<const CodePointRun> ideographs() {{ return kIdeographs; }}
std::span<const CombiningRange> combining_ranges() {{ return kCombiningRanges; }}
std::span<const CodePointRange> added_letters() {{ return kAddedLetters; }}
std::span<const CodePointRange> added_numbers() {{ return kAddedNumbers; }}
std::span<const CodePointRange> added_word_characters() {{ return kAddedWordCharacters; }}

}}  // namespace winnow::unicode
"""
    if not arguments.check:
        TARGET.write_text(text)
    elif TARGET.read_text() != text:
        sys.exit("engine/text/unicode/unicode_tables.cpp is not what this script writes")


main()
