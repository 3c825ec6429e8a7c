// Messages in a stream of bytes, however it is cut.
#include "app/engine/process/event_frames.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

std::vector<std::uint8_t> bytesOf(const std::string& text) { return {text.begin(), text.end()}; }

TEST(EventFramesTest, ComeWholeHoweverTheStreamIsCut) {
  std::string stream;
  std::vector<std::vector<std::uint8_t>> sent;
  for (const std::size_t size : {0UL, 1UL, 300UL, 0UL, 70'000UL}) {
    sent.emplace_back(size, static_cast<std::uint8_t>(size));
    stream += frameOf(sent.back());
  }
  for (const std::size_t step : {1UL, 3UL, 4096UL, stream.size()}) {
    FrameReader reader;
    std::vector<std::vector<std::uint8_t>> came;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      reader.add(std::string_view(stream).substr(at, step));
      while (const auto frame = reader.next()) came.push_back(*frame);
    }
    EXPECT_EQ(came, sent) << step;
    EXPECT_TRUE(reader.isBetweenFrames());
  }
}

TEST(EventFramesTest, AHalfOneIsNoneAndAnEndlessOneIsRefused) {
  FrameReader reader;
  reader.add(frameOf(bytesOf("abc")).substr(0, 6));
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.isBetweenFrames());
  FrameReader hostile;
  hostile.add("\xff\xff\xff\xff");
  EXPECT_THROW(hostile.next(), Exception);
}

}  // namespace
}  // namespace winnow::app
