#include "ui/chat_view/answer_figures.h"

#include <QCoreApplication>
#include <QStringList>

#include "app/words/format_text.h"
#include "ui/chat_view/message_geometry.h"

namespace winnow::ui {
namespace {

constexpr double kEverything = 0.9995;

class FigureWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::FigureWords)
};

// And why it is more than was asked for, where nothing was compressed in this turn.
QString keptText(const MessageMetrics& m) {
  const bool all = m.keptShare >= kEverything;
  if (all && m.nothingToJudge) return FigureWords::tr("All kept: nothing is attached");
  if (all && m.shortTextTokens > 0) return FigureWords::tr("All kept: short texts are not compressed");
  const QString share = app::formatShare(m.keptShare);
  const QString kept = m.keptOf.isEmpty() ? FigureWords::tr("%1 kept").arg(share) : FigureWords::tr("%1 of %2 kept").arg(share, m.keptOf);
  const QString ofAll = app::formatShare(m.keptOfAll);
  return all || m.keptOf.isEmpty() || ofAll == share ? kept : FigureWords::tr("%1, %2 of everything").arg(kept, ofAll);
}

bool isWhole(const MessageMetrics& m) { return m.keptShare >= kEverything; }

// "2.6 % of the video".
QString shareText(const MessageMetrics& m) { return FigureWords::tr("%1 of %2").arg(app::formatShare(m.keptShare), m.keptOf); }

// The share in the method's name is what was kept of the attachments, and nothing else is to be said of it.
bool saysItsShare(const MessageMetrics& m) {
  const QString share = app::formatShare(m.keptShare);
  if (isWhole(m)) return !m.nothingToJudge && m.shortTextTokens == 0;
  return m.method.endsWith(share);
}

}  // namespace

std::vector<QString> metricTexts(const MessageContent& content) {
  std::vector<QString> texts;
  const MessageMetrics& m = content.metrics;
  if (!m.valid) return texts;
  if (!content.checked.isEmpty()) texts.push_back(content.checked);
  if (!m.byServer) texts.push_back(m.method);
  if (!m.byServer && !m.ofNew.isEmpty()) texts.push_back(FigureWords::tr("New files: %1").arg(m.ofNew));
  texts.push_back(FigureWords::tr("%1 to first word").arg(app::formatMilliseconds(m.ttftMs)));
  if (m.tokensPerS > 0) texts.push_back(app::formatSpeed(m.tokensPerS));
  if (m.thoughtTokens > 0)
    texts.push_back(FigureWords::tr("Thought for %1, %Ln token(s)", nullptr, m.thoughtTokens).arg(app::formatMilliseconds(m.thoughtMs)));
  if (m.byServer) {
    // How many words a prompt has is no measure of a server that told nothing.
    if (m.promptTokens > 0)
      texts.push_back(
          FigureWords::tr("%1 of %Ln prompt token(s) from its cache", nullptr, static_cast<int>(m.promptTokens)).arg(m.cachedTokens));
    return texts;
  }
  texts.push_back(keptText(m));
  texts.push_back(m.answerBytes > 0
                      ? FigureWords::tr("Cache %1 of %2, answer %3")
                            .arg(app::formatBytes(m.kvBytes), app::formatBytes(m.kvFullBytes), app::formatBytes(m.answerBytes))
                      : FigureWords::tr("Cache %1 of %2").arg(app::formatBytes(m.kvBytes), app::formatBytes(m.kvFullBytes)));
  return texts;
}

QString figuresHelp(const MessageContent& content) {
  QStringList all;
  for (const QString& text : metricTexts(content)) all << text;
  if (!content.divergence.isEmpty()) all << content.divergence;
  return all.join(QLatin1Char('\n'));
}

FiguresLine figuresLine(const MessageContent& content, const QFontMetricsF& font, qreal width) {
  const MessageMetrics& m = content.metrics;
  FiguresLine line;
  if (!m.valid) return line;
  line.verdict = content.verdict;
  QStringList parts;
  if (!m.byServer) {
    parts << m.method;
    if (!saysItsShare(m)) parts << (isWhole(m) || m.keptOf.isEmpty() ? keptText(m) : shareText(m));
  }
  parts << app::formatMilliseconds(m.ttftMs);
  if (m.tokensPerS > 0) parts << app::formatSpeed(m.tokensPerS);
  const qreal beside = line.verdict.isEmpty() ? 0 : font.horizontalAdvance(line.verdict) + verdictGap();
  const auto joined = [&parts] { return parts.join(QStringLiteral(" · ")); };
  while (parts.size() > 1 && font.horizontalAdvance(joined()) + beside > width) parts.removeLast();
  line.figures = joined();
  return line;
}

}  // namespace winnow::ui
