#include "ui/chat_view/message_note.h"

#include <QCoreApplication>
#include <QStringList>

#include "app/words/error_text.h"

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

}  // namespace

QString noteOf(const MessageContent& content) {
  QStringList notes{content.noticed, endOf(content), content.chosenEarlier};
  notes.removeAll(QString());
  return notes.join(QLatin1Char('\n'));
}

std::optional<WayOn> wayOn(const MessageContent& content) {
  if (content.bare) return std::nullopt;
  if (content.canGoOn && (content.error || !endOf(content).isEmpty())) return WayOn{Action::kContinue, NoteWords::tr("Continue")};
  if (!content.chosenEarlier.isEmpty()) return WayOn{Action::kReadAgain, NoteWords::tr("Read again")};
  return std::nullopt;
}

QString remedyOf(const MessageContent& content) {
  const QString remedy = app::describeError(*content.error).remedy;
  const bool written = !content.text.isEmpty() || !content.thought.isEmpty();
  return written ? NoteWords::tr("What was written is kept.") + QLatin1Char(' ') + remedy : remedy;
}

}  // namespace winnow::ui
