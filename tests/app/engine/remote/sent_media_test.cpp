// What a server is given of attachments.
#include "app/engine/remote/sent_media.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/expect_error.h"
#include "tests/support/memory_media.h"
#include "tests/support/scratch_folder.h"

namespace winnow::app {
namespace {

using winnow::testing::patterned_picture;

class SentMediaTest : public ::testing::Test {
 protected:
  SentMediaTest() {
    m_opener.add("film.mp4", {patterned_picture(32, 16, 1), patterned_picture(32, 16, 2), patterned_picture(32, 16, 3)});
    m_opener.add_text("notes.txt", "one two three \xC3\xBC four");
  }
  SentMedium read(const MediaRequest& request) {
    return m_media.read(request, m_traits, [](const Progress&) {}, {});
  }
  static std::string texts(const SentMedium& medium) {
    std::string text;
    for (const nlohmann::json& part : medium.parts) text += part["type"] == "text" ? part["text"].get<std::string>() + "|" : "*|";
    return text;
  }
  static std::ptrdiff_t picturesIn(const SentMedium& medium) {
    return std::ranges::count_if(medium.parts, [](const nlohmann::json& part) { return part.contains("image_url"); });
  }

  winnow::testing::MemoryMediaOpener m_opener;
  SentMedia m_media{&m_opener};
  ServerTraits m_traits;
};

TEST_F(SentMediaTest, AVideoIsItsFramesWithTheirTimesBetween) {
  const SentMedium sent = read({"film.mp4", MediaKind::kVideo, {}});
  EXPECT_EQ(texts(sent), "Video film.mp4, 0:03.0 long, as 3 frames with their times:|[0:00.0]|*|[0:01.0]|*|[0:02.0]|*|");
  EXPECT_EQ(picturesIn(sent), 3);
  EXPECT_EQ(sent.sampled.actual_s.size(), 3U);
}

TEST_F(SentMediaTest, SubtitlesStandBetweenTheFrames) {
  m_opener.add_lines("film.srt", {{0.2, 1.0, "Hello."}, {2.0, 2.4, "Bye."}, {2.9, 3.5, "The end."}});
  MediaRequest request{"film.mp4", MediaKind::kVideo, {}};
  request.subtitles = "film.srt";
  EXPECT_EQ(texts(read(request)),
            "Video film.mp4, 0:03.0 long, as 3 frames with their times:|[0:00.0]|*|[0:00.2] subtitle: Hello.|[0:01.0]|*|"
            "[0:02.0] subtitle: Bye.|[0:02.0]|*|[0:02.9] subtitle: The end.|");
}

TEST_F(SentMediaTest, AServerThatTakesVideosGetsTheWholeFile) {
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("film.webm", "abc");
  m_opener.add(path, {patterned_picture(8, 8, 1)});
  m_traits.takesVideos = true;
  MediaRequest request{path, MediaKind::kVideo, {}};
  const SentMedium sent = read(request);
  ASSERT_EQ(sent.parts.size(), 1U);
  EXPECT_EQ(sent.parts[0]["video_url"]["url"], "data:video/webm;base64,YWJj");
  EXPECT_EQ(picturesIn(sent), 0);
  request.plan.to_s = 0.5;
  EXPECT_FALSE(read(request).video) << "a server knows nothing of a range";
  m_traits.takesVideos = false;
  EXPECT_FALSE(read({path, MediaKind::kVideo, {}}).video);
}

TEST_F(SentMediaTest, APicturesDetailIsToldInTheServersWords) {
  const auto told = [&](const MediaDetail& detail) {
    MediaRequest request{"film.mp4", MediaKind::kVideo, {}};
    request.detail = detail;
    std::string words;
    for (const nlohmann::json& part : read(request).parts)
      if (part.contains("image_url")) words += part["image_url"].value("detail", "none") + "|";
    return words;
  };
  EXPECT_EQ(told({}), "none|none|none|");
  EXPECT_EQ(told({DetailLevel::kLow}), "low|low|low|") << "what was read under another detail is another medium";
  EXPECT_EQ(told({DetailLevel::kHigh}), "high|high|high|");
  m_traits.takesVideos = true;
  EXPECT_EQ(told({DetailLevel::kLow}), "low|low|low|") << "of a file's frames nothing can be told";
  for (const MediaDetail& other : {MediaDetail{DetailLevel::kMedium}, MediaDetail{DetailLevel::kTokens, 70}}) {
    MediaRequest request{"film.mp4", MediaKind::kVideo, {}};
    request.detail = other;
    const std::vector<Message> thread = {{Role::kUser, {MediaItem{request}}}};
    test::expect_error(ErrorCode::kNotAble, m_traits.model, [&] { m_media.requireTaken(thread, m_traits, {}); });
  }
}

TEST_F(SentMediaTest, ADocumentIsItsTextCutBetweenCharacters) {
  EXPECT_EQ(texts(read({"notes.txt", MediaKind::kDocument, {}})), "Document notes.txt:\none two three \xC3\xBC four|");
  MediaRequest request{"notes.txt", MediaKind::kDocument, {}};
  request.most_tokens = 4;
  EXPECT_EQ(texts(read(request)), "Document notes.txt:\none two three \xC3\xBC|");
}

TEST_F(SentMediaTest, WhatWasReadOnceIsSentAgainFromMemory) {
  const std::string first = texts(read({"film.mp4", MediaKind::kVideo, {}}));
  const int read_once = m_opener.pictures_read;
  EXPECT_EQ(texts(read({"film.mp4", MediaKind::kVideo, {}})), first);
  EXPECT_EQ(m_opener.pictures_read, read_once);
}

TEST_F(SentMediaTest, AFileThatHasChangedIsRefused) {
  MediaRequest request{"film.mp4", MediaKind::kVideo, {}};
  request.content = "another";
  test::expect_error(ErrorCode::kMediaChanged, "film.mp4", [&] { read(request); });
}

}  // namespace
}  // namespace winnow::app
