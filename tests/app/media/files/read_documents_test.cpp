#include "app/media/files/document_source.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "tests/support/scratch_folder.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

class ReadDocumentsTest : public ::testing::Test {
 protected:
  std::string text(const std::string& path) { return documents.open(MediaFile(path), {})->text(); }
  // As if it had been written so long ago.
  std::string written(const std::string& name, const std::string& text, int agoS) const {
    const std::string path = scratch.write(name, text);
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::seconds(agoS));
    return path;
  }

  test::ScratchFolder scratch;
  int reads = 0;
  static MediaRequest in(const std::string& encoding) { return {.encoding = encoding}; }

  ReadDocuments documents{[this](const MediaFile& file, const MediaRequest& request, const InterruptToken&) {
    ++reads;
    return readTextFile(file, request.encoding, "documents");
  }};
};

TEST_F(ReadDocumentsTest, AFileIsReadOnceAsLongAsItIsTheSame) {
  const std::string path = written("a.txt", "one", 100);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(text(path), "one");
  EXPECT_EQ(reads, 1);
  written("a.txt", "two", 50);
  EXPECT_EQ(text(path), "two") << "as long as before, and written to since";
  EXPECT_EQ(reads, 2);
  written("a.txt", "TWO", 50);
  EXPECT_EQ(text(path), "TWO") << "even by a program that sets the time back";
}

TEST_F(ReadDocumentsTest, AFileInAnotherEncodingIsAnotherText) {
  const std::string path = written("a.txt", "Zo\xEB", 100);
  EXPECT_EQ(documents.open(MediaFile(path), in("Windows-1252"))->text(), "Zo\xC3\xAB");
  EXPECT_EQ(documents.open(MediaFile(path), in("Windows-1251"))->text(), "Zo\xD0\xBB");
  EXPECT_EQ(reads, 2);
}

TEST_F(ReadDocumentsTest, AFileOfRightNowIsReadEachTime) {
  const std::string path = written("a.txt", "one", 0);
  EXPECT_EQ(text(path), "one");
  EXPECT_EQ(text(path), "one");
  EXPECT_EQ(reads, 2);
}

TEST_F(ReadDocumentsTest, OnlyTheLastFewAreHeld) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i <= ReadDocuments::kMost; ++i) paths.push_back(written(std::to_string(i), "text", 100));
  for (const std::string& path : paths) text(path);
  const int all = reads;
  text(paths.back());
  EXPECT_EQ(reads, all);
  text(paths.front());
  EXPECT_EQ(reads, all + 1);
}

}  // namespace
}  // namespace winnow::app
