// What was noticed of media comes with every request that reads them: a turn, a plan, what is prepared, also where nothing is decoded anew.
#include <gtest/gtest.h>

#include <limits>

#include "tests/engine/generation/tiny_model.h"
#include "tests/support/scratch_folder.h"

namespace winnow::testing {
namespace {

using Noticed = std::vector<MediaNotice>;

const MediaNotice kAtOnce{NoticeCode::kCutOff, 1234};
const MediaNotice kLater{NoticeCode::kDamaged};

class Notices : public TinyModel {
 protected:
  Turn about(const std::string& method) {
    const Turn turn = ask("video", method, 0.5);
    const std::string& path = std::get<MediaItem>(turn.messages.back().items.front()).media.path;
    opener_.add_notices(path, {kAtOnce}, {kLater});
    return turn;
  }
};

TEST_F(Notices, ATurnHasThoseOfTheFileAndThoseOfItsPictures) {
  const Turn turn = about("full");
  EXPECT_EQ(run(turn).last<MediaSampled>()->notices, (Noticed{kAtOnce, kLater}));
}

TEST_F(Notices, APlanHasThoseThatAreKnownWithoutDecoding) {
  const EventRecorder planned = run(Plan{about("full")});
  ASSERT_TRUE(planned.last<MediaSampled>());
  EXPECT_EQ(planned.last<MediaSampled>()->notices, Noticed{kAtOnce});
  EXPECT_FALSE(planned.last<MediaSampled>()->asked_s.empty());
  EXPECT_TRUE(planned.last<MediaSampled>()->actual_s.empty());
  EXPECT_EQ(opener_.pictures_read, 0);
}

TEST_F(Notices, PicturesThatAreRememberedKeepTheirs) {
  const Turn turn = about("full");
  run(turn);
  const int read = opener_.pictures_read;
  run(ForgetConversation{turn.conversation});
  EXPECT_EQ(run(turn).last<MediaSampled>()->notices, (Noticed{kAtOnce, kLater}));
  EXPECT_EQ(opener_.pictures_read, read) << "the test means the features that are remembered";
}

TEST_F(Notices, WhatWasPreparedKeepsThemOnDiskToo) {
  const Turn turn = about("self-study");
  EXPECT_EQ(run(Prepare{turn}).last<MediaSampled>()->notices, (Noticed{kAtOnce, kLater}));
  const test::ScratchFolder folder;
  const std::string file = folder.file("7.safetensors");
  run(SaveConversation{turn.conversation, file, "a model", std::numeric_limits<std::int64_t>::max()});
  engine_ = make_engine(&opener_);
  SetUp();
  ASSERT_TRUE(run(LoadConversation{turn.conversation, file, "a model"}).last<Restored>());
  const int read = opener_.pictures_read;
  EXPECT_EQ(run(turn).last<MediaSampled>()->notices, (Noticed{kAtOnce, kLater}));
  EXPECT_EQ(opener_.pictures_read, read);
}

}  // namespace
}  // namespace winnow::testing
