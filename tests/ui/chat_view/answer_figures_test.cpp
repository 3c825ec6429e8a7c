// What stands under an answer says why more was kept than was asked for.
#include "ui/chat_view/metric_chips.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/words/format_text.h"

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
  MessageMetrics metrics;
  metrics.keptShare = 0.22;
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
  MessageMetrics metrics;
  metrics.keptShare = 0.026;
  metrics.keptOf = QStringLiteral("the video");
  metrics.keptOfAll = 0.1;
  EXPECT_EQ(kept(metrics),
            app::formatShare(0.026) + QStringLiteral(" of the video kept, ") + app::formatShare(0.1) + QStringLiteral(" of everything"));
  metrics.keptOfAll = metrics.keptShare = 0.2;
  EXPECT_EQ(kept(metrics), app::formatShare(0.2) + QStringLiteral(" of the video kept"));
}

}  // namespace
}  // namespace winnow::ui
