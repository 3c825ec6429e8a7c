// Streams of packets whose packets hold several pictures: most of these have no time stamp of their own. Whatever is read by jumping is
// what is read straight through, and that is what the pictures' own numbers say.
#include <gtest/gtest.h>

#include <string>

#include "app/ground/notices/notice_text.h"
#include "tests/app/media/files/sample_files.h"

namespace winnow::app {
namespace {

using samples::numbered;
using samples::numberIn;

constexpr int kFps = 25;
constexpr int kPictures = 130;

struct Kind {
  const char* name;
  const char* ending;
  const char* options;
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

// `file` is small because its pictures are: one packet of 2 kB holds dozens of them.
constexpr Kind kKinds[] = {
    {"Mpeg2", "w.mpg", "-c:v mpeg2video -q:v 2 -g 15"},
    {"Mpeg2WithB", "y.mpg", "-c:v mpeg2video -q:v 2 -g 15 -bf 2"},
    {"Mpeg1WithB", "z.mpg", "-c:v mpeg1video -q:v 2 -g 15 -bf 2"},
    {"Mpeg2AFewPerPacket", "few.mpg", "-vf scale=128:96:flags=neighbor -c:v mpeg2video -q:v 1 -g 12"},
    {"Mpeg2WithBAFewPerPacket", "fewb.vob", "-vf scale=192:192:flags=neighbor -c:v mpeg2video -q:v 3 -g 12 -bf 2 -f vob"},
    {"Mpeg2ThatHoldsNothingBack", "low.mpg", "-vf scale=192:192:flags=neighbor -c:v mpeg2video -flags +low_delay -q:v 2 -g 15"},
    {"Mpeg2OpenGroups", "open.mpg", "-vf scale=192:144:flags=neighbor,noise=alls=8:allf=t -c:v mpeg2video -q:v 3 -bf 2 -g 9"},
    {"Mpeg1OfLargePackets", "cd.mpg", "-vf scale=96:96:flags=neighbor -c:v mpeg1video -q:v 2 -g 15 -bf 1 -packetsize 8000"},
};

// Its packets without a time stamp do not say when they are decoded either.
constexpr Kind kH264[] = {
    {"H264", "h.mpg", "-c:v libx264 -preset veryfast -bf 2 -g 30 -f vob"},
};

class PacketStream : public ::testing::TestWithParam<Kind> {
 protected:
  static std::string whole() { return samples::make(GetParam().ending, numbered(kPictures, kFps) + " " + GetParam().options); }
};

TEST_P(PacketStream, APlanOfAllItsPicturesHasEachOnce) {
  const auto source = samples::openVideo(samples::videoEvery(whole(), 1.0 / kFps));
  EXPECT_NEAR(source->info().durationS, kPictures / double{kFps}, 1e-3);
  ASSERT_EQ(source->frame_count(), kPictures);
  const auto frames = source->read(0, kPictures, {});
  for (int i = 0; i < kPictures; ++i) {
    ASSERT_EQ(numberIn(frames[std::size_t(i)].image), i);
    EXPECT_NEAR(frames[std::size_t(i)].actual_s, i / double{kFps}, 1e-4);
    EXPECT_NEAR(source->shown_times_s()[std::size_t(i)], i / double{kFps}, 1e-4);
  }
  EXPECT_TRUE(source->notices().empty()) << noticeText(source->notices().front());
}

TEST_P(PacketStream, JumpsLandAtThePictureThatIsThere) {
  const std::string file = whole();
  const auto source = samples::openVideo(samples::videoEvery(file, 0.5 / kFps));  // each picture at two times, where nothing tells which
  for (int i = source->frame_count() - 1; i >= 0; --i) {
    const double askedS = source->askedTimes()[std::size_t(i)];
    const SampledFrame frame = std::move(source->read(i, 1, {}).front());
    const int expected = static_cast<int>(askedS * kFps + 1e-4);
    ASSERT_EQ(numberIn(frame.image), expected) << "at " << askedS;
    EXPECT_NEAR(frame.actual_s, expected / double{kFps}, 1e-4);
  }
  for (const double stepS : {0.27, 1.1}) {
    const auto apart = samples::openVideo(samples::videoEvery(file, stepS));
    for (const SampledFrame& frame : apart->read(0, apart->frame_count(), {}))
      EXPECT_EQ(numberIn(frame.image), static_cast<int>(frame.asked_s * kFps + 1e-4)) << "at " << frame.asked_s;
    EXPECT_TRUE(apart->notices().empty()) << noticeText(apart->notices().front());
  }
  for (int first = 0; first < kPictures; first += 7) {  // each a jump from nowhere
    MediaRequest request = samples::video(file, 1);
    request.plan.from_s = (first + 0.2) / kFps;
    request.plan.to_s = (first + 0.6) / kFps;
    EXPECT_EQ(numberIn(samples::openVideo(request)->read(0, 1, {}).front().image), first);
  }
}

class JoinedPacketStream : public PacketStream {};

TEST_P(JoinedPacketStream, IsReadByJumpsAsStraightThrough) {
  samples::Bytes bytes = samples::readBytes(whole());
  const samples::Bytes once = bytes;
  bytes.insert(bytes.end(), once.begin(), once.end());
  const std::string both = samples::path(std::string("both.") + GetParam().ending);
  samples::writeBytes(both, bytes);
  const auto straight = samples::openVideo(samples::videoEvery(both, 1.0 / kFps));
  ASSERT_GE(straight->frame_count(), 2 * kPictures - 1);
  const auto frames = straight->read(0, straight->frame_count(), {});
  for (std::size_t i = 0; i < frames.size(); ++i) ASSERT_EQ(numberIn(frames[i].image), static_cast<int>(i) % kPictures) << "picture " << i;
  for (int i = straight->frame_count() - 1; i >= 0; --i)
    ASSERT_EQ(numberIn(straight->read(i, 1, {}).front().image), numberIn(frames[std::size_t(i)].image)) << "picture " << i;
}

std::string nameOfKind(const ::testing::TestParamInfo<Kind>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Mpeg, PacketStream, ::testing::ValuesIn(kKinds), nameOfKind);
INSTANTIATE_TEST_SUITE_P(Mpeg, JoinedPacketStream, ::testing::ValuesIn(kKinds), nameOfKind);
INSTANTIATE_TEST_SUITE_P(H264, PacketStream, ::testing::ValuesIn(kH264), nameOfKind);

}  // namespace
}  // namespace winnow::app
