#include "ui/chat_view/message_note.h"

#include <QCoreApplication>
#include <QStringList>

#include "app/words/error_text.h"
#include "app/words/format_text.h"

namespace winnow::ui {
namespace {

class NoteWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::NoteWords)
};

// The reason why an answer is not whole.
QString endOf(const MessageContent& content) {
  if (content.cutAtTokens > 0) {
    const bool thoughtOnly = content.text.trimmed().isEmpty() && !content.thought.isEmpty();
    return thoughtOnly ? NoteWords::tr("The limit of %Ln token(s) was spent on thinking, and no answer came.", nullptr, content.cutAtTokens)
                       : NoteWords::tr("Stopped at the limit of %Ln token(s).", nullptr, content.cutAtTokens);
  }
  const bool nothing = content.text.isEmpty() && content.thought.isEmpty();
  if (content.status == MessageStatus::kInterrupted)
    return nothing ? NoteWords::tr("Stopped before the first word.") : NoteWords::tr("Stopped here. The answer so far is kept.");
  if (content.status == MessageStatus::kAbandoned)
    return nothing ? NoteWords::tr("Winnow was closed before the first word.") : NoteWords::tr("Winnow was closed while this was written.");
  if (content.status == MessageStatus::kComplete && content.speaker == Speaker::kAssistant && content.text.trimmed().isEmpty())
    return nothing ? NoteWords::tr("The model ended without a word.")
                   : NoteWords::tr("The model stopped after its thoughts, without an answer.");
  return {};
}

constexpr qsizetype kMostOfALine = 400;  // no window is wider

class ThoughtWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::ThoughtWords)
};

}  // namespace

QString noteOf(const MessageContent& content) {
  QStringList notes{content.noticed, endOf(content), content.chosenEarlier, content.fromPart};
  notes.removeAll(QString());
  return notes.join(QLatin1Char('\n'));
}

std::optional<WayOn> wayOn(const MessageContent& content) {
  if (content.bare) return std::nullopt;
  if (content.canGoOn && (content.error || !endOf(content).isEmpty())) return WayOn{Action::kContinue, NoteWords::tr("Continue")};
  if (!content.chosenEarlier.isEmpty()) return WayOn{Action::kReadAgain, NoteWords::tr("Read again")};
  if (!content.fromPart.isEmpty()) return WayOn{Action::kReadAll, NoteWords::tr("Answer from all frames")};
  return std::nullopt;
}

QString remedyOf(const MessageContent& content) {
  const QString remedy = app::describeError(*content.error).remedy;
  const bool written = !content.text.isEmpty() || !content.thought.isEmpty();
  return written ? NoteWords::tr("What was written is kept.") + QLatin1Char(' ') + remedy : remedy;
}

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
