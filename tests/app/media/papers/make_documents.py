"""Makes the office files, books, pages and letters of tests/app/media/papers/samples, out of what their standards ask for at least.

    python3 make_documents.py FOLDER
"""
import pathlib
import sys
import zipfile

OUT = pathlib.Path(sys.argv[1])
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
ODF = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table"))


def archive(name, parts):
    with zipfile.ZipFile(OUT / name, "w", zipfile.ZIP_DEFLATED) as file:
        for part, content in parts.items():
            info = zipfile.ZipInfo(part, (2026, 11, 29, 0, 0, 0))
            info.compress_type = zipfile.ZIP_STORED if part == "mimetype" else zipfile.ZIP_DEFLATED
            file.writestr(info, content)


def docx():
    def paragraph(text, style=""):
        looks = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        return f"<w:p>{looks}<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r></w:p>"

    def row(*cells):
        return "<w:tr>" + "".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in cells) + "</w:tr>"

    body = (paragraph("On pebbles", "berschrift1") + "<w:p><w:r><w:t>Waves sort </w:t></w:r><w:r><w:t>peb</w:t></w:r><w:r><w:t>bles.</w:t></w:r>"
            "<w:del><w:r><w:delText>Gone.</w:delText></w:r></w:del></w:p>" + paragraph("Results", "berschrift2")
            + "<w:tbl>" + row("Stone", "Weight") + row("Quartz", "12 g") + "</w:tbl>"
            "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>an item</w:t></w:r></w:p>")
    styles = "".join(f'<w:style w:styleId="berschrift{n}"><w:name w:val="heading {n}"/></w:style>' for n in (1, 2))
    archive("letter.docx", {"[Content_Types].xml": "<Types/>", "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
                            "word/styles.xml": f"<w:styles {W}>{styles}</w:styles>",
                            "word/footnotes.xml": f"<w:footnotes {W}><w:footnote>{paragraph('A note below.')}</w:footnote></w:footnotes>"})


def odt():
    body = ('<text:h text:outline-level="1">On pebbles</text:h><text:p>Waves<text:s text:c="3"/>sort<text:line-break/>pebbles.</text:p>'
            "<text:list><text:list-item><text:p>an item</text:p></text:list-item></text:list><table:table><table:table-row>"
            "<table:table-cell><text:p>Quartz</text:p></table:table-cell><table:table-cell><text:p>12 g</text:p></table:table-cell>"
            "</table:table-row></table:table>")
    content = (f"<office:document-content {ODF}><office:automatic-styles>hidden</office:automatic-styles><office:body><office:text>{body}"
               "</office:text></office:body></office:document-content>")
    archive("letter.odt", {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})


def xlsx():
    sheet = ('<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="D1" t="inlineStr"><is><t>Day'
             '</t></is></c></row><row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2"><v>12.5</v></c><c r="C2" t="b"><v>1</v></c><c r="D2" s="1">'
             "<v>46355</v></c></row></sheetData></worksheet>")
    archive("stones.xlsx", {
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.xml": '<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet '
                           'name="Stones" r:id="rId1"/><sheet name="Shores" r:id="rId2"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="rId2" Target="/xl/worksheets/sheet2.xml"/><Relationship Id="rId1" '
                                      'Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/sharedStrings.xml": "<sst><si><t>Stone</t></si><si><r><t>Wei</t></r><r><t>ght</t></r></si><si><t>Quartz</t></si></sst>",
        "xl/styles.xml": '<styleSheet><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
                         "</styleSheet>",
        "xl/worksheets/sheet1.xml": sheet,
        "xl/worksheets/sheet2.xml": '<worksheet><sheetData><row><c t="str"><v>North</v></c></row></sheetData></worksheet>'})


def epub():
    def page(words):
        return f'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>{words}</body></html>'

    archive("book.epub", {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": '<package><manifest><item id="b" href="text/second%20part.xhtml"/><item id="a" href="text/first.xhtml"/></manifest>'
                          '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
        "OEBPS/text/second part.xhtml": page("<h1>Second</h1><p>The end &amp; more.</p>"),
        "OEBPS/text/first.xhtml": page("<h1>First</h1><p>The beginning.</p>")})


def html():
    (OUT / "page.html").write_bytes(
        '<!DOCTYPE html><html><head><meta charset="windows-1252"><title>Shores</title><script>alert("x")</script><style>p {}</style></head>'
        "<body><h2>On &lt;pebbles&gt;</h2><p>Caf\xe9 by\n the <b>sea</b><br>and more<ul><li>one<li>two</ul><table><tr><th>Stone<th>Weight<tr>"
        "<td>Quartz<td>12&nbsp;g</table><pre>a\n  b</pre><img src='http://example.org/x.png'></body></html>".encode("cp1252"))


def eml():
    (OUT / "mail.eml").write_bytes(
        b"From: =?utf-8?Q?Marta_M=C3=BCller?= <marta@example.org>\r\nTo: harbour@example.org\r\nSubject: =?utf-8?B?U3RlaW5lIPCfqqg=?=\r\n"
        b"Date: Sun, 29 Nov 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"outer\"\r\n\r\npreamble\r\n"
        b"--outer\r\nContent-Type: multipart/alternative; boundary=inner\r\n\r\n--inner\r\nContent-Type: text/plain; charset=utf-8\r\n"
        b"Content-Transfer-Encoding: quoted-printable\r\n\r\nThe pebbles are gr=C3=BCn and =\r\nround.\r\n\r\nMarta\r\n--inner\r\n"
        b"Content-Type: text/html\r\n\r\n<p>The pebbles in HTML</p>\r\n--inner--\r\n--outer\r\nContent-Type: application/pdf\r\n"
        b"Content-Disposition: attachment; filename=\"stones.pdf\"\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--outer--\r\n")


def slides():
    archive("slides.pptx", {"[Content_Types].xml": "<Types/>", "ppt/presentation.xml": "<p/>"})


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for make in (docx, odt, xlsx, epub, html, eml, slides):
        make()
