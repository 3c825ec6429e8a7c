#include "ui/chat_view/message_note.h"

#include <QCoreApplication>

namespace winnow::ui {
namespace {

class NoteWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::NoteWords)
};

}  // namespace

QString noteOf(const MessageContent& content) {
  if (content.cutAtTokens > 0) {
    const bool thoughtOnly = content.text.trimmed().isEmpty() && !content.thought.isEmpty();
    return thoughtOnly ? NoteWords::tr("The limit of %Ln token(s) was spent on thinking, and no answer came.", nullptr, content.cutAtTokens)
                       : NoteWords::tr("Stopped at the limit of %Ln token(s).", nullptr, content.cutAtTokens);
  }
  if (!content.noticed.isEmpty()) return content.noticed;
  const bool nothing = content.text.isEmpty() && content.thought.isEmpty();
  if (content.status == MessageStatus::kInterrupted)
    return nothing ? NoteWords::tr("Stopped before the first word.") : NoteWords::tr("Stopped here. The answer so far is kept.");
  if (content.status == MessageStatus::kAbandoned)
    return nothing ? NoteWords::tr("Winnow was closed before the first word.") : NoteWords::tr("Winnow was closed while this was written.");
  if (content.status == MessageStatus::kFailed && content.canGoOn) return NoteWords::tr("The answer so far is kept.");
  if (content.status == MessageStatus::kComplete && content.speaker == Speaker::kAssistant && content.text.trimmed().isEmpty())
    return nothing ? NoteWords::tr("The model ended without a word.")
                   : NoteWords::tr("The model ended with its thoughts, without an answer.");
  return {};
}

QString wayOn(const MessageContent& content) {
  return content.bare || !content.canGoOn || noteOf(content).isEmpty() ? QString() : NoteWords::tr("Continue");
}

}  // namespace winnow::ui
