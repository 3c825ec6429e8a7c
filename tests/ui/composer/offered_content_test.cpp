// What is taken of a clipboard, for the forms that programs put into it side by side.
#include "ui/composer/offered_content.h"

#include <QApplication>
#include <QClipboard>
#include <utility>
#include <vector>

#include "tests/support/scratch_folder.h"
#include "tests/ui/support/window_fixture.h"

namespace winnow::ui {
namespace {

using Forms = std::vector<std::pair<QString, QByteArray>>;

// As the clipboard of a screen has them: where a program offers image/png or image/bmp, Qt offers a picture, too.
std::unique_ptr<QMimeData> offering(const Forms& forms) {
  auto mime = std::make_unique<QMimeData>();
  for (const auto& [format, data] : forms) {
    mime->setData(format, data);
    if (format.startsWith(u"image/")) mime->setImageData(test::FakeMediaPreview::picture(3, {64, 36}));
  }
  return mime;
}

struct OfferedCase {
  const char* from;
  Forms forms;
  OfferedKind kind;
  QString text{};
  int urls = 0;
};

TEST(OfferedContent, IsTheFormThatWasMeant) {
  const test::ScratchFolder scratch;
  const auto address = [&](const char* name) { return "file://" + QByteArray::fromStdString(scratch.write(name, "x")); };
  const QByteArray a = address("a.png"), b = address("b.pdf"), path = a.mid(7);
  const QString uris = QStringLiteral("text/uri-list"), plain = QStringLiteral("text/plain"), html = QStringLiteral("text/html");
  const QString png = QStringLiteral("image/png"), bmp = QStringLiteral("image/bmp"),
                gnome = QStringLiteral("x-special/gnome-copied-files");
  const QString office = QStringLiteral("application/x-openoffice-embed-source-xml;windows_formatname=\"Star Embed Source (XML)\"");
  const OfferedCase cases[] = {
      {"Firefox, words",
       {{html, "On <b>pebbles</b>"}, {"text/_moz_htmlinfo", "0,0"}, {plain, "On pebbles"}},
       OfferedKind::kText,
       "On pebbles"},
      {"Firefox, a link",
       {{uris, "https://example.org/x"}, {plain, "https://example.org/x"}},
       OfferedKind::kText,
       "https://example.org/x",
       1},
      {"Firefox, a picture",
       {{html, "<img src=\"https://example.org/x.png\">"}, {png, "x"}, {plain, "https://example.org/x.png"}},
       OfferedKind::kPicture},
      {"Firefox, a picture within the page",
       {{html, "<img src=\"data:image/png;base64,aaaa\">"}, {plain, "data:image/png;base64,aaaa"}, {png, "x"}},
       OfferedKind::kPicture},
      {"Firefox, a picture dragged",
       {{uris, "https://example.org/x.png"}, {html, "<img src=\"x.png\">"}, {png, "x"}},
       OfferedKind::kPicture,
       "",
       1},
      {"Firefox, a picture of this disk", {{html, "<img src=\"" + a + "\">"}, {plain, a}, {png, "x"}}, OfferedKind::kFiles, "", 1},
      {"Chromium, a picture", {{html, "<meta charset='utf-8'><img src=\"x\" alt=\"a stone\"/>"}, {png, "x"}}, OfferedKind::kPicture},
      {"LibreOffice Writer, words",
       {{office, "PK"}, {"text/rtf", "{\\rtf1 x}"}, {html, "<p>On pebbles</p>"}, {plain, "On pebbles"}},
       OfferedKind::kText,
       "On pebbles"},
      {"LibreOffice Writer, a picture", {{office, "PK"}, {png, "x"}, {bmp, "x"}}, OfferedKind::kPicture},
      {"LibreOffice Calc, cells",
       {{office, "PK"}, {png, "x"}, {bmp, "x"}, {html, "<table><tr><td>Quartz</td><td>12</td></tr></table>"}, {plain, "Quartz\t12\n"}},
       OfferedKind::kText,
       "Quartz\t12\n"},
      {"LibreOffice Calc, a cell with an address",
       {{png, "x"}, {html, "<table><tr><td>http://a.org</td></tr></table>"}, {plain, "http://a.org"}},
       OfferedKind::kText,
       "http://a.org"},
      {"LibreOffice, an object alone", {{office, "PK"}}, OfferedKind::kNothing},
      {"GIMP", {{png, "x"}, {bmp, "x"}, {"image/x-icon", "x"}, {"image/tiff", "x"}}, OfferedKind::kPicture},
      {"a screenshot", {{png, "x"}}, OfferedKind::kPicture},
      {"a screenshot and its file's path", {{png, "x"}, {plain, path}}, OfferedKind::kPicture},
      {"a bitmap", {{bmp, "x"}}, OfferedKind::kPicture},
      {"Nautilus", {{gnome, "copy\n" + a + "\n" + b}, {uris, a + "\r\n" + b + "\r\n"}, {plain, path}}, OfferedKind::kFiles, "", 2},
      {"Dolphin, cut", {{uris, a + "\r\n"}, {"application/x-kde-cutselection", "1"}, {plain, a}}, OfferedKind::kFiles, "", 1},
      {"Caja", {{"x-special/mate-copied-files", "copy\n" + a}, {gnome, "copy\n" + a}, {plain, path}}, OfferedKind::kFiles, "", 1},
      {"Thunar, cut", {{gnome, "cut\n" + a + "\n" + b}, {plain, path}}, OfferedKind::kFiles, "", 2},
      {"older GNOME", {{plain, "x-special/nautilus-clipboard\ncopy\n" + a + "\n"}}, OfferedKind::kFiles, "", 1},
      {"a file that is gone", {{gnome, "copy\nfile:///nowhere/c.png"}, {plain, "/nowhere/c.png"}}, OfferedKind::kText, "/nowhere/c.png"},
      {"files elsewhere", {{uris, "sftp://host/a.png\r\n" + b + "\r\n"}}, OfferedKind::kFiles, "", 2},
      {"a page alone",
       {{html, "<h1>On pebbles</h1><p>Waves <b>sort</b> them<img src=\"x.png\"></p>"}},
       OfferedKind::kText,
       "On pebbles\nWaves sort them"},
      {"the word copy", {{plain, "copy"}}, OfferedKind::kText, "copy"},
      {"nothing", {}, OfferedKind::kNothing},
  };
  for (const OfferedCase& each : cases) {
    const OfferedContent offered = contentOf(*offering(each.forms));
    EXPECT_EQ(offered.kind, each.kind) << each.from;
    EXPECT_EQ(offered.text.toStdString(), each.text.toStdString()) << each.from;
    EXPECT_EQ(offered.urls.size(), each.urls) << each.from;
  }
}

TEST(OfferedContent, ThatIsNotKnownIsSaid) {
  test::FakeMediaPreview preview;
  Composer composer{preview, list_methods()};
  composer.show();
  const auto paste = [&](const Forms& forms) {
    QApplication::clipboard()->setMimeData(offering(forms).release());
    QTest::keyClick(composer.prompt(), Qt::Key_V, Qt::ControlModifier);
  };
  paste({});
  EXPECT_TRUE(composer.notice().isEmpty()) << "an empty clipboard";
  paste({{QStringLiteral("application/x-openoffice-embed-source-xml"), "PK"}});
  EXPECT_EQ(composer.notice(), QStringLiteral("This cannot be attached. Winnow takes images, videos, sound, documents and text."));
  EXPECT_TRUE(composer.prompt()->toPlainText().isEmpty());
}

}  // namespace
}  // namespace winnow::ui
