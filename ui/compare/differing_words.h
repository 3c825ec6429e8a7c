// Which words of an answer are not those of the answer that it is compared with.
//
// Used by comparison_model.h, also while both are being written: a word that may still grow is not judged, nor what the other has not
// reached. The first mark is the first word at which the texts part; the others are the words outside a longest common sequence. Texts
// whose product of words is beyond kMostCells are marked from their first to their last difference. UI thread only (translations).
#pragma once

#include <QString>
#include <vector>

#include "ui/chat_view/message_content.h"

namespace winnow::ui {

struct WrittenText {
  QString text;
  bool complete = true;
};

inline constexpr std::size_t kMostCells = 4'000'000;

// referenceName: what notes call the other ("Full cache").
std::vector<TextMark> differingWords(const WrittenText& answer, const WrittenText& reference, const QString& referenceName);

}  // namespace winnow::ui
