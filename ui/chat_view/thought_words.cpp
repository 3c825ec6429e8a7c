#include "ui/chat_view/thought_words.h"

#include <QCoreApplication>

#include "ui/words/format_text.h"

namespace winnow::ui {
namespace {

class ThoughtWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::ThoughtWords)
};

}  // namespace

QString thoughtLine(const MessageContent& content) {
  if (content.status == MessageStatus::kStreaming && content.text.isEmpty()) return ThoughtWords::tr("Thinking…");
  const MessageMetrics& metrics = content.metrics;
  if (metrics.thoughtTokens == 0) return ThoughtWords::tr("Thought");
  return ThoughtWords::tr("Thought for %1 · %Ln token(s)", nullptr, metrics.thoughtTokens).arg(formatMilliseconds(metrics.thoughtMs));
}

}  // namespace winnow::ui
