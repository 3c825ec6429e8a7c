// A text and what follows it: nothing is lost between them, and nothing of what follows stands in the document.
#include "app/evaluation/held_text.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

// 40 paragraphs of three sentences, 8 + 9 + 7 words.
RunningText numbered() {
  std::string text;
  for (int i = 100; i < 140; ++i) {
    const std::string number = std::to_string(i);
    text += "Number " + number + " begins with a first sentence here. Then number " + number + " goes on with its second one. " +
            "And number " + number + " ends with this one.\n\n";
  }
  return RunningText({text});
}

TEST(HeldText, FollowsItsDocumentWithNothingLeftOut) {
  const RunningText text = numbered();
  int inside = 0;
  for (int number = 0; number < 20; ++number) {
    const HeldText held = heldText(text, {200, number, 5});
    EXPECT_GE(wordsIn(held.text), 200U);
    EXPECT_LT(wordsIn(held.text), 200U + 9U) << "up to the end of a sentence";
    EXPECT_GE(wordsIn(held.text + held.next), 350U);
    EXPECT_LT(wordsIn(held.text + held.next), 350U + 9U);
    // Together they are what the running text has there, sentence after sentence.
    RandomNumbers random = randomOf({200, number, 5});
    std::string there;
    for (const Sentences& paragraph : drawnPart(text, {200, number, 5}, random, kHeldWords)) {
      for (const std::string& sentence : paragraph) there += sentence + " ";
    }
    std::string both;
    for (const char c : held.text + held.next) {
      if (c != '\n') {
        both += c;
      } else if (!both.empty() && both.back() != ' ') {
        both += ' ';
      }
    }
    EXPECT_EQ(both, there);
    inside += held.next.starts_with("Number") ? 0 : 1;
  }
  EXPECT_GT(inside, 0) << "a document may end inside a paragraph";
}

TEST(HeldText, ComesAsOneItemADocument) {
  const RunningText text = numbered();
  const std::vector<EvaluationItem> items = heldItems(text, {100, 200}, 3, 1);
  ASSERT_EQ(items.size(), 6U);
  EXPECT_EQ(items[4].id, "held:200:1:1");
  EXPECT_EQ(items[4].media.at(0).path, items[4].id);
  EXPECT_EQ(items[4].golds, std::vector<std::string>{heldText(text, {200, 1, 1}).next});
  EXPECT_EQ(items[4].metric, AnswerMetric::kPerplexity);
  EXPECT_TRUE(items[4].cluster.empty()) << "documents are independent draws";
  EXPECT_THROW(heldText(text, {850, 0, 0}), Exception) << "960 words are fewer than 850 and 150 behind them";
}

}  // namespace
}  // namespace winnow::app
