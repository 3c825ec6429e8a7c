#include "app/ground/notices/cache_note_text.h"

#include <QtGlobal>

#define SAY(text) QT_TRANSLATE_NOOP("winnow::app::NoticeTexts", text)

namespace winnow::app {

const char* cacheNotePattern(CompressionNote note) {
  switch (note) {
    case CompressionNote::kFallbackRows:
      return SAY("no text followed the attachment, so its last tokens decided what to keep");
    case CompressionNote::kRaisedToFloor:
      return SAY("kept more than asked: the method protects some tokens");
    case CompressionNote::kNonFinite:
      return SAY("some attention values were not finite and were left out");
    case CompressionNote::kPinsAboveBudget:
      return SAY("kept more than asked: the pinned parts alone need more");
    case CompressionNote::kShortText:
      return SAY("not compressed: text of fewer than %1 tokens stays whole");
    case CompressionNote::kThreadReadAgain:
      return SAY("this model's chat template rewrites earlier answers, so the chat is read again for each question");
    case CompressionNote::kSystemJoinsQuestion:
      return SAY("this model's chat template has no system prompt, so it was put before the first question");
  }
  return SAY("it did something that this version has no words for");
}

std::string cacheNoteText(CompressionNote note, int shortTextTokens) {
  std::string text = cacheNotePattern(note);
  const std::size_t at = text.find("%1");
  if (at != std::string::npos) text.replace(at, 2, std::to_string(shortTextTokens));
  return text;
}

}  // namespace winnow::app
