// Documents with facts: what they are made of, and that an answer can only come from the fact.
#include "app/evaluation/fact_document.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "app/evaluation/answer_metrics.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

// Some 2,000 words that name a colour and a month, and what is no running text.
RunningText somethingToRead() {
  std::string text = "A HEADING THAT IS NO TEXT\n\n1. short\n\n";
  text +=
      "THIS PARAGRAPH IS LONG ENOUGH, BUT IT IS WRITTEN IN CAPITALS FROM ITS FIRST WORD TO THE LAST ONE AND SO IT IS LEFT OUT HERE.\n\n";
  for (int i = 0; i < 60; ++i) {
    const std::string number = std::to_string(i);
    text += "Paragraph number " + number + " tells in plain words what is\n  allowed here and what is not. ";
    text += "Whoever copies the red copy of part " + number + " in August has to say so to all who ask. The rest is free.\n\n";
  }
  return RunningText({text, text});  // the second time it has been there before
}

std::size_t timesIn(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::vector<FactDocument> someDocuments() {
  const RunningText text = somethingToRead();
  std::vector<FactDocument> documents;
  for (int number = 0; number < 50; ++number) documents.push_back(factDocument(text, {400, number, 7}));
  return documents;
}

TEST(RunningText, IsWholeSentencesWithoutHeadingsAndRepeats) {
  const RunningText text = somethingToRead();
  ASSERT_EQ(text.paragraphs().size(), 60U);
  EXPECT_EQ(text.paragraphs()[3],
            (Sentences{"Paragraph number 3 tells in plain words what is allowed here and what is not.",
                       "Whoever copies the red copy of part 3 in August has to say so to all who ask.", "The rest is free."}));
  const std::vector<Sentences> part = text.part(59, 40);
  ASSERT_EQ(part.size(), 2U) << "37 words of the last paragraph, and it goes on with the first";
  EXPECT_EQ(part[1], Sentences{text.paragraphs()[0][0]}) << "up to the sentence that makes it so many";
}

TEST(FactDocument, IsTheSameBytesForTheSameSeed) {
  const RunningText text = somethingToRead();
  const TextDocumentSpec spec{400, 3, 7};
  EXPECT_EQ(factDocument(text, spec).text, factDocument(text, spec).text);
  // Known bytes: a generator that changes makes old tables those of other documents.
  EXPECT_EQ(factDocument(text, spec).facts.front().sentence, "The door of the ferry office is painted gray.");
  std::set<std::string> texts;
  for (const TextDocumentSpec& other : {spec, TextDocumentSpec{400, 4, 7}, TextDocumentSpec{401, 3, 7}, TextDocumentSpec{400, 3, 8}})
    texts.insert(factDocument(text, other).text);
  EXPECT_EQ(texts.size(), 4U);
}

TEST(FactDocument, NamesEveryFactOnceAndNowhereElse) {
  for (const FactDocument& document : someDocuments()) {
    ASSERT_EQ(document.facts.size(), 6U);
    for (const Fact& fact : document.facts) {
      SCOPED_TRACE(fact.sentence);
      EXPECT_EQ(timesIn(document.text, fact.sentence), 1U);
      std::string rest = document.text;
      rest.erase(rest.find(fact.sentence), fact.sentence.size());
      EXPECT_EQ(containsGold(rest, fact.golds), 0.0) << "the value";
      EXPECT_EQ(containsGold(rest, {fact.subject}), 0.0) << "what is asked about";
      EXPECT_EQ(containsGold(fact.question, fact.golds), 0.0) << "the question does not tell it";
      EXPECT_NE(fact.question.find(fact.subject), std::string::npos);
    }
  }
}

TEST(FactDocument, HasAFactInEverySixthAndEveryKindEverywhere) {
  std::map<std::string, std::set<std::size_t>> sixths;
  std::set<std::string> asked;
  for (const FactDocument& document : someDocuments()) {
    std::map<std::size_t, std::string> kinds;  // by place
    for (const Fact& fact : document.facts) kinds[document.text.find(fact.sentence)] = fact.kind;
    const auto length = static_cast<double>(document.text.size());
    std::size_t sixth = 0;
    for (const auto& [place, kind] : kinds) {
      // Sixths are counted in sentences, some of which are longer than others.
      EXPECT_NEAR(static_cast<double>(place) / length, (static_cast<double>(sixth) + 0.5) / 6, 0.15);
      sixths[kind].insert(sixth++);
    }
    asked.insert(document.facts.front().kind);
  }
  ASSERT_EQ(sixths.size(), 6U);
  for (const auto& [kind, places] : sixths) EXPECT_EQ(places.size(), 6U) << kind;
  EXPECT_EQ(asked.size(), 6U) << "every kind comes first sometimes";
}

TEST(FactDocument, IsRightWhereTheValueStandsInTheAnswer) {
  std::map<std::string, EvaluationItem> byKind;
  for (const EvaluationItem& item : factItems(somethingToRead(), {400}, 1, 0)) byKind[item.id.substr(item.id.rfind(':') + 1)] = item;
  ASSERT_EQ(byKind.size(), 6U);
  const auto judged = [&](const std::string& kind, const std::string& before, const std::string& after) {
    const EvaluationItem& item = byKind.at(kind);
    return scoreOf(item, before + item.golds.front() + after);
  };
  EXPECT_EQ(judged("amount", "It costs $", "."), 1.0);
  EXPECT_EQ(judged("amount", "It costs 1", " dollars."), 0.0) << "part of another number";
  EXPECT_EQ(judged("color", "The door is ", ", I think."), 1.0);
  EXPECT_EQ(judged("color", "The door is un", ""), 0.0);
  EXPECT_EQ(scoreOf(byKind.at("city"), "In a city."), 0.0);
  std::vector<std::string> days = byKind.at("day").golds;
  EXPECT_EQ(days.size(), 5U);
  for (const std::string& day : days) EXPECT_EQ(scoreOf(byKind.at("day"), "On " + day + "."), 1.0) << day;
  EXPECT_EQ(scoreOf(byKind.at("day"), "On the first."), 0.0);
}

TEST(FactDocument, ComesAsItemsOfOneCluster) {
  const std::vector<EvaluationItem> items = factItems(somethingToRead(), {200, 400}, 3, 1);
  ASSERT_EQ(items.size(), 2U * 3U * 6U);
  std::set<std::string> ids, clusters;
  for (const EvaluationItem& item : items) {
    ids.insert(item.id);
    clusters.insert(item.cluster);
    EXPECT_EQ(item.media.at(0).path, item.cluster);
  }
  EXPECT_EQ(ids.size(), items.size());
  EXPECT_EQ(clusters.size(), 6U);
  EXPECT_EQ(items.front().group, "200 words");
}

TEST(FactDocument, RefusesATextThatIsTooShort) {
  EXPECT_THROW(factDocument(somethingToRead(), {4000, 0, 0}), Exception);
  EXPECT_THROW(factDocument(RunningText(std::vector<std::string>{}), {100, 0, 0}), Exception);
}

}  // namespace
}  // namespace winnow::app
