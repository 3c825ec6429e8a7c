"""Asks about two PDFs of 12 pages, each fact on a page of its own: a model that reads about a paper in two columns, and the demo model about
pages with one shape or letter card each.

    python3 ask_papers.py WINNOW_CLI MODEL.gguf [FOLDER]

The paper is running text with six facts (resources/evaluation), set by groff with running headers and hyphens; the same text is asked as a
plain file. Prints right answers with all of the cache and with a fifth of it. Needs Debian's groff, python3-gi-cairo and gir1.2-pango-1.0.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[4]
CLI, MODEL = sys.argv[1:3]
OUT = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else tempfile.mkdtemp())
OUT.mkdir(parents=True, exist_ok=True)
sys.path[:0] = [str(pathlib.Path(__file__).parent), str(ROOT / "resources/evaluation"), str(ROOT / "resources/demo/make")]
sys.argv = [sys.argv[0], str(OUT)]
from answer_metrics import contains  # noqa: E402
from fact_documents import fact_document  # noqa: E402
from make_papers import cairo_surface  # noqa: E402
from running_text import read_texts  # noqa: E402
from score import is_right  # noqa: E402
from text_documents import DocumentSpec  # noqa: E402
from words import COLORS  # noqa: E402

WORDS = 3000  # that fill 12 pages
CARDS = ["red star", "blue circle", "green cross", "F", "yellow square", "pink diamond", "purple triangle", "blue cross", "orange diamond",
         "white circle", "green triangle", "yellow circle"]
ASKED = [("color", "What color is the star?", "The star is red."), ("shape", "What shape is purple?", "The purple shape is a triangle."),
         ("card", "What letter is on the card?", "The letter is F."), ("color", "What color is the square?", "The square is yellow."),
         ("shape", "What shape is orange?", "The orange shape is a diamond."),
         ("presence", "Is there a white circle?", "There is a white circle.")]


def two_columns():
    text, facts = fact_document(read_texts([], "utf-8-sig"), DocumentSpec(WORDS))
    (OUT / "paper.txt").write_text(text, "utf-8")
    head = ["." + line for line in ("nr PO 1.5c", "nr LL 11.8c", "nr PS 12", "nr VS 16", "ds LH Terms", "ds RH Journal of Licences", "TL")]
    lines = head + ["On the terms of works", ".2C"] + [f".PP\n{paragraph}" for paragraph in text.strip().split("\n\n")]
    set_it = ["groff", "-ms", "-k", "-Tpdf", "-P-pa5", "-dpaper=a5"]
    made = subprocess.run(set_it, input="\n".join(lines).encode(), stdout=subprocess.PIPE, check=True)
    (OUT / "paper.pdf").write_bytes(made.stdout)
    return [(fact.question, fact.golds) for fact in facts]


def corners(shape):
    if shape == "star":
        return [((1, 0.4)[i % 2] * math.sin(math.pi * i / 5), -(1, 0.4)[i % 2] * math.cos(math.pi * i / 5)) for i in range(10)]
    third = [(-1 / 3, -1), (1 / 3, -1), (1 / 3, -1 / 3), (1, -1 / 3), (1, 1 / 3), (1 / 3, 1 / 3)]
    return {"square": [(-1, -1), (1, -1), (1, 1), (-1, 1)], "triangle": [(0, -1), (1, 1), (-1, 1)],
            "diamond": [(0, -1), (1, 0), (0, 1), (-1, 0)], "cross": third + [(-x, -y) for x, y in third]}[shape]


def cards():
    surface, drawing = cairo_surface("cards.pdf", (320, 320))
    for number, card in enumerate(CARDS):
        drawing.set_source_rgb(0.1, 0.12 + 0.01 * number, 0.2)
        drawing.paint()
        x, y = 120 + 7 * number, 190 - 5 * number
        if len(card) == 1:
            drawing.set_source_rgb(0.96, 0.96, 0.96)
            drawing.rectangle(x - 60, y - 80, 120, 160)
            drawing.fill()
            drawing.set_source_rgb(0.1, 0.1, 0.1)
            drawing.select_font_face("DejaVu Sans", 0, 1)
            drawing.set_font_size(150)
            left, top, width, height = drawing.text_extents(card)[:4]
            drawing.move_to(x - left - width / 2, y - top - height / 2)
            drawing.show_text(card)
        else:
            color, shape = card.split()
            drawing.set_source_rgb(*(value / 255 for value in COLORS[color]))
            if shape == "circle":
                drawing.arc(x, y, 70, 0, 2 * math.pi)
            else:
                for u, v in corners(shape):
                    drawing.line_to(x + 70 * u, y + 70 * v)
            drawing.fill()
        surface.show_page()
    surface.finish()


def asked(document, questions, right, *options):
    """Of each share, how many are right; the wrong ones are told."""
    told = {}
    for method, share in (("full", 1.0), ("self-study", 0.2)):
        line = {"document": str(OUT / document), "method": method, "retention": share, "questions": questions}
        done = subprocess.run([CLI, "batch", "--json", "--max-tokens", "32", *options, "-"], input=json.dumps(line), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr)
        answers = json.loads(done.stdout)["answers"]
        for question, answer, fits in zip(questions, answers, right(answers)):
            print(f"  {document} {100 * share:.0f} %: {'right' if fits else 'WRONG'}  {question}  {answer.strip()!r}", flush=True)
        told[share] = sum(right(answers))
    return told


facts = two_columns()
cards()
for document in ("paper.pdf", "paper.txt"):
    found = asked(document, [question for question, _ in facts],
                  lambda answers: [max(contains(answer, gold) for gold in golds) > 0 for answer, (_, golds) in zip(answers, facts)],
                  "--model", MODEL)
    print(document, found)
print("cards.pdf", asked("cards.pdf", [question for _, question, _ in ASKED],
                         lambda answers: [is_right(*asked_so, answer) for asked_so, answer in zip(ASKED, answers)]))
