// The places of a Markdown source's marked words in the document that was made of it.
//
// Used by block_document.h. Words are followed from the beginning to the end; markup that is not shown is passed over. A word that cannot
// be found is left out. Linear in the text. Any thread.
#pragma once

#include <QString>
#include <vector>

#include "ui/chat_view/message_content.h"

namespace winnow::ui {

struct MarkPlace {
  int from = 0;  // positions of the document
  int to = 0;
  std::size_t mark = 0;  // index
};

// marks: of `source`, ascending. shown: the document's raw text, position by position.
std::vector<MarkPlace> placesOfMarks(QStringView source, const std::vector<TextMark>& marks, QStringView shown);

}  // namespace winnow::ui
