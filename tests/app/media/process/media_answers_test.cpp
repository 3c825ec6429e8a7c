// The protocol forgets no field, and answers that no sound process gives are refused before anything is made of them.
#include "app/media/process/media_answers.h"

#include <gtest/gtest.h>

#include <limits>

#include "engine/base/member_count.h"
#include "engine/messages/wire_value.h"

namespace winnow::app {
namespace {

template <class T>
void expectAllFields() {
  std::size_t fields = 0;
  T value{};
  visit_fields(value, [&](const char*, auto&) { ++fields; });
  EXPECT_EQ(fields, member_count<T>()) << "a member of this struct is not in media_protocol.h: " << typeid(T).name();
}

TEST(MediaProtocol, NoFieldIsForgotten) {
  expectAllFields<MediaLimits>();
  expectAllFields<MediaInfo>();
  expectAllFields<Subtitles>();
  expectAllFields<DocumentText>();
  expectAllFields<SandboxReport>();
  expectAllFields<BeginReading>();
  expectAllFields<ReadyToRead>();
  expectAllFields<GivenFile>();
  expectAllFields<AskFile>();
  expectAllFields<AskFrames>();
  expectAllFields<CloseSource>();
  expectAllFields<InterruptReading>();
  expectAllFields<SourceOpened>();
  expectAllFields<KindDetected>();
  expectAllFields<FrameRead>();
  expectAllFields<FramesRead>();
}

TEST(MediaProtocol, KeepsWhatItCarries) {
  AskFile ask;
  ask.source = 1ULL << 63;
  ask.request.path = "\xFF a\nb";
  ask.files = {{"one", 5, "version", {}}, {"two", 0, "", Error{ErrorCode::kEmptyFile, "two", "the file is empty"}}};
  const auto back = wire::decoded_fields<AskFile>(wire::encoded_fields(ask));
  EXPECT_EQ(back.source, ask.source);
  EXPECT_EQ(back.request.path, ask.request.path);
  ASSERT_EQ(back.files.size(), 2U);
  EXPECT_EQ(back.files[0].version, "version");
  EXPECT_FALSE(back.files[0].failure);
  EXPECT_EQ(back.files[1].failure->reason, "the file is empty");
}

SourceOpened soundAnswer() {
  SourceOpened opened;
  opened.info.kind = MediaKind::kVideo;
  opened.info.widthPx = 64;
  opened.info.heightPx = 48;
  opened.info.durationS = 2.0;
  opened.durationS = 2.0;
  opened.askedS = opened.shownS = {0.5, 1.5};
  opened.untilS = {1.0, 2.0};
  opened.planned = 3;
  opened.lines = {{0.0, 1.0, "Hello"}};
  return opened;
}

SourceOpened read(const SourceOpened& answer) {
  MediaRequest request{.kind = MediaKind::kVideo};
  return openedAnswer(wire::encoded_fields(answer), request, 1'000, {});
}

TEST(MediaAnswers, TakesASoundOneButNotItsWordForTheFilesSize) {
  const SourceOpened opened = read(soundAnswer());
  EXPECT_EQ(opened.askedS, (std::vector{0.5, 1.5}));
  EXPECT_EQ(opened.info.fileBytes, 1'000);
}

TEST(MediaAnswers, RefusesWhatIsOutOfRange) {
  constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<const char*, void (*)(SourceOpened&)>> changes = {
      {"kind", [](SourceOpened& each) { each.info.kind = MediaKind::kImage; }},
      {"size", [](SourceOpened& each) { each.info.widthPx = std::numeric_limits<int>::max(); }},
      {"no size", [](SourceOpened& each) { each.info.heightPx = 0; }},
      {"negative size", [](SourceOpened& each) { each.info.widthPx = each.info.heightPx = -64; }},
      {"length", [](SourceOpened& each) { each.info.durationS = kNoNumber; }},
      {"rate", [](SourceOpened& each) { each.info.averageFps = std::numeric_limits<double>::infinity(); }},
      {"rotation", [](SourceOpened& each) { each.info.rotationDegrees = 45; }},
      {"count", [](SourceOpened& each) { each.info.frameCount = -5; }},
      {"plan's length", [](SourceOpened& each) { each.durationS = -kNoNumber; }},
      {"time", [](SourceOpened& each) { each.askedS[1] = 1e300; }},
      {"frames", [](SourceOpened& each) { each.askedS = each.shownS = std::vector<double>(5'000); }},
      {"no frame", [](SourceOpened& each) { each.askedS = each.shownS = {}; }},
      {"shown", [](SourceOpened& each) { each.shownS.pop_back(); }},
      {"until", [](SourceOpened& each) { each.untilS.push_back(3.0); }},
      {"line's time", [](SourceOpened& each) { each.lines[0].end_s = -1.0; }},
      {"empty line", [](SourceOpened& each) { each.lines[0].text.clear(); }},
      {"line", [](SourceOpened& each) { each.lines[0].text = "\xC3"; }},
      {"lines", [](SourceOpened& each) { each.lines.resize(kMostSubtitleLines + 1, each.lines[0]); }},
      {"name", [](SourceOpened& each) { each.info.codec = std::string(kMostNameBytes + 1, 'a'); }},
      {"notices", [](SourceOpened& each) { each.notices.resize(kMostNotices + 1); }},
      {"notice",
       [](SourceOpened& each) {
         each.info.notices = {{NoticeCode::kDamaged, 0, 0, "\xFF"}};
       }},
  };
  for (const auto& [what, change] : changes) {
    SourceOpened answer = soundAnswer();
    change(answer);
    EXPECT_THROW(read(answer), Exception) << what;
  }
}

TEST(MediaAnswers, FramesAreThoseThatWereAskedFor) {
  const SourceOpened opened = soundAnswer();
  FramesRead answer{{{0.5, 0.5, 64, 48}, {1.5, 1.5, 64, 48}}, 0, opened.info, {}};
  const auto take = [&] { return framesAnswer(wire::encoded_fields(answer), 2, opened, {}); };
  EXPECT_EQ(take().frames.size(), 2U);
  answer.frames[1].widthPx = 65;
  EXPECT_THROW(take(), Exception);
  answer.frames.pop_back();
  EXPECT_THROW(take(), Exception);
}

TEST(MediaAnswers, TextsAndErrorsAreText) {
  EXPECT_THROW(textAnswer(wire::encoded_fields(DocumentText{"\xFF", "UTF-8", {}})), Exception);
  EXPECT_THROW(failedAnswer(wire::encoded_fields(Error{ErrorCode::kDamagedFile, "", "\xFF"})), Exception);
  EXPECT_EQ(failedAnswer(wire::encoded_fields(Error{ErrorCode::kDamagedFile, "\xFF", "cut"})).subject, "\xFF");
  EXPECT_THROW(detectedAnswer(std::vector<std::uint8_t>{0xFF}), Exception);
}

}  // namespace
}  // namespace winnow::app
