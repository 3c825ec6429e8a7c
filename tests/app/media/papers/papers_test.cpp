// What documents that are no plain text are read as, in the process and the sandbox in which they always are.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>

#include "app/ground/notices/notice_text.h"
#include "app/media/files/media_opener.h"
#include "app/media/process/process_media_reader.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::app {
namespace {

std::string sample(const std::string& name) { return source_folder() + "/tests/app/media/papers/samples/" + name; }

const ProcessMediaReader& reader() {
  static const ProcessMediaReader one;
  return one;
}

std::unique_ptr<MediaSource> opened(const std::string& path, PageRange pages = {}) {
  MediaRequest request{.path = path, .kind = MediaKind::kDocument, .pages = pages};
  return reader().openSource(request, {});
}

std::string textOf(const std::string& path, PageRange pages = {}) { return opened(path, pages)->text(); }

std::unique_ptr<MediaSource> page(const std::string& name, int number, std::int64_t mostPixels = 0) {
  MediaRequest request{.path = sample(name), .pages = {number, number}, .most_pixels = mostPixels};
  return reader().openSource(request, {});
}

// Whether they stand in this order.
bool inOrder(const std::string& text, const std::vector<std::string>& words) {
  std::size_t at = 0;
  for (const std::string& each : words) {
    at = text.find(each, at);
    if (at == std::string::npos) return false;
    at += each.size();
  }
  return true;
}

TEST(Papers, APaperInTwoColumnsIsReadInOrder) {
  ASSERT_TRUE(reader().process().sandbox().systemCalls) << "this machine has no seccomp, so nothing is shown here";
  const auto source = opened(sample("two_columns.pdf"));
  const std::string text = source->text();
  EXPECT_TRUE(inOrder(text, {"[page 1]\nThe sorting of pebbles by waves\n", "The first marker is quartz.", "The second marker is basalt.",
                             "The third marker is flint.", "The fourth marker is chalk.", "The fifth marker is slate."}))
      << text;
  EXPECT_EQ(text.find("Journal of Shores"), std::string::npos) << "a running header";
  EXPECT_EQ(text.find("\xEF\xBF\xBE"), std::string::npos) << "a hyphen's mark";
  EXPECT_TRUE(text.find("sedimentation") != std::string::npos && text.find("sedi-") == std::string::npos);
  EXPECT_EQ(source->info().container, "pdf");
  EXPECT_EQ(source->info().pages, 3);
  ASSERT_EQ(source->page_lines().size(), 3U);
  const auto line = [&](int number) {
    std::size_t at = 0;
    for (int i = 0; i < number; ++i) at = text.find('\n', at) + 1;
    return text.substr(at, text.find('\n', at) - at);
  };
  for (int page = 0; page < 3; ++page)
    EXPECT_EQ(line(source->page_lines()[static_cast<std::size_t>(page)]), "[page " + std::to_string(page + 1) + "]");
}

TEST(Papers, PagesThatAreAskedForAreReadAlone) {
  const std::string text = textOf(sample("rows_across.pdf"), {2, 3});
  EXPECT_TRUE(text.starts_with("[page 2]\n"));
  EXPECT_EQ(text.find("of part 1 "), std::string::npos);
  EXPECT_NE(text.find("of part 3 "), std::string::npos);
  EXPECT_EQ(text.find("of part 4 "), std::string::npos);
  EXPECT_EQ(opened(sample("rows_across.pdf"), {2, 3})->info().pages, 4) << "of the file";
  test::expect_error(ErrorCode::kInvalidArgument, "there is no page 5: the last is number 4", [] {
    opened(sample("rows_across.pdf"), {5, 5});
  });
  test::ScratchFolder folder;
  const std::string plain = folder.write("a.txt", "words");
  test::expect_error(ErrorCode::kInvalidArgument, "has no pages", [&] { opened(plain, {1, 1}); });
}

TEST(Papers, ColumnsDrawnRowByRowAreReadOneAfterTheOther) {
  const std::string text = textOf(sample("rows_across.pdf"), {1, 1});
  EXPECT_TRUE(inOrder(text, {"0 of part 1 has left", "29 of part 1 has left", "0 of part 1 has right", "29 of part 1 has right"})) << text;
  EXPECT_EQ(textOf(sample("rows_across.pdf")).find("Annual report"), std::string::npos) << "the footer of all pages";
}

TEST(Papers, FormsOfAFileSayTheSame) {
  const std::string table = textOf(sample("table.pdf"));
  EXPECT_TRUE(inOrder(table, {"Stone Weight Shore\n", "Quartz 12 g North\n", "Slate 19 g North\n"})) << table;
  for (const char* name : {"linearised.pdf", "object_streams.pdf", "owner_only.pdf", "turned.pdf"})
    EXPECT_EQ(textOf(sample(name)), table) << name;
}

TEST(Papers, OtherScriptsAreInTheirOrder) {
  const std::string text = textOf(sample("right_to_left.pdf"));
  EXPECT_TRUE(inOrder(text, {"שלום עולם", "זה מסמך קצר", "הגלים ממיינים 12 חלוקים", "مرحبا بالعالم"})) << text;
  EXPECT_EQ(textOf(sample("chinese.pdf")), "波浪分选卵石\n") << "its font is not in the file";
  EXPECT_EQ(textOf(sample("sizes.pdf")), "[page 1]\na stamp\n[page 2]\na poster\n");
}

TEST(Papers, ScriptsOfAFileAreNotRun) {
  EXPECT_EQ(textOf(sample("scripted.pdf")), "A form with a script\n");
  EXPECT_EQ(page("scripted.pdf", 1)->read(0, 1, {}).size(), 1U);
}

TEST(Papers, AScanSaysThatItHasNoText) {
  const auto source = opened(sample("scan.pdf"));
  EXPECT_EQ(source->text(), "");
  EXPECT_EQ(source->page_lines().size(), 2U);
  EXPECT_EQ(source->info().words, 0);
  ASSERT_EQ(source->notices().size(), 1U);
  EXPECT_EQ(noticeText(source->notices().front()), "2 of 2 pages have no text");
}

TEST(Papers, WhatCannotBeReadSaysWhy) {
  test::expect_error(ErrorCode::kPasswordNeeded, "is encrypted and needs a password", [] { opened(sample("encrypted.pdf")); });
  test::ScratchFolder folder;
  std::ifstream whole(sample("table.pdf"), std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(whole)), {});
  const std::string cut = folder.write("cut.pdf", bytes.substr(0, 300));
  test::expect_error(ErrorCode::kDamagedFile, "the PDF is damaged", [&] { opened(cut); });
  EXPECT_EQ(textOf(folder.write("junk.pdf", "some junk\n" + bytes)), textOf(sample("table.pdf"))) << "other bytes before its beginning";
  test::expect_error(ErrorCode::kUnsupportedFormat, "--in-process", [] {
    MediaRequest request{.path = sample("table.pdf"), .kind = MediaKind::kDocument};
    FfmpegMediaOpener().openSource(request, {});
  });
}

