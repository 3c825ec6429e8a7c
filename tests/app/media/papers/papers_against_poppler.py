"""Makes 40 PDFs of many makers and six files of each other format, and compares what Winnow reads with what Poppler reads.

    python3 papers_against_poppler.py READ_PAPER [FOLDER]

READ_PAPER is tests/app/media/papers/read_paper.cpp. Needs Debian's python3-gi-cairo, gir1.2-pango-1.0, groff, qpdf and poppler-utils, and
ends with status 77 where one is missing (ctest: skipped). A PDF is right if Winnow has 98 % of the words that pdftotext has, and no more
than 2 % others (running headers, which Winnow leaves out, are not counted), and its first page is like that of pdftoppm, of the same size.
Other formats are right if all words that were written are read, in order. What cannot be read has to say its sentence.
"""
import array
import importlib.util
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata

HERE = pathlib.Path(__file__).resolve().parent
LEAST_WORDS = 0.98
LEAST_PSNR = 24.0  # of means over 4 x 4 pixels: two renderers agree where ink is, and not on the edges of letters
BLOCK = 4
NO_GLYPHS = ("h_japanese.pdf", "h_korean.pdf")  # the font is not in the file, and the sandbox has none: read, not drawn
FACES = [("DejaVu Sans", 11), ("DejaVu Serif", 10), ("DejaVu Sans Mono", 9)]


def missing():
    absent = [tool for tool in ("groff", "qpdf", "pdftotext", "pdftoppm") if shutil.which(tool) is None]
    return absent + [module for module in ("cairo", "gi") if importlib.util.find_spec(module) is None]


if missing():
    print("skipped: there is no " + ", ".join(missing()))
    sys.exit(77)

OUT = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp())
OUT.mkdir(parents=True, exist_ok=True)
READ = sys.argv[1]
sys.argv = [sys.argv[0], str(OUT)]
sys.path.insert(0, str(HERE))
import make_documents as documents  # noqa: E402
import make_papers as papers  # noqa: E402
from make_papers import Pango, PangoCairo, cairo  # noqa: E402


# ---- PDFs --------------------------------------------------------------------------------------------------------------------------

