// What stands under an answer says why more was kept than was asked for.
#include "ui/chat_view/metric_chips.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ui/words/format_text.h"

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
  EXPECT_EQ(kept(metrics), formatShare(0.22) + QStringLiteral(" kept"));
  metrics.shortTextTokens = 256;
  metrics.keptOf = QStringLiteral("the video");
  EXPECT_EQ(kept(metrics), formatShare(0.22) + QStringLiteral(" of the video kept"));
  metrics.keptShare = 1.0;
  EXPECT_EQ(kept(metrics), QStringLiteral("All kept: short texts are not compressed"));
  metrics.nothingToJudge = true;
  EXPECT_EQ(kept(metrics), QStringLiteral("All kept: nothing is attached"));
  metrics = {};
  EXPECT_EQ(kept(metrics), formatShare(1.0) + QStringLiteral(" kept")) << "the full cache needs no reason";
}

}  // namespace
}  // namespace winnow::ui
