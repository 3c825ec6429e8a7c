#!/usr/bin/env python3
"""Words that gave way to the field's own stay away, and our own names are spelt as our prose is. Needs no build.

    python3 tests/structure/words_test.py

The glossary is in CONTRIBUTING.md. A word that is renamed joins the table below with what is said instead; the scan covers names of files,
code, comments and pages.
"""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("app", "engine", "kernels", "packaging", "resources", "tests", "ui")
ENDINGS = (".h", ".cpp", ".cu", ".cuh", ".py", ".md", ".txt", ".cmake")
# CONTRIBUTING.md names them in its glossary; other projects' names stand in what reads their files and in what their tools made.
NOT_OURS = ("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "packaging/deps/", "tests/golden/", "tests/structure/words_test.py")

ENGINE = ("kernels/api/", "kernels/cpu/", "kernels/cuda/", "kernels/reference/", "engine/device/", "engine/layers/", "engine/kv_cache/", "engine/compression/", "engine/sampling/", "engine/base/")

# pattern (of a whole word or a piece of a name), what is said instead, and in which folders alone (everywhere where none is named)
DEPRECATED = (
    (r"kernels/dispatch", "kernels/cpu"),
    (r"(?i)turn_?append|\bturned[ _]keys|\bunturned\b|\brotary turn", "rotate, rotation (a turn is a chat turn)"),
    (r"(?i)row_?products?|dense_?product|product of rows", "GEMV, GEMM"),
    (r"(?i)rounded_?product|rounded_?rows", "int8 GEMV, int8 GEMM: a dot product with quantised activations"),
    (r"(?i)similar_?slots?\b", "nearest slot"),
    (r"(?i)choose_?token|choice_?numbers", "sample a token"),
    (r"(?i)recorded[ _]?step", "captured step, CUDA graph"),
    (r"(?i)matrix[ _]?units?\b", "tensor cores"),
    (r"(?i)\blaid_?blocks?|\blaid[A-Z]\w*", "interleaved blocks"),
    (r"(?i)stored[ _]?numbers", "KV cache dtype (--kv); stored elements"),
    (r"(?i)\bwidens?_|_widen(ed|s)?\b|\bwiden(s|ed|ing)? (to|them to) (fp32|32 bits)", "upcast, dequantise"),
    (r"frames_a_pl?ace", "frames_per_position"),
    (r"(?i)matri(?:x|ces) (?:of numbers|in blocks|whose numbers)", "dense matrix, quantised matrix", ENGINE),
    (r"(?i)numbers of (?:16|32) bits", "16-bit elements, fp32", ENGINE),
    (r"\bkv heads?\b", "KV head", ("kernels/api/",)),
    (r"(?i)laid out anew|\bdense products?\b|products? of rounded", "interleaved blocks; GEMV; int8 GEMV", ENGINE),
    (r"(?i)\bmodels? with eyes\b|\beyes?\b(?= of a model)", "vision encoder, model that sees"),
)

# The same in code and comments of the rooms that no longer have them: pattern, folders, what is said instead
HERE = ("engine/messages/", "engine/models/", "engine/model_files/", "engine/recipes/", "engine/generation/", "tests/engine/model_files/")
DEPRECATED_HERE = (
    (r"\beyes\b", HERE, "vision encoder, projector, mmproj file"),
    (r"(?i)\bdeepstack levels\b|config\.levels\b|\blevels\(\)", HERE, "deepstack features, deepstack_layers"),
    (r"\bseen_whole\b|\bsee(s|n)? each other whole\b|[.>]together\b", (*HERE, "tests/engine/models/"), "bidirectional span"),
    (r"\bStreamPlaces\b|\bFramePlace\b", ("engine/", "tests/engine/"), "StreamPositions, FrameLayout"),
    (r"(?i)\bturned (by|in)\b|\bturning is\b", ("engine/models/", "engine/model_files/"), "rotate"),
    (r"(?i)\bstays? numbers\b|\bas numbers in\b", HERE, "unquantised, elements"),
)

# American spellings of our own names and prose. Names of Qt, torch, CUDA, GGUF, tokenizer.json and config.json keep theirs: they are
# quoted, qualified or members of those libraries.
SPELLING = (
    (r"\b(?:de)?quantize(?:d|s|r)?\(", "quantise"),
    (r"//[^\n\"]*\b(?:[Nn]ormaliz(?:e|es|ed|ing|ation)\b|[Ii]nitializ|[Rr]ecogniz|[Ss]erializ)\w*", "-ise"),
    (r"//[^\n\"(]*\b(?:[Qq]uantiz|[Oo]ptimiz)\w*", "-ise"),
    (r"//[^\n]*\b(?:[Cc]olors?|[Bb]ehavior|[Nn]eighbors?|[Cc]enter(?:ed|s)?)\b", "colour, behaviour, neighbour, centre"),
)


def texts() -> list[tuple[str, str]]:
    paths = [*ROOT.glob("*.*"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.*"))]
    names = sorted((path.relative_to(ROOT).as_posix(), path) for path in paths if path.name.endswith(ENDINGS) and path.is_file())
    return [(name, path.read_text("utf-8", errors="replace")) for name, path in names if not name.startswith(NOT_OURS)]


class Words(unittest.TestCase):
    files = texts()

    def test_the_scan_sees_the_tree(self) -> None:
        self.assertGreater(len(self.files), 1500)

    def test_are_the_fields(self) -> None:
        for pattern, instead, *rooms in DEPRECATED:
            for name, text in self.files:
                if rooms and not name.startswith(rooms[0]):
                    continue
                for match in (*re.finditer(pattern, name), *re.finditer(pattern, text)):
                    line = text.count("\n", 0, match.start()) + 1 if match.string is text else 0
                    with self.subTest(f"{name}:{line}"):
                        self.fail(f"“{match[0]}”: say {instead}")

    def test_are_the_fields_in_rooms_that_are_done(self) -> None:
        for pattern, folders, instead in DEPRECATED_HERE:
            for name, text in self.files:
                if not name.startswith(folders) or not name.endswith((".h", ".cpp")):
                    continue
                for match in re.finditer(pattern, text):
                    with self.subTest(f"{name}:{text.count(chr(10), 0, match.start()) + 1}"):
                        self.fail(f"“{match[0]}”: say {instead}")

    def test_are_spelt_as_the_british_do(self) -> None:
        for pattern, instead in SPELLING:
            for name, text in self.files:
                if not name.endswith((".h", ".cpp", ".cu", ".cuh")):
                    continue
                for match in re.finditer(pattern, text):
                    with self.subTest(f"{name}:{text.count(chr(10), 0, match.start()) + 1}"):
                        self.fail(f"“{match[0]}”: spelt {instead}")


if __name__ == "__main__":
    unittest.main()
