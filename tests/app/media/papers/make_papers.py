"""Makes the PDFs of tests/app/media/papers/samples: small ones of several makers, each with what has gone wrong in some reader.

Needs Debian's python3-gi-cairo, gir1.2-pango-1.0, groff and qpdf: python3 make_papers.py FOLDER
What each page says is written here, and papers_test.cpp looks for it.
"""
import pathlib
import random
import subprocess
import sys

import cairo
import gi

gi.require_version("Pango", "1.0")
gi.require_version("PangoCairo", "1.0")
from gi.repository import Pango, PangoCairo  # noqa: E402

OUT = pathlib.Path(sys.argv[1])
A4 = (595, 842)
WORDS = ("the wave sorts pebbles along shore where efficient classification differs from sedimentation because gravitational "
         "acceleration determines consolidated distribution of heterogeneous fragments and friction affects well-known finite office "
         "flow").split()


def prose(seed, count):
    draw = random.Random(seed)
    return " ".join(draw.choice(WORDS) for _ in range(count))


def groff():
    """A paper in two columns with a title across both, running headers and page numbers."""
    text = [".ds LH Pebbles", ".ds RH Journal of Shores", ".TL", "The sorting of pebbles by waves", ".AU", "A. Nonymous", ".AB",
            "We study how waves sort pebbles. The first marker is quartz.", ".AE", ".2C"]
    for number, fact in enumerate(("The second marker is basalt.", "The third marker is flint.", "The fourth marker is chalk.",
                                   "The fifth marker is slate."), start=1):
        text += [".NH 1", f"Section {number}", ".PP", fact]
        for part in range(4):
            text += [".PP", prose(10 * number + part, 90).capitalize() + "."]
    pdf = subprocess.run(["groff", "-ms", "-Tpdf", "-P-pa4"], input="\n".join(text).encode(), stdout=subprocess.PIPE, check=True).stdout
    (OUT / "two_columns.pdf").write_bytes(pdf)


def page_of(context, lines, left, top, step=14):
    for number, line in enumerate(lines):
        context.move_to(left, top + step * number)
        context.show_text(line)


def cairo_surface(name, size=A4):
    surface = cairo.PDFSurface(str(OUT / name), *size)
    context = cairo.Context(surface)
    context.select_font_face("DejaVu Serif")
    context.set_font_size(9)
    return surface, context


def rows_across():
    """Two columns that are drawn row by row across both, as some printers do; a footer is drawn first."""
    surface, context = cairo_surface("rows_across.pdf")
    for page in range(1, 5):
        page_of(context, [f"Annual report, page {page} of 4"], 240, 810)
        page_of(context, ["Shore Authority"], 72, 40)
        for row in range(30):
            for left, side, grey in ((72, "Left", 0), (320, "Right", 0.2)):  # another colour begins another piece of text
                context.set_source_rgb(grey, grey, grey)
                page_of(context, [f"{side} {prose(100 * page + row, 1)} {row} of part {page} has {side.lower()} winds"], left, 80 + 20 * row)
        surface.show_page()
    surface.finish()


def table():
    """A table whose rows have to stay rows."""
    surface, context = cairo_surface("table.pdf")
    for number, row in enumerate([("Stone", "Weight", "Shore"), ("Quartz", "12 g", "North"), ("Basalt", "31 g", "East"),
                                  ("Flint", "7 g", "South"), ("Chalk", "5 g", "West"), ("Slate", "19 g", "North")]):
        for column, cell in enumerate(row):
            page_of(context, [cell], 72 + 150 * column, 80 + 18 * number)
    surface.finish()


def right_to_left():
    """Hebrew and Arabic, shaped by Pango."""
    surface, context = cairo_surface("right_to_left.pdf")
    for number, text in enumerate(["שלום עולם, זה מסמך קצר", "הגלים ממיינים 12 חלוקים", "مرحبا بالعالم"]):
        layout = PangoCairo.create_layout(context)
        layout.set_font_description(Pango.FontDescription("DejaVu Sans 12"))
        layout.set_text(text, -1)
        context.move_to(72, 80 + 30 * number)
        PangoCairo.show_layout(context, layout)
    surface.finish()


def sizes():
    """A stamp and a poster."""
    surface, context = cairo_surface("sizes.pdf", (72, 60))
    page_of(context, ["a stamp"], 5, 30)
    surface.show_page()
    surface.set_size(2384, 3370)
    context.set_font_size(90)
    page_of(context, ["a poster"], 200, 900)
    surface.finish()


def scan():
    """Two pages that are pictures alone."""
    surface, context = cairo_surface("scan.pdf")
    for page in range(2):
        picture = cairo.ImageSurface(cairo.FORMAT_A8, 300, 424)
        drawing = cairo.Context(picture)
        drawing.set_font_size(20)
        page_of(drawing, [f"scanned page {page + 1}"], 30, 100)
        context.save()
        context.scale(A4[0] / 300, A4[1] / 424)
        context.mask_surface(picture, 0, 0)
        context.restore()
        surface.show_page()
    surface.finish()


def plain_pdf(name, objects):
    """A PDF of objects as they are."""
    body = b"%PDF-1.4\n"
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(body))
        body += b"%d 0 obj\n" % number + content + b"\nendobj\n"
    xref = len(body)
    body += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + b"".join(b"%010d 00000 n \n" % place for place in places)
    body += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, xref)
    (OUT / name).write_bytes(body)


def stream(content, fields=b""):
    return b"<< " + fields + b"/Length %d >>\nstream\n" % len(content) + content + b"\nendstream"


def chinese():
    """Chinese in a font that is not in the file."""
    text = "波浪分选卵石".encode("utf-16-be").hex().encode()
    plain_pdf("chinese.pdf", [
        b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 100] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        stream(b"BT /F1 24 Tf 20 40 Td <" + text + b"> Tj ET"),
        b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H /DescendantFonts [6 0 R] >>",
        b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 "
        b">> /FontDescriptor 7 0 R >>",
        b"<< /Type /FontDescriptor /FontName /STSong-Light /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 "
        b"/CapHeight 700 /StemV 80 >>"])


def scripted():
    """A script that runs at opening, and a form: nothing of it runs."""
    plain_pdf("scripted.pdf", [
        b"<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (app.alert\\(1\\);) >> /AcroForm << /Fields [6 0 R] /DR << /Font "
        b"<< /F1 5 0 R >> >> /DA (/F1 12 Tf) >> >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> /Annots [6 0 R] >>",
        stream(b"BT /F1 18 Tf 20 150 Td (A form with a script) Tj ET"),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Basalt) /Rect [20 60 200 90] /P 3 0 R /F 4 /AP << /N 7 0 R >> >>",
        stream(b"/Tx BMC BT /F1 14 Tf 5 8 Td (Basalt) Tj ET EMC", b"/Type /XObject /Subtype /Form /BBox [0 0 180 30] /Resources << /Font << "
               b"/F1 5 0 R >> >> ")])


def by_qpdf():
    source = OUT / "table.pdf"
    for name, options in {"turned.pdf": ["--rotate=+90"], "linearised.pdf": ["--linearize"],
                          "object_streams.pdf": ["--object-streams=generate"],
                          "encrypted.pdf": ["--encrypt", "secret", "owner", "256", "--"],
                          "owner_only.pdf": ["--encrypt", "", "owner", "256", "--"]}.items():
        subprocess.run(["qpdf", "--deterministic-id" if "encrypt" not in name and "owner" not in name else "--no-warn", *options,
                        str(source), str(OUT / name)], check=True)


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for make in (groff, rows_across, table, right_to_left, sizes, scan, chinese, scripted, by_qpdf):
        make()
