// Texts that people attach: every encoding that they come in, and what is no text.
#include <gtest/gtest.h>

#include <string>

#include "app/media/document_text.h"
#include "app/media/media_opener.h"
#include "engine/base/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::app {
namespace {

class DocumentFiles : public ::testing::Test {
 protected:
  std::string write(const std::string& bytes) { return scratch_.write("notes.txt", bytes); }
  DocumentText read(const std::string& bytes) { return readDocument(MediaFile(write(bytes))); }
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
  EXPECT_EQ(read("Zo\xEB\n").encoding, "Latin-1");
  for (const bool little : {true, false}) {
    const std::string mark = little ? "\xFF\xFE" : "\xFE\xFF";
    EXPECT_EQ(read(mark + wide(little)).utf8, text);
    EXPECT_EQ(read(wide(little)).utf8, text) << "without its mark";
    EXPECT_EQ(read(wide(little)).encoding, "UTF-16");
  }
  EXPECT_EQ(read("\x93quoted\x94\n").utf8, "\xE2\x80\x9Cquoted\xE2\x80\x9D\n") << "as Windows writes it";
}

TEST_F(DocumentFiles, LinesEndInOneWay) { EXPECT_EQ(read("a\r\nb\rc\n").utf8, "a\nb\nc\n"); }

TEST_F(DocumentFiles, WordsAreWhatStandsBetweenSpaces) {
  EXPECT_EQ(countWords("  one two,three\n\nfour\t"), 3);
  EXPECT_EQ(countWords(""), 0);
}

TEST_F(DocumentFiles, RefusesWhatIsNoText) {
  test::expect_error(ErrorCode::kUnsupportedFormat, "binary", [&] { read(std::string("abc\0def", 7)); });
  test::expect_error(ErrorCode::kUnsupportedFormat, "binary", [&] { read("text and \x01 a control character"); });
  test::expect_error(ErrorCode::kLimitExceeded, "MiB", [&] { read(std::string((16U << 20) + 1, 'a')); });
}

TEST_F(DocumentFiles, AreOpenedAsMedia) {
  const FfmpegMediaOpener opener;
  const std::string path = write("one two\nthree\n");
  EXPECT_EQ(opener.detectKind(path), MediaKind::kDocument);
  const MediaInfo info = opener.probe(path);
  EXPECT_EQ(info.kind, MediaKind::kDocument);
  EXPECT_EQ(info.words, 3);
  EXPECT_EQ(info.codec, "UTF-8");
  MediaRequest request;
  request.path = path;
  request.kind = MediaKind::kDocument;
  const auto source = opener.openSource(request, {});
  EXPECT_EQ(source->text(), "one two\nthree\n");
  EXPECT_EQ(source->frame_count(), 0);
  EXPECT_EQ(source->content_hash().size(), 64U);
  test::expect_error(ErrorCode::kInvalidArgument, "no frames", [&] { source->read(0, 1, {}); });
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
