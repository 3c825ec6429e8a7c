// Thoughts and answers are told apart the same way however the text comes in pieces, for every model's marks.
#include "engine/text/thought_splitter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <vector>

namespace winnow {
namespace {

SplitText split(const ThoughtTags& tags, ThoughtStart start, const std::vector<std::string>& pieces) {
  ThoughtSplitter splitter(tags, start);
  SplitText all;
  const auto add = [&all](const SplitText& told) {
    all.thought += told.thought;
    all.answer += told.answer;
  };
  for (const std::string& piece : pieces) add(splitter.push(piece));
  add(splitter.flush());
  return all;
}

struct Written {
  ThoughtStart start = ThoughtStart::kUnsaid;
  std::string text;
  SplitText parts;
};

std::vector<Written> written_with(const ThoughtTags& tags) {
  const std::string begin(tags.begin), end(tags.end);
  constexpr auto kUnsaid = ThoughtStart::kUnsaid;
  constexpr auto kOpened = ThoughtStart::kOpened;
  return {
      {kUnsaid, begin + "\nOne.\n\nTwo.\n" + end + "\n\nThe answer.\n", {"One.\n\nTwo.", "The answer.\n"}},
      {kUnsaid, "\n" + begin + " a " + end + " b", {"a", "b"}},
      {kUnsaid, begin + "\n\n" + end + "\n\nNothing was thought.", {"", "Nothing was thought."}},
      {kUnsaid, begin + end, {"", ""}},
      {kOpened, "So.\n" + end + "\n\nYes.", {"So.", "Yes."}},
      {kOpened, "\n" + end + "Yes.", {"", "Yes."}},
      {kOpened, "never ended \n ", {"never ended", ""}},
      {kUnsaid, begin + "\ncut in its mark " + end.substr(0, end.size() - 1), {"cut in its mark " + end.substr(0, end.size() - 1), ""}},
      {kUnsaid, "  No thought.\n\n", {"", "  No thought.\n\n"}},
      {kUnsaid, begin.substr(0, begin.size() - 1) + "? No.", {"", begin.substr(0, begin.size() - 1) + "? No."}},
      {kUnsaid, "What " + begin + " means: " + end, {"", "What " + begin + " means: " + end}},
      {kUnsaid, begin + "a" + end + "b " + begin + "c" + end, {"a", "b " + begin + "c" + end}},
      {kUnsaid, begin + "gr\xC3\xBCn " + end + "\xE6\xBC\xA2", {"gr\xC3\xBCn", "\xE6\xBC\xA2"}},
      {kUnsaid, "", {"", ""}},
  };
}

// Of models whose answer has marks of its own.
std::vector<Written> written_with_answer_marks(const ThoughtTags& tags) {
  const std::string thought = std::string(tags.begin) + "So." + std::string(tags.end);
  const std::string begin(tags.answer_begin), end(tags.answer_end);
  constexpr auto kUnsaid = ThoughtStart::kUnsaid;
  return {
      {kUnsaid, thought + begin + "Yes, two." + end, {"So.", "Yes, two."}},
      {kUnsaid, thought + "\n\n" + begin + "\nYes.\n\nTwo.\n" + end + "\n", {"So.", "Yes.\n\nTwo."}},
      {ThoughtStart::kOpened, "So." + std::string(tags.end) + begin + "Yes." + end, {"So.", "Yes."}},
      {kUnsaid, thought + begin + "cut off\n", {"So.", "cut off\n"}},
      {kUnsaid,
       thought + begin + "cut in its mark " + end.substr(0, end.size() - 1),
       {"So.", "cut in its mark " + end.substr(0, end.size() - 1)}},
      {kUnsaid, thought + begin.substr(0, begin.size() - 1), {"So.", begin.substr(0, begin.size() - 1)}},
      {kUnsaid, thought + begin.substr(0, begin.size() - 1) + "? No.", {"So.", begin.substr(0, begin.size() - 1) + "? No."}},
      {kUnsaid, thought + "Without marks. " + end, {"So.", "Without marks. " + end}},
      {kUnsaid, thought + begin + end, {"So.", ""}},
      {kUnsaid, thought + begin + "a " + end + " b" + end, {"So.", "a " + end + " b"}},
      {kUnsaid, thought + begin + "a" + begin + "b" + end, {"So.", "a" + begin + "b"}},
      {kUnsaid, begin + "asked for as text" + end, {"", begin + "asked for as text" + end}},
  };
}

void expect_parts(const SplitText& told, const Written& written, const std::string& how) {
  EXPECT_EQ(told.thought, written.parts.thought) << how << " of " << written.text;
  EXPECT_EQ(told.answer, written.parts.answer) << how << " of " << written.text;
}

TEST(ThoughtSplitter, PartsAtEveryBreak) {
  for (const ThoughtTags& tags : known_thought_tags()) {
    std::vector<Written> cases = written_with(tags);
    if (!tags.answer_begin.empty()) std::ranges::move(written_with_answer_marks(tags), std::back_inserter(cases));
    for (const Written& written : cases) {
      expect_parts(split(tags, written.start, {written.text}), written, "all");
      std::vector<std::string> bytes;
      for (const char byte : written.text) bytes.emplace_back(1, byte);
      expect_parts(split(tags, written.start, bytes), written, "bytes");
      for (std::size_t i = 0; i <= written.text.size(); ++i) {
        for (std::size_t k = i; k <= written.text.size(); ++k) {
          expect_parts(split(tags, written.start, {written.text.substr(0, i), written.text.substr(i, k - i), written.text.substr(k)}),
                       written, "cut at " + std::to_string(i) + " and " + std::to_string(k));
        }
      }
    }
  }
}

// Of whatever text, made of what marks are made of.
TEST(ThoughtSplitter, AnyPiecesGiveTheSameParts) {
  std::mt19937 random(48);
  for (const ThoughtTags& tags : known_thought_tags()) {
    const std::string begin(tags.begin), end(tags.end);
    std::vector<std::string> words = {begin, end, begin.substr(0, 3), end.substr(0, 4), " ", "\n", "a", "<", "/", "\xC3\xBC"};
    if (!tags.answer_begin.empty())
      words.insert(words.end(), {std::string(tags.answer_begin), std::string(tags.answer_end), end + std::string(tags.answer_begin)});
    for (int round = 0; round < 300; ++round) {
      std::vector<std::string> pieces;
      std::string text;
      for (std::size_t i = random() % 12; i > 0; --i) {
        pieces.push_back(words[random() % words.size()]);
        text += pieces.back();
      }
      const ThoughtStart start = random() % 2 == 0 ? ThoughtStart::kUnsaid : ThoughtStart::kOpened;
      const Written whole{start, text, split(tags, start, {text})};
      expect_parts(split(tags, start, pieces), whole, "words");
    }
  }
}

TEST(ThoughtSplitter, TellsWhatItIsIn) {
  ThoughtSplitter splitter(known_thought_tags().front());
  splitter.push("<thi");
  EXPECT_TRUE(splitter.undecided());
  EXPECT_FALSE(splitter.thinking());
  splitter.push("nk>so");
  EXPECT_TRUE(splitter.thinking());
  EXPECT_FALSE(splitter.undecided());
  splitter.push("</think>");
  EXPECT_FALSE(splitter.thinking());
  EXPECT_FALSE(splitter.answering());
  EXPECT_EQ(splitter.push("\n\nyes").answer, "yes");
  EXPECT_TRUE(splitter.answering());
  EXPECT_TRUE(ThoughtSplitter(std::nullopt).answering()) << "of a model without marks";
}

TEST(ThoughtSplitter, HoldsWhatMayBeTheEndOfAMarkedAnswer) {
  const auto tags = std::ranges::find_if(known_thought_tags(), [](const ThoughtTags& each) { return !each.answer_begin.empty(); });
  ASSERT_NE(tags, known_thought_tags().end());
  ThoughtSplitter splitter(*tags);
  splitter.push(std::string(tags->begin) + "so" + std::string(tags->end));
  EXPECT_TRUE(splitter.expects(tags->answer_begin));
  EXPECT_EQ(splitter.push(tags->answer_begin.substr(0, 4)).answer, "");
  EXPECT_TRUE(splitter.undecided());
  EXPECT_EQ(splitter.push(std::string(tags->answer_begin.substr(4)) + "yes\n").answer, "yes");
  EXPECT_TRUE(splitter.answering());
  EXPECT_TRUE(splitter.undecided()) << "the white space";
  EXPECT_TRUE(splitter.expects(tags->answer_end));
  EXPECT_FALSE(splitter.expects(tags->begin));
  EXPECT_EQ(splitter.push("no").answer, "\nno");
  EXPECT_EQ(splitter.push(tags->answer_end).answer, "");
  EXPECT_EQ(splitter.flush().answer, "");
}

TEST(ThoughtSplitter, APromptEndsInAThought) {
  for (const ThoughtTags& tags : known_thought_tags()) {
    const std::string begin(tags.begin), end(tags.end);
    EXPECT_TRUE(ends_in_thought("assistant\n" + begin, tags));
    EXPECT_TRUE(ends_in_thought("assistant\n" + begin + "\n", tags));
    EXPECT_FALSE(ends_in_thought("assistant\n" + begin + "\n\n" + end + "\n\n", tags));
    EXPECT_FALSE(ends_in_thought("assistant\n", tags));
    EXPECT_FALSE(ends_in_thought("", tags));
  }
}

}  // namespace
}  // namespace winnow
