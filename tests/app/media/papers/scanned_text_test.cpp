// Texts that Tesseract reads from pictures of pages; what needs it is skipped where it is not installed.
#include "app/media/files/scanned_text.h"

#include <gtest/gtest.h>

#include "app/media/process/process_media_reader.h"
#include "app/media/process/scan_reader.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::app {
namespace {

MediaRequest scanOf(PageRange pages = {}) {
  return {.path = source_folder() + "/tests/app/media/papers/samples/scan.pdf", .kind = MediaKind::kDocument, .pages = pages};
}

std::string scanned(const MediaReader& reader, PageRange pages = {}) {
  return scannedText(reader, scanOf(pages), 2, [](int, int) {}, {});
}

TEST(ScannedText, PagesBeginAtTheirMarks) {
  DocumentText text;
  text.utf8 = scannedMark(3) + "words\n[page 9, read by Tesseract]\n[page x, read by Tesseract]\n" + scannedMark(4) + "more\n";
  notePages(text);
  EXPECT_EQ(text.pageLines, (std::vector<std::int32_t>{0, 4})) << "what only looks like a mark is words of its page";
  DocumentText other;
  other.utf8 = "words\n" + scannedMark(1);
  notePages(other);
  EXPECT_TRUE(other.pageLines.empty());
}

TEST(ScannedText, IsReadFromThePagesThatAreAskedFor) {
  if (tesseractProgram().isEmpty()) GTEST_SKIP() << "tesseract is not installed (tesseract-ocr)";
  const ProcessMediaReader reader;
  EXPECT_EQ(scanned(reader), "[page 1, read by Tesseract]\nscanned page 1\n[page 2, read by Tesseract]\nscanned page 2\n");
  EXPECT_EQ(scanned(reader, {2, 7}), "[page 2, read by Tesseract]\nscanned page 2\n");
  const test::ScratchFolder folder;
  MediaRequest asked = scanOf();
  asked.subtitles = folder.write("a.scan.txt", scanned(reader));
  const auto source = reader.openSource(asked, {});
  EXPECT_EQ(source->page_lines(), (std::vector<std::int32_t>{0, 2}));
  EXPECT_TRUE(source->text().ends_with("scanned page 2\n"));
}

TEST(ScannedText, WithoutTesseractNamesIt) {
  const test::ScratchFolder nothing;
  const ProcessMediaReader reader;
  const QByteArray path = qgetenv("PATH");
  qputenv("PATH", QByteArray::fromStdString(nothing.path()));
  test::expect_error(ErrorCode::kFileNotFound, "it is not installed, and text is read from scans by it alone", [&] { scanned(reader); });
  qputenv("PATH", path);
}

}  // namespace
}  // namespace winnow::app
