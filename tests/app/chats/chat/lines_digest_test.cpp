#include "app/chats/chat/lines_digest.h"

#include <gtest/gtest.h>

namespace winnow::app {
namespace {

TEST(LinesDigest, OnlyLinesOfThePlansStretchCount) {
  const std::vector<TimedLine> all = {{0, 1, "before"}, {2, 3, "inside"}, {6, 7, "behind"}};
  Attachment video{.subtitles = "said.srt", .sampled = {.linesDigest = digestOf({all[1]})}};
  EXPECT_TRUE(linesDiffer(video, all)) << "all of the video was to be read";
  video.plan.from_s = 1.5;
  video.plan.to_s = 5.0;
  EXPECT_FALSE(linesDiffer(video, all));
  EXPECT_TRUE(linesDiffer(video, {{2, 3, "other"}}));
  video.plan.to_s = -1.0;
  EXPECT_TRUE(linesDiffer(video, all)) << "what follows is read as well";
  EXPECT_FALSE(linesDiffer(video, {all.begin(), all.begin() + 2}));
  video.sampled.linesDigest.clear();
  EXPECT_FALSE(linesDiffer(video, all)) << "none has read any";
}

}  // namespace
}  // namespace winnow::app
