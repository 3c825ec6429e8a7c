// Times in an answer lead to the frames of its video.
#include "ui/chat_view/time_links.h"

#include <gtest/gtest.h>

#include "ui/chat_view/block_document.h"

namespace winnow::ui {
namespace {

// "It is at |0:15=15|."
std::string linked(const char* text, double upToS) {
  std::vector<TextRun> runs(1);
  runs[0].text = QString::fromUtf8(text);
  linkTimes(runs, upToS);
  QStringList told;
  for (const TextRun& run : runs)
    told << (run.href.isEmpty() ? run.text : run.text + QLatin1Char('=') + QString::number(timeOf(QUrl(run.href)).value_or(-1)));
  return told.join(u'|').toStdString();
}

TEST(TimeLinks, TimesOfTheVideoAreLinked) {
  EXPECT_EQ(linked("It is at 0:15.", 30), "It is at |0:15=15|.");
  EXPECT_EQ(linked("0:00–1:02:03", 4000), "0:00=0|–|1:02:03=3723");
  EXPECT_EQ(linked("0:31 and 0:30", 30), "0:31 and |0:30=30") << "there is no frame behind its end";
  EXPECT_EQ(linked("16:9, 1:234, 12:34:56:78, v1.10:30, 0:75", 1e9), "16:9, 1:234, 12:34:56:78, v1.10:30, 0:75");
  EXPECT_EQ(linked("", 30), "");
  std::vector<TextRun> code(1);
  code[0].text = QStringLiteral("0:15");
  code[0].code = true;
  linkTimes(code, 30);
  EXPECT_TRUE(code[0].href.isEmpty());
}

TEST(TimeLinks, AModelCannotWriteOne) {
  const BlockDocument told(QStringLiteral("[here](winnow-time:5) [there](https://example.org/) 0:05"), BlockStyle::kMarkdown, {{}, 30});
  ASSERT_EQ(told.links().size(), 2u);
  EXPECT_EQ(told.links()[0].address, QUrl(QStringLiteral("https://example.org/")));
  EXPECT_EQ(timeOf(told.links()[1].address), 5.0);
  const BlockDocument without(QStringLiteral("At 0:05."), BlockStyle::kMarkdown);
  EXPECT_TRUE(without.links().empty()) << "the chat has no video";
}

}  // namespace
}  // namespace winnow::ui
