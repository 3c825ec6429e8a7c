#include "ui/chat_view/thought_words.h"

#include <QCoreApplication>

#include "app/words/format_text.h"

namespace winnow::ui {
namespace {

constexpr qsizetype kMostOfALine = 400;  // no window is wider

class ThoughtWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::ThoughtWords)
};

}  // namespace

bool thinks(const MessageContent& content) {
  return content.status == MessageStatus::kStreaming && content.text.isEmpty() && !content.thought.isEmpty();
}

QString lastThought(const MessageContent& content) {
  if (!thinks(content)) return {};
  const QStringView thought = QStringView(content.thought).trimmed();
  return thought.mid(thought.lastIndexOf(QLatin1Char('\n')) + 1).right(kMostOfALine).toString().simplified();
}

QString thoughtLine(const MessageContent& content) {
  using std::chrono::duration;
  const auto now = std::chrono::steady_clock::now();
  const double ms =
      content.thoughtBegan ? duration<double, std::milli>(content.thoughtEnded.value_or(now) - *content.thoughtBegan).count() : 0;
  if (thinks(content)) {
    return content.thoughtBegan ? ThoughtWords::tr("Thinking… %1 s").arg(static_cast<int>(ms / 1000)) : ThoughtWords::tr("Thinking…");
  }
  const MessageMetrics& metrics = content.metrics;
  if (metrics.thoughtTokens == 0 && ms > 0) return ThoughtWords::tr("Thought for %1").arg(app::formatMilliseconds(ms));
  if (metrics.thoughtTokens == 0) return ThoughtWords::tr("Thought");
  return ThoughtWords::tr("Thought for %1 · %Ln token(s)", nullptr, metrics.thoughtTokens).arg(app::formatMilliseconds(metrics.thoughtMs));
}

}  // namespace winnow::ui
