#!/usr/bin/env python3
"""The Markdown pages keep their bounds, their links lead somewhere, and what is made from data is current. Needs no build.

    python3 tests/structure/pages_test.py

Words are those of `wc -w`. A sentence is what ends with a full stop, a question mark or an exclamation mark, or with its paragraph or list item;
code blocks, tables and headings are none, a piece of code or a link within a sentence is one word or its text.
"""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("app", "engine", "kernels", "packaging", "resources", "tests", "ui")
MOST_LINES = {"README.md": 120}
MOST_WORDS = {"README.md": 1300, "ARCHITECTURE.md": 3000, "tests/bench/README.md": 1500}
MOST_LINES_OF_A_VERSION = 60
MOST_WORDS_OF_A_SENTENCE = 30
GROUPS = ("Added", "Changed", "Fixed", "Saved formats")
MOST_LINKS_FROM_README = 2


def pages() -> list[pathlib.Path]:
    return sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))])


def name_of(page: pathlib.Path) -> str:
    return page.relative_to(ROOT).as_posix()


def prose(text: str) -> str:
    """Without code blocks, in fences or indented, and comments."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    return re.sub(r"(?<=\n\n)(?: {4}.*\n)+", "", text)


def sentences(text: str) -> list[str]:
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", prose(text)):
        lines = [line for line in paragraph.splitlines() if not line.startswith(("|", "#"))]
        plain = re.sub(r"`[^`]*`", "code", " ".join(lines))
        plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", plain)
        plain = re.sub(r"^\s*(?:[-*]|\d+\.) ", "", plain)
        found += [sentence for sentence in re.split(r"(?<=[.!?])[*\")]*\s+", plain) if sentence.strip()]
    return found


def versions(text: str) -> dict[str, list[str]]:
    """The lines below each heading "## 1.2.3 ..."."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("## "):
            found[line.split()[1]] = []
        elif found:
            found[list(found)[-1]].append(line)
    return found


def links(text: str) -> list[str]:
    """Targets of links and pictures within this tree."""
    targets = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(text)))
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def anchors(text: str) -> set[str]:
    """Of headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), flags=re.MULTILINE)
    titles = [re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in titles]
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def target_of(page: pathlib.Path, link: str) -> pathlib.Path:
    """A link to a folder shows the folder's page."""
    path = (page.parent / link.partition("#")[0]).resolve() if not link.startswith("#") else page
    return path / "README.md" if path.is_dir() and (path / "README.md").exists() else path


class TheScan(unittest.TestCase):
    def test_sees_sentences_as_a_reader_does(self) -> None:
        text = "# A heading is none\n\nOne. Two `a b c` [three four](x.md)!\n- an item\n  goes on\n- another\n\n| a | table |\n\n```\ncode. code.\n```\n\n    more code\n\nlast"
        self.assertEqual(sentences(text), ["One.", "Two code three four!", "an item   goes on", "another", "last"])

    def test_sees_links_and_anchors(self) -> None:
        self.assertEqual(links("[a](b.md#c) ![d](e.png) [f](https://g) `[h](i)`\n```\n[j](k)\n```\n"), ["b.md#c", "e.png"])
        self.assertEqual(anchors("# Add a method, `x`\n## [A](b.md) & c\n```\n# no\n```\n"), {"add-a-method-x", "a--c"})

    def test_sees_versions(self) -> None:
        self.assertEqual(versions("# Changes\n\n## 0.2.0 (2026-01-02)\na\nb\n## 0.1.0\nc\n"), {"0.2.0": ["a", "b"], "0.1.0": ["c"]})

    def test_sees_the_pages(self) -> None:
        self.assertGreater(len(pages()), 15)


class Pages(unittest.TestCase):
    def test_are_short(self) -> None:
        for name, most in MOST_LINES.items():
            with self.subTest(name):
                self.assertLessEqual(len((ROOT / name).read_text("utf-8").splitlines()), most)
        for name, most in MOST_WORDS.items():
            with self.subTest(name):
                self.assertLessEqual(len((ROOT / name).read_text("utf-8").split()), most)

    def test_have_short_sentences(self) -> None:
        for page in pages():
            for sentence in sentences(page.read_text("utf-8")):
                with self.subTest(name_of(page)):
                    self.assertLessEqual(len(sentence.split()), MOST_WORDS_OF_A_SENTENCE, sentence)

    def test_link_to_what_is_there(self) -> None:
        for page in pages():
            for link in links(page.read_text("utf-8")):
                with self.subTest(f"{name_of(page)}: {link}"):
                    target = target_of(page, link)
                    self.assertTrue(target.exists(), "there is no such file")
                    anchor = link.partition("#")[2]
                    if anchor:
                        self.assertIn(anchor, anchors(target.read_text("utf-8")), "the page has no such heading")

    def test_are_within_two_links_of_the_readme(self) -> None:
        seen = {ROOT / "README.md"}
        for _ in range(MOST_LINKS_FROM_README):
            seen |= {target_of(page, link) for page in seen if page.suffix == ".md" and page.exists() for link in links(page.read_text("utf-8"))}
        self.assertEqual([name_of(page) for page in pages() if page not in seen], [])

    def test_of_measurements_are_what_the_results_say(self) -> None:
        checked = subprocess.run([sys.executable, str(ROOT / "tests/bench/tables.py"), "--check"], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stderr)


class TheChangelog(unittest.TestCase):
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")

    def test_begins_with_the_version_that_is_built(self) -> None:
        built = re.search(r"project\(Winnow VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text("utf-8"))
        self.assertIsNotNone(built)
        self.assertEqual(list(versions(self.text))[0], built[1])

    def test_has_short_versions(self) -> None:
        for version, lines in versions(self.text).items():
            with self.subTest(version):
                self.assertLessEqual(len(lines), MOST_LINES_OF_A_VERSION)

    def test_is_grouped(self) -> None:
        for version, lines in versions(self.text).items():
            with self.subTest(version):
                groups = [line[4:] for line in lines if line.startswith("### ")]
                self.assertEqual(groups, [group for group in GROUPS if group in groups])


if __name__ == "__main__":
    unittest.main()