def groff(name, text, *options):
    made = subprocess.run(["groff", "-Tpdf", "-P-pa4", *options], input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    (OUT / name).write_bytes(made.stdout)


def by_groff():
    prose = papers.prose
    paragraphs = "\n".join(f".PP\n{prose(seed, 80).capitalize()}." for seed in range(30))
    groff("g_one_column.pdf", ".TL\nOn shores\n.AU\nA. Nonymous\n" + paragraphs, "-ms")
    groff("g_two_columns.pdf", ".TL\nOn shores\n.2C\n" + paragraphs, "-ms")
    groff("g_headed.pdf", ".ds LH Pebbles\n.ds RH Journal\n.ds CF Draft\n.NH\nWaves\n" + paragraphs, "-ms")
    groff("g_table.pdf", ".TS\ntab(;) box;\nl r r.\nStone;Weight;Shore\n" + "\n".join(
        f"stone{i};{i * 7};{i * 3}" for i in range(30)) + "\n.TE\n", "-ms", "-t")
    groff("g_manual.pdf", ".TH SORT 1\n.SH NAME\nsort \\- sort pebbles\n.SH OPTIONS\n.TP\n.B \\-a\n" + prose(5, 60) + "\n.TP\n.B \\-b\n"
          + prose(6, 60), "-man")
    groff("g_formulas.pdf", ".PP\nThe weight is\n.EQ\nm = rho cdot V\n.EN\nand " + prose(7, 40) + "\n", "-ms", "-e")


def surface_of(name, size=papers.A4, face=FACES[0]):
    surface = cairo.PDFSurface(str(OUT / name), *size)
    context = cairo.Context(surface)
    context.select_font_face(face[0])
    context.set_font_size(face[1])
    return surface, context


def lines_of(seed, count, words=9):
    return [papers.prose(100 * seed + line, words) for line in range(count)]


def by_cairo():
    for number, face in enumerate(FACES):
        surface, context = surface_of(f"c_face_{number}.pdf", face=face)
        for page in range(3):
            papers.page_of(context, lines_of(10 * number + page, 40), 60, 80, 16)
            surface.show_page()
        surface.finish()
    surface, context = surface_of("c_landscape.pdf", (842, 595))
    papers.page_of(context, lines_of(40, 25, 14), 60, 60, 18)
    surface.finish()
    surface, context = surface_of("c_mixed_sizes.pdf")
    for page, size in enumerate([(595, 842), (842, 595), (420, 595), (1190, 1684)]):
        surface.set_size(*size)
        papers.page_of(context, lines_of(50 + page, 12, 6), 40, 60, 18)
        surface.show_page()
    surface.finish()
    surface, context = surface_of("c_drawn_backwards.pdf")
    for line, text in reversed(list(enumerate(lines_of(60, 20)))):
        papers.page_of(context, [text], 60, 80 + 20 * line)
    surface.finish()
    surface, context = surface_of("c_on_a_picture.pdf")
    for band in range(40):
        context.set_source_rgb(0.6 + band / 100, 0.8, 1.0 - band / 100)
        context.rectangle(0, 21 * band, 595, 21)
        context.fill()
    context.set_source_rgb(0, 0, 0)
    papers.page_of(context, lines_of(61, 20), 60, 80, 24)
    surface.finish()
    surface, context = surface_of("c_tagged.pdf")
    context.tag_begin("Document", "")
    for line, text in enumerate(lines_of(62, 20)):
        context.tag_begin("P", "")
        papers.page_of(context, [text], 60, 80 + 20 * line)
        context.tag_end("P")
    context.tag_end("Document")
    surface.finish()
    surface, context = surface_of("c_hundred_pages.pdf")
    for page in range(100):
        papers.page_of(context, lines_of(200 + page, 10), 60, 80, 20)
        surface.show_page()
    surface.finish()
    surface, context = surface_of("c_three_columns.pdf", face=("DejaVu Serif", 8))
    for column in range(3):
        papers.page_of(context, lines_of(63 + column, 40, 3), 40 + 185 * column, 80, 16)
    surface.finish()
    surface, context = surface_of("c_turned_words.pdf")
    papers.page_of(context, lines_of(66, 10), 60, 80, 20)
    context.move_to(40, 600)
    context.rotate(-1.5708)
    context.show_text("a remark along the margin")
    surface.finish()


def by_pango():
    texts = {"p_hebrew.pdf": "שלום עולם זה מסמך קצר על חלוקים", "p_arabic.pdf": "مرحبا بالعالم هذا نص قصير",
             "p_russian.pdf": "Волны сортируют гальку вдоль берега моря", "p_greek.pdf": "Τα κύματα ταξινομούν τα βότσαλα στην ακτή",
             "p_accents.pdf": "Příliš žluťoučký kůň; ngoài bờ biển sóng xếp sỏi", "p_ligatures.pdf": "efficient flow of final offices"}
    for name, text in texts.items():
        surface, context = surface_of(name)
        for line in range(4):
            layout = PangoCairo.create_layout(context)
            layout.set_font_description(Pango.FontDescription("DejaVu Sans 14"))
            layout.set_text(f"{text}", -1)
            context.move_to(60, 80 + 40 * line)
            PangoCairo.show_layout(context, layout)
        surface.finish()


def by_hand():
    for name, ordering, encoding, font, text in (("h_japanese.pdf", "Japan1", "UniJIS-UCS2-H", "HeiseiMin-W3", "波が小石を並べる"),
                                                 ("h_korean.pdf", "Korea1", "UniKS-UCS2-H", "HYSMyeongJo-Medium", "파도가 자갈을 고른다")):
        papers.plain_pdf(name, [
            b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 100] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
            papers.stream(b"BT /F1 24 Tf 20 40 Td <" + text.encode("utf-16-be").hex().encode() + b"> Tj ET"),
            f"<< /Type /Font /Subtype /Type0 /BaseFont /{font} /Encoding /{encoding} /DescendantFonts [6 0 R] >>".encode(),
            f"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /{font} /CIDSystemInfo << /Registry (Adobe) /Ordering ({ordering}) /Supplement 2 >> "
            "/FontDescriptor 7 0 R >>".encode(),
            f"<< /Type /FontDescriptor /FontName /{font} /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 "
            "/CapHeight 700 /StemV 80 >>".encode()])
    words = b"BT /F1 14 Tf 40 150 Td (Waves sort pebbles along the shore) Tj 0 -24 Td (by weight and by shape) Tj ET"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] %s /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    head = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"]
    papers.plain_pdf("h_cropped.pdf", head + [page % b"/CropBox [20 100 380 190]", papers.stream(words), font])
    papers.plain_pdf("h_no_font.pdf", head + [page % b"", papers.stream(words),
                                              b"<< /Type /Font /Subtype /TrueType /BaseFont /NowhereSans /Encoding /WinAnsiEncoding >>"])
    papers.plain_pdf("h_layers.pdf", [head[0][:-3] + b" /OCProperties << /OCGs [6 0 R] /D << /ON [6 0 R] >> >> >>", head[1],
                                      (page % b"").replace(b"/Font", b"/Properties << /L 6 0 R >> /Font"),
                                      papers.stream(b"/OC /L BDC " + words + b" EMC"), font, b"<< /Type /OCG /Name (Layer) >>"])


