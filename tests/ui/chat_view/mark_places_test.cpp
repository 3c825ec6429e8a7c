// Marked words of a source are found in the document that Markdown makes of it.
#include "ui/chat_view/mark_places.h"

#include <gtest/gtest.h>

#include "ui/chat_view/agreement_marks.h"
#include "ui/chat_view/block_document.h"

namespace winnow::ui {
namespace {

// Marks the words of `source` with these numbers; what the document shows at the places found, joined.
std::string shown(const QString& source, std::vector<std::size_t> numbers) {
  BlockDocument document(source, BlockStyle::kMarkdown);
  const QString text = document.textBetween(0, document.length());
  const std::vector<WordRange> words = wordsOf(source);
  std::vector<TextMark> marks;
  for (const std::size_t number : numbers) marks.push_back({words.at(number).from, words.at(number).length, TextMark::Kind::kDiffers, {}});
  std::string joined;
  for (const MarkPlace& place : placesOfMarks(source, marks, text)) {
    joined += text.mid(place.from, place.to - place.from).toStdString();
    joined += '|';
  }
  return joined;
}

TEST(MarkPlaces, WordsInMarkupAreFoundWithoutIt) {
  EXPECT_EQ(shown(QStringLiteral("The star is **red**. It is `small`."), {3, 6}), "red.|small.|");
  EXPECT_EQ(shown(QStringLiteral("## The *red* star"), {2, 3}), "red|star|");
  EXPECT_EQ(shown(QStringLiteral("- a red star\n- a blue circle\n"), {2, 6}), "red|blue|");
}

TEST(MarkPlaces, TheSecondOfTwoEqualWordsIsTheSecond) {
  const QString source = QStringLiteral("red star red circle red card");
  BlockDocument document(source, BlockStyle::kMarkdown);
  const auto places = placesOfMarks(source, {{9, 3, TextMark::Kind::kDiffers, {}}}, document.textBetween(0, document.length()));
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].from, 9);
  EXPECT_EQ(places[0].to, 12);
}

TEST(MarkPlaces, CellsOfTablesAreFound) {
  EXPECT_EQ(shown(QStringLiteral("| scene | thing |\n|---|---|\n| 1 | red star |\n| 2 | blue circle |\n"), {9, 16}), "red|circle|");
}

TEST(MarkPlaces, MarkupAloneIsLeftOut) { EXPECT_EQ(shown(QStringLiteral("one **two**\n\n---\n"), {2}), ""); }

TEST(MarkPlaces, ADocumentDrawsAndTellsItsMarks) {
  const QString source = QStringLiteral("The star is **red** and blue.");
  BlockDocument document(source, BlockStyle::kMarkdown);
  document.setMarks(source, {{12, 7, TextMark::Kind::kFirst, QStringLiteral("note")}, {24, 5, TextMark::Kind::kDiffers, {}}});
  document.setWidth(600);
  const QRectF first = document.markRect(0);
  ASSERT_FALSE(first.isEmpty());
  EXPECT_EQ(document.markAt(first.center()), 0);
  EXPECT_EQ(document.markAt(document.markRect(1).center()), 1);
  EXPECT_EQ(document.markAt(QPointF(2, first.center().y())), -1);
  EXPECT_EQ(document.textBetween(0, document.length()), QStringLiteral("The star is red and blue.")) << "marks change no text";
}

TEST(AgreementMarks, CarryBothProbabilitiesAndTheOtherWord) {
  Agreement agreement{.tokens = 6, .top1 = 0.9996, .differences = {{2, "blue", "red", 0.41, 0.07, 0.82}, {3, "", "and", 0.5, 0.2, 0.6}}};
  const QString text = QStringLiteral(" The star\nblue.");
  const std::vector<TextMark> marks = agreementMarks(text, agreement);
  ASSERT_EQ(marks.size(), 1u) << "what differs at the end is told at the last word";
  EXPECT_EQ(text.mid(marks[0].from, marks[0].length), QStringLiteral("blue."));
  for (const char* part : {"41", "7", "82", "red", "60", "and"}) EXPECT_TRUE(marks[0].note.contains(QLatin1String(part))) << part;
  EXPECT_FALSE(agreementShare(agreement).startsWith(QStringLiteral("100"))) << "not every choice is the same";
  EXPECT_TRUE(agreementMarks(QString(), agreement).empty());
}

}  // namespace
}  // namespace winnow::ui
