#include "app/media/files/media_endings.h"

#include <gtest/gtest.h>

#include <set>

namespace winnow::app {
namespace {

TEST(MediaEndings, AreTakenInWhateverCase) {
  EXPECT_TRUE(isNamedAs({EndingOf::kImage}, "holiday.JPG"));
  EXPECT_TRUE(isNamedAs({EndingOf::kVideo}, "a.b.Mp4"));
  EXPECT_FALSE(isNamedAs({EndingOf::kImage}, "holiday.mp4"));
  EXPECT_FALSE(isNamedAs({EndingOf::kImage}, "png"));
}

// An MPEG stream and a source of TypeScript have the same ending.
TEST(MediaEndings, OfStreamsSayNotWhetherItIsAVideo) {
  for (const char* name : {"x.ts", "x.mts", "x.m2ts"}) {
    EXPECT_FALSE(isNamedAs({EndingOf::kImage, EndingOf::kVideo, EndingOf::kUnread}, name)) << name;
    EXPECT_TRUE(isNamedAs({EndingOf::kVideoOrText}, name)) << name;
  }
}

TEST(MediaEndings, StandOnceAndInLowerCase) {
  std::set<std::string_view> seen;
  for (const MediaEnding& ending : kMediaEndings) {
    EXPECT_TRUE(seen.insert(ending.text).second) << ending.text;
    EXPECT_TRUE(isNamedAs({ending.of}, "x" + std::string(ending.text))) << ending.text;
  }
}

}  // namespace
}  // namespace winnow::app