def by_qpdf():
    source = str(OUT / "c_face_1.pdf")
    weak = ["--allow-weak-crypto", "--encrypt", "secret", "owner"]
    forms = {"q_linearised.pdf": ["--linearize"], "q_object_streams.pdf": ["--object-streams=generate"], "q_plain.pdf": ["--qdf"],
             "q_turned_90.pdf": ["--rotate=+90"], "q_turned_180.pdf": ["--rotate=+180"], "q_turned_270.pdf": ["--rotate=+270"],
             "q_rc4_40.pdf": [*weak, "40", "--"], "q_rc4_128.pdf": [*weak, "128", "--use-aes=n", "--"],
             "q_aes_128.pdf": [*weak, "128", "--use-aes=y", "--"], "q_aes_256.pdf": ["--encrypt", "secret", "owner", "256", "--"]}
    for name, options in forms.items():
        subprocess.run(["qpdf", *options, source, str(OUT / name)], check=True)


def damaged():
    """Without its table of objects, which both readers find again."""
    whole = (OUT / "c_face_0.pdf").read_bytes()
    (OUT / "d_no_table.pdf").write_bytes(whole[:whole.rindex(b"xref")])


# ---- comparison --------------------------------------------------------------------------------------------------------------------

def words_of(text):
    plain = re.sub(r"(?m)^\[page \d+\]$", "", unicodedata.normalize("NFKC", text).replace("\u00ad", ""))
    plain = re.sub(r"(\w)[-\u2010]\n\s*(\w)", r"\1\2", plain.replace("\f", "\n"))
    return re.findall(r"\w+", plain.casefold())


def shared(ours, theirs):
    """The share of their words that we have, and of ours that they have."""
    count = {}
    for word in theirs:
        count[word] = count.get(word, 0) + 1
    both = 0
    for word in ours:
        if count.get(word, 0) > 0:
            count[word] -= 1
            both += 1
    return both / max(1, len(theirs)), both / max(1, len(ours))


def picture(file):
    magic, width, height, _, pixels = re.match(rb"(P6)\s+(\d+)\s+(\d+)\s+(\d+)\s(.*)", file.read_bytes(), re.S).groups()
    assert magic == b"P6"
    return int(width), int(height), array.array("B", pixels)


def means(width, height, pixels):
    """Of the red channel over blocks."""
    rows = []
    for top in range(0, height - BLOCK + 1, BLOCK):
        columns = [0] * width
        for y in range(top, top + BLOCK):
            columns = list(map(int.__add__, columns, pixels[3 * width * y:3 * width * (y + 1):3]))
        rows += [sum(columns[left:left + BLOCK]) / BLOCK ** 2 for left in range(0, width - BLOCK + 1, BLOCK)]
    return rows


def psnr(a, b):
    error = sum((x - y) * (x - y) for x, y in zip(a, b)) / max(1, len(a))
    return 99.0 if error == 0 else 10 * math.log10(255 * 255 / error)


