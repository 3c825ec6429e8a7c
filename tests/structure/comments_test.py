#!/usr/bin/env python3
"""Comments begin with their subject. Needs no build.

    python3 tests/structure/comments_test.py

"Of which the size depends" makes a reader wait for what the sentence is about. A line that begins so is not always wrong ("Where the mask is
empty, all rows attend"), so lines are counted: a layer may have as many as below, and whoever rewrites some lowers its number.
"""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENDINGS = (".h", ".cpp", ".cu", ".cuh")
MOST = {"app": 0, "engine": 0, "kernels": 0, "ui": 0}
WITHOUT_SUBJECT = re.compile(r"^\s*//+!?<?\s*(?:As|Of|Where|What|Whether|Behind|Beside|Whoever)\b", re.MULTILINE)


def lines_without_subject(layer: str) -> list[str]:
    found = []
    for path in sorted(path for path in (ROOT / layer).rglob("*.*") if path.name.endswith(ENDINGS)):
        text = path.read_text("utf-8")
        found += [f"{path.relative_to(ROOT).as_posix()}:{text.count(chr(10), 0, match.end()) + 1}" for match in WITHOUT_SUBJECT.finditer(text)]
    return found


class Comments(unittest.TestCase):
    def test_are_counted_if_they_begin_without_a_subject(self) -> None:
        for text, expected in (("// Of which the size depends\n", 1), ("int a;\n  // As before.\n", 1), ("// Offers\n// The size\nint b;  // of it\n", 0)):
            self.assertEqual(len(WITHOUT_SUBJECT.findall(text)), expected, text)

    def test_name_their_subject_first(self) -> None:
        for layer, most in MOST.items():
            found = lines_without_subject(layer)
            with self.subTest(layer):
                self.assertLessEqual(len(found), most, "too many lines begin without their subject: " + ", ".join(found[-20:]))


if __name__ == "__main__":
    unittest.main()
