"""The running text of files: paragraphs of whole sentences, without headings, lists, addresses and what is written in capitals.

Paragraphs are parted by empty lines, their lines joined; one that has come before (licences share many) is left out.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from item_lines import BadSource

LICENCES = Path("/usr/share/common-licenses")  # in every Debian (package base-files)
_FEWEST_WORDS = 20  # of a paragraph: headings and addresses are shorter
_LOWER_CASE_SHARE = 0.85  # of its letters
_FEWEST_INSIDE = 5  # words of a sentence: after "U.S." none ends

Sentences = list[str]  # of a paragraph


def words_of(text: str) -> list[str]:
    """Parted by ASCII white space; a no-break space parts nothing."""
    return re.findall(r"[^ \t\n\v\f\r]+", text)


def joined_text(paragraphs: Iterable[Sentences]) -> str:
    """Paragraphs parted by an empty line, with a line break behind the last."""
    return "\n\n".join(" ".join(paragraph) for paragraph in paragraphs) + "\n"


def _is_lower(c: str) -> bool:
    return "a" <= c <= "z"


def _is_upper(c: str) -> bool:
    return "A" <= c <= "Z"


def _joined_paragraphs(text: str) -> list[str]:
    paragraphs: list[list[str]] = [[]]
    for line in text.split("\n"):
        words = words_of(line)
        paragraphs[-1] += words
        if not words and paragraphs[-1]:
            paragraphs.append([])
    return [" ".join(paragraph) for paragraph in paragraphs]


def _is_running_text(paragraph: str) -> bool:
    if len(words_of(paragraph)) < _FEWEST_WORDS or not paragraph.endswith("."):
        return False
    lower, upper = sum(map(_is_lower, paragraph)), sum(map(_is_upper, paragraph))
    return lower >= _LOWER_CASE_SHARE * (lower + upper)


def _sentences(paragraph: str) -> Sentences:
    sentences: list[list[str]] = [[]]
    ended = False
    for word in words_of(paragraph):
        if ended and _is_upper(word[0]):
            sentences.append([])
        sentences[-1].append(word)
        ended = len(sentences[-1]) >= _FEWEST_INSIDE and len(word) > 2 and word[-1] == "." and _is_lower(word[-2])
    return [" ".join(sentence) for sentence in sentences]


class RunningText:
    def __init__(self, texts: Iterable[str]) -> None:
        found = (paragraph for text in texts for paragraph in _joined_paragraphs(text) if _is_running_text(paragraph))
        self.paragraphs: list[Sentences] = [_sentences(paragraph) for paragraph in dict.fromkeys(found)]
        self._words = [[len(words_of(sentence)) for sentence in paragraph] for paragraph in self.paragraphs]
        self.words = sum(map(sum, self._words))

    def part(self, first: int, words: int) -> list[Sentences]:
        """Consecutive paragraphs from `first` on, from the beginning again after the last; the last one ends with the sentence that makes
        it so many words."""
        taken: list[Sentences] = []
        at, count = first, 0
        while count < words:
            taken.append([])
            for sentence, length in zip(self.paragraphs[at], self._words[at]):
                taken[-1].append(sentence)
                count += length
                if count >= words:
                    break
            at = (at + 1) % len(self.paragraphs)
        return taken


def read_texts(files: list[Path], encoding: str) -> RunningText:
    """files: none for Debian's licences; links among them are second names."""
    if not files:
        files = sorted(file for file in LICENCES.glob("*") if file.is_file() and not file.is_symlink())
        if not files:
            raise BadSource(f"{LICENCES}: no text was found; name your own files with --text")
    try:
        return RunningText([file.read_text(encoding) for file in files])
    except (UnicodeError, LookupError) as problem:
        raise BadSource(f"the texts cannot be read ({problem}); name their encoding with --encoding") from problem
