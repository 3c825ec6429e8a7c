#include "app/engine/host/event_gatherer.h"

#include <gtest/gtest.h>

namespace winnow::app {
namespace {

Event text(RequestId id, const char* words) { return {id, TextDelta{words}}; }
Event progress(RequestId id, Phase phase, std::uint64_t done) { return {id, Progress{phase, done, 9}}; }

TEST(EventGatherer, JoinsTextOfOneRequest) {
  EventGatherer gatherer;
  gatherer.push(text(1, "a "));
  gatherer.push({1, DecodeSample{1, 5.0, 10, 20, {}}});
  gatherer.push(text(1, "b "));
  gatherer.push({1, DecodeSample{2, 6.0, 11, 21, {}}});
  const std::vector<Event> events = gatherer.take();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(std::get<TextDelta>(events[0].body).text, "a b ");
  EXPECT_EQ(std::get<DecodeSample>(events[1].body).generated_tokens, 2);
  EXPECT_TRUE(gatherer.empty());
}

TEST(EventGatherer, KeepsTextOfTwoRequestsApart) {
  EventGatherer gatherer;
  gatherer.push(text(1, "a"));
  gatherer.push(text(2, "b"));
  gatherer.push(text(1, "c"));
  const std::vector<Event> events = gatherer.take();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1].id, 2u);
}

TEST(EventGatherer, KeepsTextOfTwoColumnsApart) {
  EventGatherer gatherer;
  gatherer.push({1, TextDelta{"a"}, 0});
  gatherer.push({1, TextDelta{"b"}, 0});
  gatherer.push({1, Finished{}, 0});
  EXPECT_FALSE(gatherer.urgent()) << "a column is not the request";
  gatherer.push({1, TextDelta{"c"}, 1});
  gatherer.push({1, TextDelta{"d"}, 2});
  gatherer.push({1, Compared{}});
  EXPECT_TRUE(gatherer.urgent());
  const std::vector<Event> events = gatherer.take();
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(std::get<TextDelta>(events[0].body).text, "ab");
  EXPECT_EQ(events[2].column, 1);
  EXPECT_EQ(std::get<TextDelta>(events[3].body).text, "d");
}

TEST(EventGatherer, ReplacesProgressOfOnePhaseOnly) {
  EventGatherer gatherer;
  gatherer.push(progress(1, Phase::kPrefill, 1));
  gatherer.push(progress(1, Phase::kPrefill, 2));
  gatherer.push(progress(1, Phase::kCompress, 1));
  gatherer.push(progress(1, Phase::kPrefill, 3));
  const std::vector<Event> events = gatherer.take();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(std::get<Progress>(events[0].body).done, 2u);
  EXPECT_EQ(std::get<Progress>(events[2].body).done, 3u);
}

TEST(EventGatherer, MovesNothingPastAReport) {
  EventGatherer gatherer;
  gatherer.push(text(1, "before"));
  gatherer.push({1, CacheReport{}});
  gatherer.push(text(1, "after"));
  const std::vector<Event> events = gatherer.take();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(std::get<TextDelta>(events[0].body).text, "before");
  EXPECT_EQ(std::get<TextDelta>(events[2].body).text, "after");
}

TEST(EventGatherer, IsUrgentFromTheOutcomeUntilTaken) {
  EventGatherer gatherer;
  gatherer.push(text(1, "a"));
  EXPECT_FALSE(gatherer.urgent());
  gatherer.push({1, Finished{}});
  EXPECT_TRUE(gatherer.urgent());
  gatherer.take();
  EXPECT_FALSE(gatherer.urgent());
}

TEST(EventGatherer, StaysSmallUnderAFlood) {
  EventGatherer gatherer;
  for (int i = 0; i < 10'000; ++i) {
    gatherer.push(text(1, "x"));
    gatherer.push(progress(1, Phase::kDecode, static_cast<std::uint64_t>(i)));
  }
  const std::vector<Event> events = gatherer.take();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(std::get<TextDelta>(events[0].body).text.size(), 10'000u);
}

TEST(EventGatherer, CountsTextsAndMapsThatWait) {
  EventGatherer gatherer;
  EXPECT_EQ(gatherer.bytes(), 0u);
  gatherer.push(text(1, "four"));
  EXPECT_EQ(gatherer.bytes(), sizeof(Event) + 4);
  gatherer.push(text(1, "more"));
  EXPECT_EQ(gatherer.bytes(), sizeof(Event) + 8);
  CacheReport report{.kept = {{{1, 2, 3}, {4}}}};
  gatherer.push({1, report});
  EXPECT_EQ(gatherer.bytes(), 2 * sizeof(Event) + 8 + 4 * sizeof(std::int32_t));
  gatherer.take();
  EXPECT_EQ(gatherer.bytes(), 0u);
}

}  // namespace
}  // namespace winnow::app
