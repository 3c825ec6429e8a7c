// How far an answer is what the full cache would have said, in words for people: marks in its text and one line under it.
//
// Used by ui/shell for answers that were checked and by ui/compare. UI thread only (translations).
#pragma once

#include <cstdint>

#include "engine/metrics/agreement.h"
#include "ui/chat_view/message_content.h"

namespace winnow::ui {

struct WordRange {
  qsizetype from = 0;
  qsizetype length = 0;
};
// Words as the engine counts them: what stands between white space.
std::vector<WordRange> wordsOf(const QString& text);

// The words at which the top choices differ, with both probabilities and the full cache's word as their notes.
std::vector<TextMark> agreementMarks(const QString& text, const Agreement& agreement);
// "96.4 % the same as without compression". unread: tokens that its cache and the full one were never given (TokenCounts::unread).
QString agreementText(const Agreement& agreement, std::int64_t unread);
// The same in two words, "Same words" or "2 words differ". differing: words that are marked.
QString verdictText(const Agreement& agreement, std::size_t differing);
// For tool tips: "KL divergence from the full cache: 0.012 nats per token"
QString divergenceText(const Agreement& agreement);
QString agreementShare(const Agreement& agreement);  // "96.4 %"; 100 only where every choice is the same

}  // namespace winnow::ui