def ours(path, password=None):
    asked = [READ] + (["--password", password] if password else []) + [str(path)]
    return subprocess.run(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def page_likeness(path, password):
    """PSNR of the first page, drawn as large."""
    mine = OUT / "mine.ppm"
    asked = [READ] + (["--password", password] if password else []) + [str(path), "1", str(mine)]
    subprocess.run(asked, check=True)
    width, height, pixels = picture(mine)
    sides = (height, width) if path.name in ("q_turned_90.pdf", "q_turned_270.pdf") else (width, height)  # it turns them afterwards
    subprocess.run(["pdftoppm", "-f", "1", "-l", "1", "-singlefile", "-cropbox", "-scale-to-x", str(sides[0]), "-scale-to-y", str(sides[1])]
                   + (["-upw", password] if password else []) + [str(path), str(OUT / "theirs")], stderr=subprocess.DEVNULL, check=True)
    other_width, other_height, others = picture(OUT / "theirs.ppm")
    if (width, height) != (other_width, other_height):
        return 0.0
    return psnr(means(width, height, pixels), means(width, height, others))


def compare_pdf(path):
    password = "secret" if path.name.startswith(("q_rc4", "q_aes")) else None
    problems = []
    if password and "needs a password" not in ours(path).stderr.decode():
        problems.append("asks for no password")
    if password and "not the password" not in ours(path, "guess").stderr.decode():
        problems.append("takes a wrong password")
    read = ours(path, password)
    poppler = subprocess.run(["pdftotext"] + (["-upw", password] if password else []) + [str(path), "-"], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, check=True)
    theirs = words_of(poppler.stdout.decode())
    has, agrees = shared(words_of(read.stdout.decode()), theirs)
    left_out = re.search(r"(\d+) lines? .*left out|left out (\d+)", read.stderr.decode())
    if read.returncode != 0:
        problems.append(read.stderr.decode().strip())
    if not theirs and "no text" not in read.stderr.decode():
        problems.append("says nothing of a page without text")
    if theirs and (agrees < LEAST_WORDS or (has < LEAST_WORDS and not left_out)):
        problems.append("words")
    likeness = page_likeness(path, password)
    if likeness < LEAST_PSNR and path.name not in NO_GLYPHS:
        problems.append("page")
    print(f"{path.name:24} words {len(theirs):6}  has {has:6.1%}  agrees {agrees:6.1%}  page {likeness:5.1f} dB  {'; '.join(problems) or 'right'}")
    return not problems


# ---- other formats -----------------------------------------------------------------------------------------------------------------

def texts():
    """Six texts: short, long, of other scripts, with marks of markup, with numbers, of one very long paragraph."""
    return ["Waves sort pebbles", " ".join(lines_of(300, 400)), "Волны שלום 波浪 ngoài żółć", "a < b & c > d \"quoted\" 'single'",
            " ".join(str(number) for number in range(0, 4000, 7)), papers.prose(301, 20000)]


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def other_formats():
    made = []
    for number, text in enumerate(texts()):
        words = text.split(" ")
        paragraphs = [escaped(" ".join(words[first:first + 500])) for first in range(0, len(words), 500)]
        word = "".join(f"<w:p><w:r><w:t xml:space=\"preserve\">{each}</w:t></w:r></w:p>" for each in paragraphs)
        documents.archive(f"o_{number}.docx", {"[Content_Types].xml": "<Types/>",
                                               "word/document.xml": f"<w:document {documents.W}><w:body>{word}</w:body></w:document>"})
        for ending, body, mime in (("odt", "<office:text>" + "".join(f"<text:p>{each}</text:p>" for each in paragraphs) + "</office:text>", "text"),
                                   ("ods", "<office:spreadsheet><table:table table:name='S'>" + "".join(
                                       f"<table:table-row><table:table-cell><text:p>{each}</text:p></table:table-cell></table:table-row>"
                                       for each in paragraphs) + "</table:table></office:spreadsheet>", "spreadsheet")):
            content = f"<office:document-content {documents.ODF}><office:body>{body}</office:body></office:document-content>"
            documents.archive(f"o_{number}.{ending}", {"mimetype": f"application/vnd.oasis.opendocument.{mime}", "content.xml": content})
        rows = "".join(f'<row r="{row}"><c r="A{row}" t="inlineStr"><is><t>{each}</t></is></c></row>' for row, each in enumerate(paragraphs, 1))
        documents.archive(f"o_{number}.xlsx", {
            "[Content_Types].xml": "<Types/>",
            "xl/workbook.xml": '<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" '
                               'r:id="rId1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>',
            "xl/worksheets/sheet1.xml": f"<worksheet><sheetData>{rows}</sheetData></worksheet>"})
        page = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>' + "".join(
            f"<p>{each}</p>" for each in paragraphs) + "</body></html>"
        documents.archive(f"o_{number}.epub", {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>',
            "b.opf": '<package><manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>', "a.xhtml": page})
        (OUT / f"o_{number}.html").write_text(page.split("?>")[1].replace("<head>", '<head><meta charset="utf-8">'), encoding="utf-8")
        import email.message
        letter = email.message.EmailMessage()
        letter["From"], letter["To"], letter["Subject"] = "a@example.org", "b@example.org", "Pebbles"
        letter.set_content(text)
        (OUT / f"o_{number}.eml").write_bytes(bytes(letter))
        made += [(OUT / f"o_{number}.{ending}", text) for ending in ("docx", "odt", "ods", "xlsx", "epub", "html", "eml")]
    return made


def compare_other(path, text):
    read = ours(path)
    wanted, found = words_of(text), iter(words_of(read.stdout.decode()))
    lost = [word for word in wanted if word not in found]  # in order: `in` consumes the iterator
    if lost or read.returncode != 0:
        print(f"{path.name:24} lost {len(lost)} of {len(wanted)} words, the first: {lost[:3]} {read.stderr.decode().strip()}")
    return not lost and read.returncode == 0


if __name__ == "__main__":
    papers.scan()
    for make in (by_groff, by_cairo, by_pango, by_hand, by_qpdf, damaged):
        make()
    pdfs = sorted(path for path in OUT.glob("*.pdf") if path.stat().st_size > 0)
    right = sum(compare_pdf(path) for path in pdfs)
    others = other_formats()
    read = sum(compare_other(path, text) for path, text in others)
    print(f"{right} of {len(pdfs)} PDFs, {read} of {len(others)} other documents")
    sys.exit(0 if right == len(pdfs) and read == len(others) and len(pdfs) >= 40 else 1)
