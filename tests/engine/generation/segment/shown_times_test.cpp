// What a prompt says of a video's times: when its pictures are shown, not when the plan asked for them.
#include <gtest/gtest.h>

#include <string>

#include "tests/engine/generation/tiny_model.h"

namespace winnow::testing {
namespace {

class ShownTimes : public TinyModel {
 protected:
  ShownTimes() : TinyModel("qwen3_vl/published") {}

  // Pictures of ten a second that are asked for at 0.5, 1.5, ...
  Turn about_a_video(const std::string& method, double retention) {
    Turn turn = ask("video", method, retention);
    const std::string path = std::get<MediaItem>(turn.messages.back().items.front()).media.path;
    opener_.add_shown_times(path, {0.1, 0.4, 1.3, 1.6});
    return turn;
  }

  static std::string read_text(const EventRecorder& events) {
    const CacheReport report = *events.last<CacheReport>();
    std::string text;
    for (const TokenText& token : report.texts) text += token.bytes;
    return text;
  }
};

TEST_F(ShownTimes, StandBeforeTheFirstPictures) {
  const EventRecorder events = run(about_a_video("full", 1.0));
  finished(events);
  EXPECT_NE(read_text(events).find("<0.2 seconds>"), std::string::npos) << "the middle of 0.1 and 0.4, as transformers rounds it";
  EXPECT_EQ(events.last<MediaSampled>()->told_s, (std::vector<double>{0.1, 0.4, 1.3, 1.6}));
}

TEST_F(ShownTimes, AQuestionAboutPreparedMediaSaysTheSame) {
  const Turn turn = about_a_video("kvzip", 0.5);
  run(Prepare{turn});
  const int read = opener_.pictures_read;
  const EventRecorder events = run(turn);
  finished(events);
  EXPECT_EQ(opener_.pictures_read, read) << "read behind what was prepared";
  EXPECT_NE(read_text(events).find("<0.2 seconds>"), std::string::npos);
}

}  // namespace
}  // namespace winnow::testing
