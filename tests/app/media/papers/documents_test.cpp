// What office files, books, web pages and letters are read as, in the process and the sandbox; and what is refused of them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/media/papers/archive.h"
#include "app/media/papers/mail_text.h"
#include "app/media/papers/marked_text.h"
#include "app/media/process/process_media_reader.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"
#include "tests/support/zip_bytes.h"

namespace winnow::app {
namespace {

class Documents : public testing::Test {
 protected:
  static std::unique_ptr<MediaSource> read(const std::string& path) {
    static const ProcessMediaReader process;
    MediaRequest request{.path = path, .kind = process.detectKind(path)};
    return process.openSource(request, {});
  }
  static std::unique_ptr<MediaSource> readSample(const std::string& name) {
    return read(source_folder() + "/tests/app/media/papers/samples/" + name);
  }
  std::string written(const std::string& name, const std::vector<test::ZipEntry>& parts) const {
    return m_folder.write(name, test::zipArchive(parts).toStdString());
  }
  static test::ZipEntry part(const char* name, const QByteArray& data) { return {name, data, true}; }
  // A Word document of these paragraphs.
  std::string word(const QByteArray& body) const {
    return written("a.docx", {part("[Content_Types].xml", "<Types/>"),
                              part("word/document.xml", "<w:document xmlns:w='w'><w:body>" + body + "</w:body></w:document>")});
  }