TEST(Papers, AreDocumentsByTheirContent) {
  test::ScratchFolder folder;
  std::ifstream whole(sample("table.pdf"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(whole)), {});
  EXPECT_EQ(reader().detectKind(folder.write("picture.png", bytes)), MediaKind::kDocument);
  test::expect_error(ErrorCode::kUnsupportedFormat, "attach it as a document", [&] {
    MediaRequest request{.path = sample("table.pdf")};
    reader().openSource(request, {});
  });
}

TEST(Papers, AnEncryptedOneOpensByItsPasswordAlone) {
  Passwords passwords;
  MediaProcessSettings settings{.passwords = &passwords};
  const ProcessMediaReader knowing(settings);
  MediaRequest text{sample("encrypted.pdf"), MediaKind::kDocument, {}};
  MediaRequest picture{text.path, MediaKind::kImage, {}};
  picture.pages = {1, 1};
  for (const char* wrong : {"Secret", "secret ", "\xD0\xBF"}) {
    passwords.set({text.path, wrong});
    test::expect_error(ErrorCode::kPasswordNeeded, "this is not the password of the PDF", [&] { knowing.openSource(text, {}); });
    test::expect_error(ErrorCode::kPasswordNeeded, "this is not the password of the PDF", [&] { knowing.openSource(picture, {}); });
  }
  for (const char* right : {"secret", "owner"}) {
    passwords.set({text.path, right});
    EXPECT_EQ(knowing.openSource(text, {})->text(), textOf(sample("table.pdf"))) << right;
    EXPECT_EQ(knowing.openSource(picture, {})->read(0, 1, {}).at(0).image.rgb, page("table.pdf", 1)->read(0, 1, {}).at(0).image.rgb);
  }
  // Its process dies of another file, and the page is drawn in the next one.
  const auto source = knowing.openSource(picture, {});
  const pid_t process = knowing.process().pid();
  siginfo_t ended;
  ::kill(process, SIGKILL);
  ::waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOWAIT);
  EXPECT_EQ(source->read(0, 1, {}).size(), 1U);
  passwords.set({text.path, ""});
  test::expect_error(ErrorCode::kPasswordNeeded, "needs a password", [&] { knowing.openSource(picture, {}); });
  passwords.set({sample("table.pdf"), "for nothing"});
  EXPECT_EQ(knowing.openSource({sample("table.pdf"), MediaKind::kDocument, {}}, {})->text(), textOf(sample("table.pdf")));
}

