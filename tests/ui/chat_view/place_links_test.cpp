// Times in an answer lead to the frames of its video, pages to those of its paper.
#include "ui/chat_view/place_links.h"

#include <gtest/gtest.h>

#include "ui/chat_view/block_document.h"

namespace winnow::ui {
namespace {

// "It is at |0:15=15|." and "on |page 3=3|".
std::string linked(const char* text, const LinkedPlaces& places) {
  std::vector<TextRun> runs(1);
  runs[0].text = QString::fromUtf8(text);
  linkPlaces(runs, places);
  QStringList told;
  for (const TextRun& run : runs) {
    const QUrl link(run.href);
    const double place = timeOf(link) ? *timeOf(link) : pageOf(link).value_or(-1);
    told << (run.href.isEmpty() ? run.text : run.text + QLatin1Char('=') + QString::number(place));
  }
  return told.join(u'|').toStdString();
}

TEST(PlaceLinks, TimesOfTheVideoAreLinked) {
  EXPECT_EQ(linked("It is at 0:15.", {30}), "It is at |0:15=15|.");
  EXPECT_EQ(linked("0:00–1:02:03", {4000}), "0:00=0|–|1:02:03=3723");
  EXPECT_EQ(linked("0:31 and 0:30", {30}), "0:31 and |0:30=30") << "there is no frame behind its end";
  EXPECT_EQ(linked("16:9, 1:234, 12:34:56:78, v1.10:30, 0:75", {1e9}), "16:9, 1:234, 12:34:56:78, v1.10:30, 0:75");
  EXPECT_EQ(linked("", {30}), "");
  std::vector<TextRun> code(1);
  code[0].text = QStringLiteral("0:15");
  code[0].code = true;
  linkPlaces(code, {30});
  EXPECT_TRUE(code[0].href.isEmpty());
}

TEST(PlaceLinks, PagesOfThePaperAreLinked) {
  const LinkedPlaces paper{0, {3, 12}};
  EXPECT_EQ(linked("See page 12, not page 13 or page 2.", paper), "See |page 12=12|, not page 13 or page 2.");
  EXPECT_EQ(linked("(p. 3; pp. 4–6, Page 7) [page 8]", paper), "(|p. 3=3|; |pp. 4–6=4|, |Page 7=7|) [|page 8=8|]");
  EXPECT_EQ(linked("pages 3-7 of 12", paper), "pages 3-7=3| of 12");
  EXPECT_EQ(linked("homepage 5, p 5, page 5.2, page 5%, page five, 5 pages, page-5", paper),
            "homepage 5, p 5, page 5.2, page 5%, page five, 5 pages, page-5");
  EXPECT_EQ(linked("page 4 at 0:15", {30, {1, 9}}), "page 4=4| at |0:15=15") << "a paper and a video";
  EXPECT_EQ(linked("page 4 at 0:15", paper), "page 4=4| at 0:15");
  EXPECT_EQ(linked("page 4", {30}), "page 4") << "there is no paper";
  EXPECT_EQ(linkText(QUrl(QStringLiteral("winnow-page:4"))), QStringLiteral("Show page 4"));
}

TEST(PlaceLinks, AModelCannotWriteOne) {
  const BlockDocument told(QStringLiteral("[here](winnow-time:5) [there](https://example.org/) 0:05 [so](winnow-page:5)"),
                           BlockStyle::kMarkdown, {{}, {30, {1, 9}}});
  ASSERT_EQ(told.links().size(), 2u);
  EXPECT_EQ(told.links()[0].address, QUrl(QStringLiteral("https://example.org/")));
  EXPECT_EQ(timeOf(told.links()[1].address), 5.0);
  const BlockDocument without(QStringLiteral("At 0:05, on page 3."), BlockStyle::kMarkdown);
  EXPECT_TRUE(without.links().empty()) << "the chat has neither";
}

}  // namespace
}  // namespace winnow::ui
