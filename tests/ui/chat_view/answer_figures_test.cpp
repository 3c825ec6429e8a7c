// What stands under an answer says why more was kept than was asked for.
#include "ui/chat_view/answer_figures.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/words/format_text.h"
#include "ui/chat_view/message_geometry.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

// The chip about what was kept.
QString kept(const MessageMetrics& metrics) {
  MessageContent content;
  content.metrics = metrics;
  content.metrics.valid = true;
  const std::vector<QString> texts = metricTexts(content);
  const auto found = std::find_if(texts.begin(), texts.end(), [](const QString& text) { return text.contains(QStringLiteral("kept")); });
  return found == texts.end() ? QString() : *found;
}

TEST(MetricChips, SayWhyEverythingWasKept) {
  MessageMetrics metrics{.keptShare = 0.22};
  EXPECT_EQ(kept(metrics), app::formatShare(0.22) + QStringLiteral(" kept"));
  metrics.shortTextTokens = 256;
  metrics.keptShare = 1.0;
  EXPECT_EQ(kept(metrics), QStringLiteral("All kept: short texts are not compressed"));
  metrics.nothingToJudge = true;
  EXPECT_EQ(kept(metrics), QStringLiteral("All kept: nothing is attached"));
  metrics = {};
  EXPECT_EQ(kept(metrics), app::formatShare(1.0) + QStringLiteral(" kept")) << "the full cache needs no reason";
}

// "SnapKV · 10 %" kept 2.6 % of the video, because the text took the rest: each number says of what it is.
TEST(MetricChips, SayOfWhatTheShareIs) {
  MessageMetrics metrics{.keptShare = 0.026, .keptOf = QStringLiteral("the video"), .keptOfAll = 0.1};
  EXPECT_EQ(kept(metrics),
            app::formatShare(0.026) + QStringLiteral(" of the video kept, ") + app::formatShare(0.1) + QStringLiteral(" of everything"));
  metrics.keptOfAll = metrics.keptShare = 0.2;
  EXPECT_EQ(kept(metrics), app::formatShare(0.2) + QStringLiteral(" of the video kept"));
}

// What has no room leaves from the end of the figures; how the check came out stays.
TEST(FiguresLine, NamesAFewAndKeepsTheVerdict) {
  MessageContent content;
  MessageMetrics& m = content.metrics;
  m.valid = true;
  m.method = QStringLiteral("SnapKV · ") + app::formatShare(0.1);
  m.keptOf = QStringLiteral("the video");
  m.keptShare = m.keptOfAll = 0.1;
  m.ttftMs = 387;
  m.tokensPerS = 43;
  content.verdict = QStringLiteral("Same words");
  const QFontMetricsF font(theme().font(TextRole::kCaption));
  const QString first = app::formatMilliseconds(387), speed = app::formatSpeed(43);
  const QString dot = QStringLiteral(" · ");
  const FiguresLine wide = figuresLine(content, font, 10000);
  EXPECT_EQ(wide.figures, m.method + dot + first + dot + speed);
  EXPECT_EQ(wide.verdict, content.verdict);
  const qreal needed = font.horizontalAdvance(wide.figures) + verdictGap() + font.horizontalAdvance(wide.verdict);
  EXPECT_EQ(figuresLine(content, font, needed - 1).figures, m.method + dot + first);
  EXPECT_EQ(figuresLine(content, font, 10).figures, m.method);
  EXPECT_EQ(figuresLine(content, font, 10).verdict, content.verdict);
  // The method's own share is not what is left of the video: the line says both.
  m.keptShare = 0.026;
  EXPECT_TRUE(figuresLine(content, font, 10000).figures.contains(app::formatShare(0.026) + QStringLiteral(" of the video · ")));
}

}  // namespace
}  // namespace winnow::ui