// The share of a picture's pixels that are dark, within a part of it: from and to, as shares of its sides.
double dark(const RgbImage& picture, double fromX, double toX, double fromY, double toY) {
  int all = 0, found = 0;
  for (int y = static_cast<int>(fromY * picture.height_px); y < static_cast<int>(toY * picture.height_px); ++y) {
    for (int x = static_cast<int>(fromX * picture.width_px); x < static_cast<int>(toX * picture.width_px); ++x) {
      ++all;
      found += picture.rgb[static_cast<std::size_t>(y * picture.width_px + x) * 3] < 128 ? 1 : 0;
    }
  }
  return static_cast<double>(found) / std::max(all, 1);
}

TEST(Papers, APageIsAPicture) {
  const auto source = page("table.pdf", 1);
  EXPECT_EQ(source->kind(), MediaKind::kImage);
  EXPECT_EQ(source->info().pages, 1);
  EXPECT_EQ(source->picture_size().width_px, 992) << "A4 at 120 dots per inch";
  EXPECT_EQ(source->picture_size().height_px, 1403);
  const RgbImage picture = source->read(0, 1, {}).front().image;
  ASSERT_EQ(picture.rgb.size(), std::size_t{992} * 1403 * 3);
  EXPECT_GT(dark(picture, 0.11, 0.7, 0.08, 0.22), 0.005) << "the table";
  EXPECT_EQ(dark(picture, 0.0, 1.0, 0.4, 1.0), 0.0) << "white paper";
  EXPECT_EQ(source->content_hash(), opened(sample("table.pdf"))->content_hash());
}

TEST(Papers, APageIsAsLargeAsItMayBe) {
  const auto pixels = [](const MediaSource& source) {
    return std::int64_t{source.picture_size().width_px} * source.picture_size().height_px;
  };
  EXPECT_NEAR(static_cast<double>(pixels(*page("table.pdf", 1, 500'000))), 500'000.0, 2'000.0);
  EXPECT_EQ(page("table.pdf", 1, 100'000'000)->picture_size().width_px, 2479) << "300 dots per inch";
  EXPECT_EQ(page("sizes.pdf", 1)->picture_size().width_px, 120) << "a stamp stays one";
  EXPECT_NEAR(static_cast<double>(pixels(*page("sizes.pdf", 2))), 1.4e6, 5'000.0) << "a poster does not";
  const auto turned = page("turned.pdf", 1)->picture_size();
  EXPECT_GT(turned.width_px, turned.height_px);
}

TEST(Papers, PagesThatAreNotThereSaySo) {
  test::expect_error(ErrorCode::kInvalidArgument, "there is no page 2: the last is number 1", [] { page("table.pdf", 2); });
  test::expect_error(ErrorCode::kPasswordNeeded, "needs a password", [] { page("encrypted.pdf", 1); });
  test::expect_error(ErrorCode::kUnsupportedFormat, "save it as PDF", [] {
    test::ScratchFolder folder;
    MediaRequest request{.path = folder.write("a.txt", "words"), .pages = {1, 1}};
    reader().openSource(request, {});
  });
}

}  // namespace
}  // namespace winnow::app