  test::ScratchFolder m_folder;
};

TEST_F(Documents, AWordDocumentKeepsHeadingsAndRows) {
  const auto source = readSample("letter.docx");
  EXPECT_EQ(source->text(), "# On pebbles\nWaves sort pebbles.\n## Results\nStone | Weight\nQuartz | 12 g\n- an item\nA note below.\n");
  EXPECT_EQ(source->info().container, "docx");
}

TEST_F(Documents, AnOpenDocument) {
  EXPECT_EQ(readSample("letter.odt")->text(), "# On pebbles\nWaves   sort\npebbles.\n- an item\nQuartz | 12 g\n");
}

TEST_F(Documents, SheetsAreReadOneAfterTheOther) {
  EXPECT_EQ(readSample("stones.xlsx")->text(), "# Stones\nStone | Weight | | Day\nQuartz | 12.5 | TRUE | 2026-11-29\n# Shores\nNorth\n");
}

TEST_F(Documents, ABookIsReadInTheOrderOfItsSpine) {
  EXPECT_EQ(readSample("book.epub")->text(), "# First\nThe beginning.\n# Second\nThe end & more.\n");
}

TEST_F(Documents, AWebPageIsItsWords) {
  EXPECT_EQ(readSample("page.html")->text(),
            "# Shores\n## On <pebbles>\nCafé by the sea\nand more\n- one\n- two\nStone | Weight\nQuartz | 12 g\na\n  b\n");
  const std::string code = m_folder.write("page.txt", "<html><p>words</p></html>\n");
  EXPECT_EQ(read(code)->text(), "<html><p>words</p></html>\n") << "named as a text, it is one";
}

TEST_F(Documents, ALetterSaysWhoAndItsPlainForm) {
  EXPECT_EQ(
      readSample("mail.eml")->text(),
      "From: Marta Müller <marta@example.org>\nTo: harbour@example.org\nDate: Sun, 29 Nov 2026 10:00:00 +0000\nSubject: Steine 🪨\n"
      "The pebbles are grün and round.\n\nMarta\n[attached: stones.pdf]\n");
  EXPECT_EQ(decodedField("=?utf-8?Q?a_b?= =?utf-8?Q?c?= d"), QStringLiteral("a bc d"));
  EXPECT_EQ(decodedField("plain =? not"), QStringLiteral("plain =? not"));
}

TEST_F(Documents, WhatIsNotReadIsNamedWithTheWay) {
  test::expect_error(ErrorCode::kUnsupportedFormat, "this is a presentation, whose slides are not read: save it as PDF",
                     [] { readSample("slides.pptx"); });
  test::expect_error(ErrorCode::kUnsupportedFormat, "save it as PDF",
                     [&] { read(m_folder.write("old.doc", std::string("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 and more", 24))); });
  test::expect_error(ErrorCode::kUnsupportedFormat, "Pages, Numbers or Keynote",
                     [&] { read(written("a.pages", {part("Index/Document.iwa", "x")})); });
}

TEST_F(Documents, BombsAreRefused) {
  const QByteArray zeros(static_cast<qsizetype>(Archive::kMostPartBytes) + 1, ' ');
  test::expect_error(ErrorCode::kLimitExceeded, "unpacks to more than a document may hold", [&] { read(word(zeros)); });
  const std::string lying =
      written("b.docx", {part("[Content_Types].xml", "<Types/>"), {"word/document.xml", QByteArray(100'000, ' '), true, 10}});
  test::expect_error(ErrorCode::kLimitExceeded, "unpacks to more than a document may hold", [&] { read(lying); });
  QByteArray entities = "<!DOCTYPE d [<!ENTITY a 'aaaaaaaaaaaaaaaa'>";
  for (char name = 'b'; name <= 'l'; ++name) {
    QByteArray ten;
    for (int i = 0; i < 10; ++i) ten += QByteArray("&") + static_cast<char>(name - 1) + ";";
    entities += QByteArray("<!ENTITY ") + name + " '" + ten + "'>";
  }
  const std::string bomb =
      written("c.docx", {part("[Content_Types].xml", "<Types/>"),
                         part("word/document.xml", entities + "]><w:document xmlns:w='w'><w:t>&l;</w:t></w:document>")});
  test::expect_error(ErrorCode::kDamagedFile, "word/document.xml", [&] { read(bomb); });
  test::expect_error(ErrorCode::kDamagedFile, "nested too deeply", [&] { read(word(QByteArray("<w:p>").repeated(5'000))); });
}

TEST_F(Documents, NothingOutsideTheFileIsRead) {
  const std::string secret = m_folder.write("secret.txt", "the secret");
  const QByteArray outside = "<!DOCTYPE d [<!ENTITY s SYSTEM 'file://" + QByteArray::fromStdString(secret) +
                             "'>]><w:document xmlns:w='w'><w:p><w:t>words &s;</w:t></w:p></w:document>";
  const std::string reaching = written("a.docx", {part("[Content_Types].xml", "<Types/>"), part("word/document.xml", outside)});
  try {
    EXPECT_EQ(read(reaching)->text().find("secret"), std::string::npos);
  } catch (const Exception& refused) {
    EXPECT_EQ(refused.error().code, ErrorCode::kDamagedFile);
  }
  const std::string leading =
      written("b.docx", {part("[Content_Types].xml", "<Types/>"), part("../../etc/passwd", "x"), part("word/document.xml", "<d/>")});
  test::expect_error(ErrorCode::kDamagedFile, "names a place outside it", [&] { read(leading); });
}

TEST_F(Documents, DamageIsNamed) {
  test::expect_error(ErrorCode::kDamagedFile, "word/document.xml", [&] { read(word("<w:p>")); });
  const std::string whole = test::zipArchive({part("[Content_Types].xml", "<Types/>"), part("word/document.xml", "<d/>")}).toStdString();
  test::expect_error(ErrorCode::kDamagedFile, "its archive cannot be opened",
                     [&] { read(m_folder.write("cut.docx", whole.substr(0, 60))); });
}

// The process was ended over each of these: what was read so far was copied at every word or cell, or a boundary compared at every byte.
TEST_F(Documents, WhatIsMadeToTakeHoursIsReadInSeconds) {
  const ProcessMediaReader process(MediaProcessSettings{.patience = std::chrono::seconds(40)});
  const auto words = [&](const char* name, const QByteArray& bytes) {
    return process.openSource({.path = m_folder.write(name, bytes.toStdString()), .kind = MediaKind::kDocument}, {})->text();
  };
  const QByteArray head = "From: a\nTo: b\n";
  EXPECT_TRUE(words("words.eml", head + "Subject: " + QByteArray("=?utf-8?Q?a?= ").repeated(400'000) + "\n\n")
                  .starts_with("From: a\nTo: b\nSubject: aaaa"));
  const QByteArray boundary = "b" + QByteArray(200'000, '-');
  EXPECT_EQ(words("boundary.eml", head + "Content-Type: multipart/mixed; boundary=" + boundary + "\n\n" + QByteArray(8'000'000, '-')),
            "From: a\nTo: b\n");
  EXPECT_TRUE(words("cells.html", "<table><tr>" + QByteArray("<td>a").repeated(1'000'000)).ends_with("a | a | a\n"));
}

TEST(MarkedText, ARowInARowIsWordsOfItsCell) {
  MarkedText text;
  for (const Mark mark : {Mark::kRow, Mark::kCell}) text.begin(mark);
  text.addWords(u"one");
  for (const Mark mark : {Mark::kRow, Mark::kCell}) text.begin(mark);
  text.addWords(u"inner");
  for (const Mark mark : {Mark::kCell, Mark::kRow, Mark::kCell}) text.end(mark);
  text.begin(Mark::kCell);
  text.addWords(u"two");
  for (const Mark mark : {Mark::kCell, Mark::kRow}) text.end(mark);
  EXPECT_EQ(text.taken(), "one inner | two\n");
}

TEST(MarkedText, WhatIsTooLongIsLeftOutAndSaid) {
  MarkedText text;
  const QString line(1'000'000, u'a');
  for (int i = 0; i < 8; ++i) {
    text.begin(Mark::kBlock);
    text.addWords(line);
    text.end(Mark::kBlock);
  }
  EXPECT_TRUE(text.isFull());
  EXPECT_EQ(text.taken().size(), 5 * (line.size() + std::size_t{1}));
}

}  // namespace
}  // namespace winnow::app
