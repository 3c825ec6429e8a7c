// Texts that people attach: every encoding that they come in, and what is no text.
#include <gtest/gtest.h>

#include <string>

#include "app/media/files/document_text.h"
#include "app/media/files/media_opener.h"
#include "engine/base/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::app {
namespace {

class DocumentFiles : public ::testing::Test {
 protected:
  std::string write(const std::string& bytes) { return scratch_.write("notes.txt", bytes); }
  DocumentText read(const std::string& bytes) { return readTextFile(MediaFile(write(bytes)), {}, "documents"); }
  // "Zoë\n" with every character in two bytes.
  static std::string wide(bool littleEndian) {
    std::string bytes;
    for (const unsigned code : {0x5AU, 0x6FU, 0xEBU, 0x0AU}) {
      const char high = static_cast<char>(code >> 8);
      const char low = static_cast<char>(code & 255);
      bytes += littleEndian ? std::string{low, high} : std::string{high, low};
    }
    return bytes;
  }
  test::ScratchFolder scratch_;
};

TEST_F(DocumentFiles, EncodingsComeToTheSameText) {
  const std::string text = "Zo\xC3\xAB\n";
  EXPECT_EQ(read(text).utf8, text);
  EXPECT_EQ(read(text).encoding, "UTF-8");
  EXPECT_EQ(read("\xEF\xBB\xBF" + text).utf8, text);
  EXPECT_EQ(read("Zo\xEB\n").utf8, text);
  EXPECT_EQ(read("Zo\xEB\n").encoding, "Windows-1252");
  for (const bool little : {true, false}) {
    const std::string mark = little ? "\xFF\xFE" : "\xFE\xFF";
    EXPECT_EQ(read(mark + wide(little)).utf8, text);
    EXPECT_EQ(read(wide(little)).utf8, text) << "without its mark";
    EXPECT_EQ(read(wide(little)).encoding, little ? "UTF-16LE" : "UTF-16BE");
  }
  EXPECT_EQ(read("\x93quoted\x94\n").utf8, "\xE2\x80\x9Cquoted\xE2\x80\x9D\n") << "as Windows writes it";
}

TEST_F(DocumentFiles, LinesEndInOneWay) { EXPECT_EQ(read("a\r\nb\rc\vd\n").utf8, "a\nb\nc\nd\n"); }

TEST_F(DocumentFiles, StrayControlCharactersAreLeftOutAndCounted) {
  const auto notice = [&](const std::string& bytes) {
    const DocumentText document = read(bytes);
    const std::int64_t controls = document.notices.empty() ? 0 : document.notices.front().amount;
    EXPECT_TRUE(document.notices.empty() || document.notices.front().code == NoticeCode::kControlsLeftOut);
    return document.utf8 + "|" + std::to_string(controls);
  };
  EXPECT_EQ(notice(std::string("The gate is 4711.\n\0", 19)), "The gate is 4711.\n|1");
  EXPECT_EQ(notice("The gate is 4711.\n\x1A"), "The gate is 4711.\n|1");
  EXPECT_EQ(notice("The gate\x7F is\x01 4711.\n"), "The gate is  4711.\n|2");
  EXPECT_EQ(notice("N\bNA\bAM\bME\bE _\bx_\by o\b_\n"), "NAME xy o\n|0") << "as a typewriter strikes over";
  EXPECT_EQ(notice("\x1B[1;31mred\x1B[0m text\n"), "red text\n|11");
  EXPECT_EQ(notice("kept " + std::string(4000, 'a') + std::string(3000, '\0')), "kept " + std::string(4000, 'a') + "|3000")
      << "as room that was kept for more";
}

TEST_F(DocumentFiles, WordsAreWhatStandsBetweenSpaces) {
  EXPECT_EQ(countWords("  one two,three\n\nfour\t"), 3);
  EXPECT_EQ(countWords(""), 0);
}

TEST_F(DocumentFiles, RefusesWhatIsNoText) {
  std::string packed;  // as compressed data are
  for (unsigned i = 1; i < 4000; ++i) packed += static_cast<char>(i * 2654435761U >> 23);
  for (const std::string& binary : {std::string("\0\1\2 binary", 10), std::string("abc\0\0\0def", 9), packed, std::string(64, '\0')})
    test::expect_error(ErrorCode::kUnsupportedFormat, "binary", [&] { read(binary); });
  test::expect_error(ErrorCode::kLimitExceeded, "and documents have at most 16", [&] { read(std::string((16U << 20) + 1, 'a')); });
}

TEST_F(DocumentFiles, ADocumentThatIsNoPlainTextIsNamed) {
  test::expect_error(ErrorCode::kUnsupportedFormat, "PDF", [&] { read("%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n"); });
}

TEST_F(DocumentFiles, AreOpenedAsMedia) {
  const FfmpegMediaOpener opener;
  const std::string path = write("one two\nthree\n");
  EXPECT_EQ(opener.detectKind(path), MediaKind::kDocument);
  const MediaInfo info = opener.probe(path);
  EXPECT_EQ(info.kind, MediaKind::kDocument);
  EXPECT_EQ(info.words, 3);
  EXPECT_EQ(info.codec, "UTF-8");
  MediaRequest request{.path = path, .kind = MediaKind::kDocument};
  const auto source = opener.openSource(request, {});
  EXPECT_EQ(source->text(), "one two\nthree\n");
  EXPECT_EQ(source->frame_count(), 0);
  EXPECT_EQ(source->content_hash().size(), 64U);
  test::expect_error(ErrorCode::kInvalidArgument, "no frames", [&] { source->read(0, 1, {}); });
  request.encoding = "utf-16";
  EXPECT_NE(opener.openSource(request, {})->text(), source->text()) << "as it was asked for";
  request.encoding.clear();
  const std::string before = source->content_hash();
  write("one two\nthree!\n");
  EXPECT_NE(opener.openSource(request, {})->content_hash(), before);
}

TEST_F(DocumentFiles, WhatIsNeitherPictureNorTextIsRefusedAsBefore) {
  const std::string path = scratch_.write("thing.bin", std::string("\x7F"
                                                                   "ELF\x02\x01\x01\0\0\0\0\0\0\0\0\0",
                                                                   16));
  test::expect_error(ErrorCode::kUnsupportedFormat, "thing.bin", [&] { FfmpegMediaOpener().detectKind(path); });
}

}  // namespace
}  // namespace winnow::app
