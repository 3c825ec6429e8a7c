// methods' fixtures 5.6 and the definitions of 4.3.
#include "app/evaluation/answer_metrics.h"

#include <gtest/gtest.h>

namespace winnow::app {
namespace {

TEST(AnswerMetrics, AnlsFollowsTheFixture) {
  EXPECT_NEAR(anls("hello", {"hallo"}), 0.8, 1e-12);
  EXPECT_EQ(anls("cat", {"dog"}), 0.0);
  EXPECT_NEAR(anls("12 march 2018", {"12 march 2019"}), 0.923077, 1e-6);
  EXPECT_EQ(anls("ab", {"abcd"}), 0.0);  // NL = 0.5 is not below 0.5
  EXPECT_EQ(anls("", {""}), 1.0);
}

TEST(AnswerMetrics, AnlsTakesTheBestGoldIgnoresCaseAndOuterSpaceAndCountsCodePoints) {
  EXPECT_EQ(anls("  Hello ", {"world", "HELLO"}), 1.0);
  EXPECT_NEAR(anls("größe", {"grösse"}), 1.0 - 2.0 / 6.0, 1e-12);
}

TEST(AnswerMetrics, RougeLFollowsTheFixture) {
  EXPECT_NEAR(rougeL("the cat sat on mat", {"the cat is on the mat"}), 0.727273, 1e-6);
  EXPECT_EQ(rougeL("", {"a cat"}), 0.0);
  EXPECT_EQ(rougeL("A cat.", {"dog", "a cat"}), 1.0);
}

TEST(AnswerMetrics, ExactIgnoresCasePunctuationArticlesAndSpacing) {
  EXPECT_EQ(normalisedAnswer("  The  Red, STAR! (an $old one) "), "red star old one");
  EXPECT_EQ(exactMatch("A red star.", {"the Red  star"}), 1.0);
  EXPECT_EQ(exactMatch("red stars", {"red star"}), 0.0);
  EXPECT_EQ(exactMatch("theatre", {"atre"}), 0.0);  // only whole words are articles
}

TEST(AnswerMetrics, AccuracyFindsTheOptionThatIsNamed) {
  for (const char* answer :
       {"B", "b", "(B)", "B.", "B) the red one", "The answer is B", "Answer: (b)", "It must be (B), not the first.", "I think B"}) {
    EXPECT_EQ(choiceAccuracy(answer, {"B"}), 1.0) << answer;
  }
  for (const char* answer : {"A", "", "The answer is C, B is wrong", "A man and a Boat", "B or C", "Bad"}) {
    EXPECT_EQ(choiceAccuracy(answer, {"B"}), 0.0) << answer;
  }
  EXPECT_EQ(choiceAccuracy("A man walks", {"A"}), 0.0);
  EXPECT_EQ(choiceAccuracy("No, there is no card; yes?", {"no"}), 1.0);
  EXPECT_EQ(choiceAccuracy("Yes.", {"No"}), 0.0);
  EXPECT_EQ(choiceAccuracy("the Dog", {"dog"}), 1.0);
}

TEST(AnswerMetrics, ContainsWantsWholeWords) {
  EXPECT_EQ(containsGold("I see a red star here", {"red star"}), 1.0);
  EXPECT_EQ(containsGold("I see red stars", {"red star"}), 0.0);
  EXPECT_EQ(containsGold("nothing", {"red", "nothing"}), 1.0);
}

TEST(AnswerMetrics, RelaxedTakesNumbersWithinFivePerCent) {
  EXPECT_EQ(relaxedMatch("104.9", {"100"}), 1.0);
  EXPECT_EQ(relaxedMatch("105.1", {"100"}), 0.0);
  EXPECT_EQ(relaxedMatch("-95", {"-100"}), 1.0);
  EXPECT_EQ(relaxedMatch("1,020", {"1000"}), 1.0);
  EXPECT_EQ(relaxedMatch("20%", {"0.2"}), 1.0);
  EXPECT_EQ(relaxedMatch("0.01", {"0"}), 0.0);
  EXPECT_EQ(relaxedMatch(" Blue", {"blue"}), 1.0);
  EXPECT_EQ(relaxedMatch("light blue", {"blue"}), 0.0);
}

TEST(AnswerMetrics, VqaIsTheMeanOverNineOfTenPeople) {
  // Three of ten said so: left out one of the three, two agree (2/3); left out another, three do (1). 0.3 * 2/3 + 0.7 = 0.9.
  EXPECT_NEAR(vqaAccuracy("cat", {"cat", "Cat", "a cat", "dog", "dog", "dog", "dog", "dog", "dog", "dog"}), 0.9, 1e-12);
  EXPECT_NEAR(vqaAccuracy("bird", {"cat", "Cat", "a cat", "dog", "dog", "dog", "dog", "dog", "dog", "bird"}), 0.3, 1e-12);
  EXPECT_EQ(vqaAccuracy("Cat", {"cat"}), 1.0);
}

TEST(AnswerMetrics, MalformedTextIsScoredNotFatal) {
  const std::string broken = "\xff\xfe\xc3";
  for (const std::string& metric : metricNames()) {
    EvaluationItem item;
    item.metric = *metricByName(metric);
    item.question = broken;
    item.golds = {"a star", broken};
    const double score = scoreOf(item, broken);
    EXPECT_GE(score, 0.0) << metric;
    EXPECT_LE(score, 1.0) << metric;
  }
}

TEST(EvaluationItem, MarksPlaceMedia) {
  EvaluationItem item;
  item.media.resize(3);
  item.media[0].path = "1";
  item.media[1].path = "2";
  item.media[2].path = "3";
  item.question = "Before {image#2} and after{image#1}. {image#9}{";
  const Message message = messageOf(item);
  std::string shown;
  for (const Item& part : message.items) {
    const auto* text = std::get_if<TextItem>(&part);
    shown += text != nullptr ? text->text : "<" + std::get<MediaItem>(part).media.path + ">";
  }
  EXPECT_EQ(shown, "<3>Before <2> and after<1>. {image#9}{");
}

}  // namespace
}  // namespace winnow::app
