#include "ui/chat_view/metric_chips.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "app/words/format_text.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr double kEverything = 0.9995;

class ChipWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::ChipWords)
};

// And why it is more than was asked for, where nothing was compressed in this turn.
QString keptText(const MessageMetrics& m) {
  const bool all = m.keptShare >= kEverything;
  if (all && m.nothingToJudge) return ChipWords::tr("All kept: nothing is attached");
  if (all && m.shortTextTokens > 0) return ChipWords::tr("All kept: short texts are not compressed");
  const QString share = app::formatShare(m.keptShare);
  const QString kept = m.keptOf.isEmpty() ? ChipWords::tr("%1 kept").arg(share) : ChipWords::tr("%1 of %2 kept").arg(share, m.keptOf);
  const QString ofAll = app::formatShare(m.keptOfAll);
  return all || m.keptOf.isEmpty() || ofAll == share ? kept : ChipWords::tr("%1, %2 of everything").arg(kept, ofAll);
}

}  // namespace

std::vector<QString> metricTexts(const MessageContent& content) {
  std::vector<QString> texts;
  const MessageMetrics& m = content.metrics;
  if (!m.valid) return texts;
  if (!content.checked.isEmpty()) texts.push_back(content.checked);
  if (!m.byServer) texts.push_back(m.method);
  if (!m.byServer && !m.ofNew.isEmpty()) texts.push_back(ChipWords::tr("New files: %1").arg(m.ofNew));
  texts.push_back(ChipWords::tr("%1 to first word").arg(app::formatMilliseconds(m.ttftMs)));
  if (m.tokensPerS > 0) texts.push_back(app::formatSpeed(m.tokensPerS));
  if (m.thoughtTokens > 0)
    texts.push_back(ChipWords::tr("Thought for %1, %Ln token(s)", nullptr, m.thoughtTokens).arg(app::formatMilliseconds(m.thoughtMs)));
  if (m.byServer) {
    // How many words a prompt has is no measure of a server that told nothing.
    if (m.promptTokens > 0)
      texts.push_back(
          ChipWords::tr("%1 of %Ln prompt token(s) from its cache", nullptr, static_cast<int>(m.promptTokens)).arg(m.cachedTokens));
    return texts;
  }
  texts.push_back(keptText(m));
  texts.push_back(m.answerBytes > 0
                      ? ChipWords::tr("Cache %1 of %2, answer %3")
                            .arg(app::formatBytes(m.kvBytes), app::formatBytes(m.kvFullBytes), app::formatBytes(m.answerBytes))
                      : ChipWords::tr("Cache %1 of %2").arg(app::formatBytes(m.kvBytes), app::formatBytes(m.kvFullBytes)));
  return texts;
}

std::vector<QRectF> chipRects(const std::vector<QString>& texts, const QPointF& origin, qreal width) {
  const QFontMetricsF metrics(theme().font(TextRole::kCaption));
  const qreal height = metrics.height() + theme().px(6);
  std::vector<QRectF> rects;
  qreal x = 0, y = 0;
  for (const QString& text : texts) {
    const qreal w = std::ceil(metrics.horizontalAdvance(text)) + theme().px(16);
    if (x > 0 && x + w > width) {
      x = 0;
      y += height + theme().px(4);
    }
    rects.emplace_back(origin.x() + x, origin.y() + y, std::min(w, width), height);
    x += w + theme().px(6);
  }
  return rects;
}

}  // namespace winnow::ui
