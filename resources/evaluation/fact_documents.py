"""Documents for measuring what compression loses of a text: running text with six facts put in, and a question about each.

The facts are a code, a city, a color, a name, a day and an amount, one in each sixth of the document between two sentences of it, in seeded
order. None of the text's own words name a fact's subject or value, so that an answer comes from the fact or from nowhere. The same text,
size, number and seed are the same bytes everywhere.
"""

import unicodedata
from dataclasses import dataclass
from pathlib import Path

from item_lines import BadSource, ItemLine
from random_numbers import RandomNumbers
from running_text import RunningText, Sentences, joined_text
from text_documents import DocumentSpec, DocumentSpecs, drawn_part

_TRIES = 1000


@dataclass(frozen=True)
class _Form:
    """How a kind of fact is written: {} the subject, then the value."""

    kind: str
    sentence: str
    question: str
    subjects: tuple[str, ...]
    values: tuple[str, ...] = ()  # none: drawn numbers


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split(", "))


_FORMS = (
    _Form(
        "code",
        "The access code of {} is {}.",
        "What is the access code of {}?",
        _listed(
            "the north gate, the boat house, the wine cellar, the observatory, the greenhouse, the east tower, the music room, "
            "the tool shed"
        ),
    ),
    _Form(
        "city",
        "The next meeting of {} takes place in {}.",
        "In which city does the next meeting of {} take place?",
        _listed(
            "the chess club, the beekeepers, the glass makers, the mountain guides, the puppet players, the clock makers, "
            "the choir leaders, the potters"
        ),
        _listed(
            "Lisbon, Oslo, Vienna, Prague, Dublin, Madrid, Athens, Warsaw, Helsinki, Cairo, Toronto, Sydney, Lima, Nairobi, Kyoto, Geneva, "
            "Hamburg, Naples, Porto, Seville, Zurich, Glasgow, Krakow, Havana"
        ),
    ),
    _Form(
        "color",
        "The door of {} is painted {}.",
        "What color is the door of {}?",
        _listed("the bakery, the theatre, the fire station, the pharmacy, the post office, the ferry office, the brewery, the town hall"),
        _listed("red, blue, green, yellow, orange, purple, pink, brown, black, white, gray, turquoise"),
    ),
    _Form(
        "name",
        "The keeper of {} is {}.",
        "Who is the keeper of {}?",
        _listed("the lighthouse, the museum, the aquarium, the windmill, the castle, the bird park, the stables, the water mill"),
        _listed(
            "Martha Keller, Peter Lindgren, Sofia Rossi, Thomas Berger, Helen Novak, Martin Dubois, Clara Jensen, Victor Santos, "
            "Emma Fischer, Daniel Murphy, Laura Costa, Simon Walsh, Nina Petrov, Oscar Meyer, Julia Moreno, Robert Tanaka"
        ),
    ),
    _Form(
        "day",
        "{} begins on {}.",
        "On which day does {} begin?",
        _listed(
            "the lantern festival, the rowing race, the book fair, the flower show, the kite contest, the film week, the harvest dance, "
            "the jazz weekend"
        ),
        _listed("January, February, March, April, June, July, August, September, October, November, December"),
    ),
    _Form(
        "amount",
        "A season ticket for {} costs {} dollars.",
        "How much does a season ticket for {} cost?",
        _listed(
            "the swimming pool, the ice rink, the cable car, the zoo, the concert hall, the ski lift, the steam railway, the tennis courts"
        ),
    ),
)


@dataclass(frozen=True)
class Fact:
    kind: str
    subject: str
    sentence: str
    question: str
    golds: list[str]  # the value as answers write it; the first as the sentence does


def normalised(text: str) -> str:
    """As the metric `contains` compares: lower case; punctuation and the articles a, an, the removed; single blanks."""
    kept = "".join(c for c in text.lower() if not unicodedata.category(c).startswith("P") and c not in "$+<=>^`|~")
    return " ".join(word for word in kept.split() if word not in ("a", "an", "the"))


def _one_of(values: tuple[str, ...], random: RandomNumbers) -> str:
    return values[random.below(len(values))]


def _value(form: _Form, random: RandomNumbers) -> list[str]:
    if form.kind == "code":
        return [str(1000 + random.below(9000))]
    if form.kind == "amount":
        return [str(101 + random.below(899))]
    drawn = _one_of(form.values, random)
    if form.kind != "day":
        return [drawn]
    day = str(13 + random.below(8))  # 13th to 20th: one ending of ordinals
    return [f"{day} {drawn}", f"{drawn} {day}", f"{day}th {drawn}", f"{drawn} {day}th", f"{day}th of {drawn}"]


def _shuffled_kinds(random: RandomNumbers) -> list[int]:
    order = list(range(len(_FORMS)))
    for left in range(len(order), 1, -1):
        drawn = random.below(left)
        order[left - 1], order[drawn] = order[drawn], order[left - 1]
    return order


def _capitalised(sentence: str) -> str:
    return "T" + sentence[1:] if sentence[0] == "t" else sentence  # "the ..."


def _fact(form: _Form, plain: str, random: RandomNumbers) -> Fact:
    """One that `plain`, the normalised text, says nothing of."""
    padded = f" {plain} "
    for _ in range(_TRIES):
        subject = _one_of(form.subjects, random)
        golds = _value(form, random)
        if any(f" {normalised(named)} " in padded for named in (*golds, subject)):
            continue
        return Fact(form.kind, subject, _capitalised(form.sentence.format(subject, golds[0])), form.question.format(subject), golds)
    raise BadSource(f"{form.kind}: every fact of this kind stands in the text itself")


def _places(paragraphs: list[Sentences], random: RandomNumbers) -> list[tuple[int, int]]:
    """Paragraph, and the sentence of it before which a fact goes: one in each part of equal length, in order."""
    gaps = [(p, s) for p, paragraph in enumerate(paragraphs) for s in range(len(paragraph))]
    parts = len(_FORMS)
    if len(gaps) < parts:
        raise BadSource("the text has fewer sentences than facts; take longer documents or another --text")
    places = []
    for part in range(parts):
        first, end = part * len(gaps) // parts, (part + 1) * len(gaps) // parts
        places.append(gaps[first + random.below(end - first)])
    return places


def fact_document(text: RunningText, spec: DocumentSpec) -> tuple[str, list[Fact]]:
    """The document, and its facts in the order in which they are asked."""
    random = spec.random()
    paragraphs = drawn_part(text, spec, random)
    places = _places(paragraphs, random)
    plain = normalised(joined_text(paragraphs))
    facts = [_fact(_FORMS[kind], plain, random) for kind in _shuffled_kinds(random)]
    for (paragraph, before), fact in reversed(list(zip(places, facts))):  # from the end: places before stay where they are
        paragraphs[paragraph].insert(before, fact.sentence)
    return joined_text(paragraphs), [facts[asked] for asked in _shuffled_kinds(random)]


def fact_items(text: RunningText, specs: DocumentSpecs, folder: Path) -> list[ItemLine]:
    """Six items a document, next to each other; the documents are written into the folder."""
    items = []
    for spec in specs:
        document, facts = fact_document(text, spec)
        cluster, path = spec.name("facts"), spec.path(folder, "facts")
        path.write_text(document, "utf-8")
        for fact in facts:
            items.append(ItemLine(f"{cluster}:{fact.kind}", [path], fact.question, fact.golds, "contains", f"{spec.words} words", cluster))
    return items
