"""Documents drawn from running text: how they are named, and which part of the text each has.

Also the documents that measure how well what follows a text is foreseen once its beginning was compressed (`held_items`): the part is
attached, and the words behind it are read as the answer to the request to go on. Nothing in them is made up: unlike facts, what helps lies
everywhere in the document.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from item_lines import BadSource, ItemLine
from random_numbers import RandomNumbers
from running_text import RunningText, Sentences, joined_text, words_of

HELD_WORDS = 150  # at least, up to the end of a sentence
_REQUEST = "Continue this text, word for word as it goes on."


@dataclass(frozen=True)
class DocumentSpec:
    words: int = 1000  # of the running text, up to the end of a sentence
    number: int = 0
    seed: int = 0

    def name(self, kind: str) -> str:
        """ "facts:1000:0:0", as logs have it."""
        return f"{kind}:{self.words}:{self.number}:{self.seed}"

    def path(self, folder: Path, kind: str) -> Path:
        return folder / (self.name(kind).replace(":", "-") + ".txt")

    def random(self) -> RandomNumbers:
        """What is drawn for this document and no other."""
        return RandomNumbers(RandomNumbers(self.seed).next() ^ (self.words << 32 | self.number))


@dataclass(frozen=True)
class DocumentSpecs:
    """A set's documents: so many of each length."""

    lengths: tuple[int, ...]
    count: int
    seed: int

    def __iter__(self) -> Iterator[DocumentSpec]:
        return (DocumentSpec(words, number, self.seed) for words in self.lengths for number in range(self.count))


def drawn_part(text: RunningText, spec: DocumentSpec, random: RandomNumbers, more: int = 0) -> list[Sentences]:
    """Paragraphs from one that is drawn on; `more` words behind those of the document."""
    if text.words < spec.words + more:
        behind = f" and the {more} behind it" if more else ""
        raise BadSource(f"the text has {text.words} words in whole paragraphs, fewer than a document of {spec.words}{behind}")
    return text.part(random.below(len(text.paragraphs)), spec.words + more)


def held_text(text: RunningText, spec: DocumentSpec) -> tuple[str, str]:
    """The document, and what follows it."""
    document: list[Sentences] = []
    after: list[Sentences] = []
    words = 0
    for paragraph in drawn_part(text, spec, spec.random(), HELD_WORDS):
        part: list[Sentences] | None = None
        for sentence in paragraph:
            own = document if words < spec.words else after
            if own is not part:
                own.append([])
            part = own
            part[-1].append(sentence)
            words += len(words_of(sentence))
    return joined_text(document), joined_text(after)


def held_items(text: RunningText, specs: DocumentSpecs, folder: Path) -> list[ItemLine]:
    """One item a document; the documents are written into the folder."""
    items = []
    for spec in specs:
        document, after = held_text(text, spec)
        path = spec.path(folder, "held")
        path.write_text(document, "utf-8")
        items.append(ItemLine(spec.name("held"), [path], _REQUEST, [after], "perplexity", f"{spec.words} words"))
    return items
