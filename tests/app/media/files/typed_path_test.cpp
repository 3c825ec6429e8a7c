#include "app/media/files/typed_path.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/scratch_folder.h"

namespace winnow::app {
namespace {

class TypedPath : public ::testing::Test {
 protected:
  std::string made(const std::string& name) const { return scratch.write(name, "x"); }

  test::ScratchFolder scratch;
};

TEST_F(TypedPath, ReadsWhatTerminalsAndFileManagersPaste) {
  const std::string plain = made("a b.png");
  const std::string folder = scratch.path();
  for (const std::string& pasted :
       {plain, plain + " ", "  " + plain + "\r", "'" + plain + "'", "\"" + plain + "\"", "'" + plain + "' ", folder + "/a\\ b.png",
        folder + "/'a b'.png", "file://" + folder + "/a%20b.png", "file://localhost" + folder + "/a%20b.png",
        "FILE:" + folder + "/a%20b.png", "file://" + folder + "/a b.png", "'file://" + folder + "/a%20b.png'", folder + "/a%20b.png"})
    EXPECT_EQ(typedPath(pasted), plain) << pasted;
}

TEST_F(TypedPath, WhatExistsAsItStandsIsTakenAsItStands) {
  for (const char* name : {"'quoted'", "a\\b", "100%25", "it's.png", "ends with space ", "\xC3\xA4\xFF", "file:a", "~"}) {
    const std::string path = made(name);
    EXPECT_EQ(typedPath(path), path);
  }
}

TEST_F(TypedPath, NamesOfOtherLettersAndSignsArriveWhole) {
  const std::string umlaut = made("Ärger #1 & 2?.png");
  EXPECT_EQ(typedPath("file://" + scratch.path() + "/%C3%84rger%20%231%20&%202%3F.png"), umlaut);
  EXPECT_EQ(typedPath("file://" + scratch.path() + "/Ärger #1 & 2?.png"), umlaut);
  const std::string apostrophe = made("it's.png");
  EXPECT_EQ(typedPath("'" + scratch.path() + "/it'\\''s.png'"), apostrophe) << "as a shell writes it";
}

TEST_F(TypedPath, StandsForTheFolderOfTheUser) {
  made("x.png");
  const std::string before = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "";
  ::setenv("HOME", scratch.path().c_str(), 1);
  EXPECT_EQ(typedPath("~/x.png"), scratch.path() + "/x.png");
  ::setenv("HOME", before.c_str(), 1);
}

TEST_F(TypedPath, OfNothingThatExistsTheLikeliestReadingIsNamed) {
  EXPECT_EQ(typedPath("/nowhere/a.png"), "/nowhere/a.png");
  EXPECT_EQ(typedPath("'/nowhere/a b.png' "), "/nowhere/a b.png");
  EXPECT_EQ(typedPath("file:///nowhere/a%20b.png"), "/nowhere/a b.png");
  EXPECT_EQ(typedPath("   "), "");
  EXPECT_EQ(typedPath("file:///a%00b"), "/a%00b") << "no name holds a zero byte";
}

TEST_F(TypedPath, ANumberBehindItIsTakenOffOnlyWhereItIsNoPartOfTheName) {
  const std::string clip = made("clip.mp4");
  const std::string numbered = made("clip 2.mp4");
  const std::string bare = made("clip 16");
  const auto read = [](const std::string& text) { return typedPathAndNumber(text, 4096); };
  EXPECT_EQ(read(clip + " 16").path, clip);
  EXPECT_EQ(read(clip + " 16").number, 16);
  EXPECT_EQ(read("'" + numbered + "' 8").path, numbered);
  EXPECT_EQ(read("'" + numbered + "' 8").number, 8);
  EXPECT_EQ(read(scratch.path() + "/clip\\ 2.mp4").path, numbered);
  EXPECT_EQ(read(bare).path, bare);
  EXPECT_EQ(read(bare).number, std::nullopt) << "the file is called so";
  EXPECT_EQ(read(bare + " 4").path, bare);
  EXPECT_EQ(read(clip + " 99999999999").number, std::nullopt);
  EXPECT_EQ(read(clip + " 5000").number, std::nullopt) << "more frames than are taken";
}

TEST_F(TypedPath, ATextIsTakenForFilesOnlyWhereEveryLineIsTheAddressOfOne) {
  const std::string a = made("a b.png");
  const std::string b = made("c.txt");
  const std::string address = "file://" + scratch.path();
  EXPECT_EQ(fileAddresses(address + "/a%20b.png\r\n" + address + "/c.txt\r\n"), (std::vector<std::string>{a, b}));
  EXPECT_TRUE(fileAddresses(address + "/a%20b.png\nand a word").empty());
  EXPECT_TRUE(fileAddresses(address + "/missing.png").empty());
  EXPECT_TRUE(fileAddresses(a).empty()) << "a path in a question is a part of it";
  EXPECT_TRUE(fileAddresses("").empty());
}

}  // namespace
}  // namespace winnow::app
