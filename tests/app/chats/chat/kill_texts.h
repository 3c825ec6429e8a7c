// Texts that both sides of the kill test can work out from a number.
#pragma once

#include <QString>

#include "app/chats/chat/conversation.h"

namespace winnow::app {

inline QString questionText(int number) { return QStringLiteral("question %1 \u00e9\u6f22 \"; DROP TABLE message;--").arg(number); }

inline QString streamedText(MessageId answer, int length) {
  const QString word = QStringLiteral("%1 w\u00f6rds ").arg(answer);
  return word.repeated(length / static_cast<int>(word.size()) + 1).left(length);
}

inline Comparison comparisonOf(MessageId question) {
  Comparison comparison{.question = question};
  comparison.columns.resize(3);
  for (int place = 0; place < 3; ++place) {
    ComparedAnswer& answer = comparison.columns[static_cast<std::size_t>(place)];
    answer.state = ColumnState::kAnswered;
    answer.text = streamedText(question + place, 900 * (place + 1));
  }
  return comparison;
}

}  // namespace winnow::app
