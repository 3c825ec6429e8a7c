#include "engine/sampling/stop_matcher.h"

#include <gtest/gtest.h>

#include <random>

namespace winnow {
namespace {

TEST(StopMatcher, HoldsBackWhatMayBecomeAStopString) {
  StopMatcher matcher({"</end>"});
  EXPECT_EQ(matcher.push("Hello <"), "Hello ");
  EXPECT_TRUE(matcher.holds());
  EXPECT_EQ(matcher.push("/en"), "");
  EXPECT_EQ(matcher.push("ter>"), "</enter>");
  EXPECT_FALSE(matcher.holds());
  EXPECT_EQ(matcher.push(" bye</e"), " bye");
  EXPECT_FALSE(matcher.matched());
  EXPECT_EQ(matcher.push("nd> never shown"), "");
  EXPECT_TRUE(matcher.matched());
  EXPECT_EQ(matcher.push("more"), "");
  EXPECT_EQ(matcher.flush(), "");
}

TEST(StopMatcher, ShowsWhatItHeldWhenTheAnswerEndsOtherwise) {
  StopMatcher matcher({"abcd"});
  EXPECT_EQ(matcher.push("xabc"), "x");
  EXPECT_EQ(matcher.flush(), "abc");
  EXPECT_EQ(matcher.push("d"), "d");  // nothing of before counts
}

TEST(StopMatcher, FindsOverlappingBeginnings) {
  StopMatcher matcher({"aab"});
  EXPECT_EQ(matcher.push("aaa"), "a");
  EXPECT_EQ(matcher.push("b"), "");
  EXPECT_TRUE(matcher.matched());
}

TEST(StopMatcher, LetsTheEarliestEndDecideAndThenTheLongest) {
  StopMatcher matcher({"cd", "bcd", "abcde"});
  EXPECT_EQ(matcher.push("xabcdef"), "xa") << "of cd and bcd the longer, before abcde has ended";
}

TEST(StopMatcher, PassesEverythingWithoutStopStrings) {
  StopMatcher matcher({"", ""});
  EXPECT_EQ(matcher.push("anything"), "anything");
  EXPECT_FALSE(matcher.matched());
}

TEST(StopMatcher, GivesTheSameTextHoweverItIsCut) {
  std::mt19937 random(5);
  const auto letter = [&] { return static_cast<char>('a' + random() % 2); };
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (int i = 0; i < 40; ++i) text += letter();
    std::vector<std::string> stops;
    for (int i = 0; i < 3; ++i) {
      std::string stop;
      for (unsigned k = 0; k < 4 + random() % 5; ++k) stop += letter();
      stops.push_back(stop);
    }
    std::size_t first_end = std::string::npos;
    std::size_t begin = text.size();
    for (const std::string& stop : stops) {
      const std::size_t at = text.find(stop);
      if (at == std::string::npos) continue;
      const std::size_t end = at + stop.size();
      if (end < first_end || (end == first_end && at < begin)) {
        first_end = end;
        begin = at;
      }
    }
    StopMatcher matcher(stops);
    std::string shown;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = std::min<std::size_t>(1 + random() % 5, text.size() - at);
      shown += matcher.push(std::string_view(text).substr(at, length));
      ASSERT_EQ(text.compare(0, shown.size(), shown), 0);
      ASSERT_LE(shown.size(), begin);
      at += length;
    }
    shown += matcher.flush();
    ASSERT_EQ(shown, text.substr(0, begin));
    ASSERT_EQ(matcher.matched(), first_end != std::string::npos);
  }
}

}  // namespace
}  // namespace winnow
