// The model's description of media for itself, as sentences with the frames that they are about.
//
// Used by ui/composer/description_dialog.h. Pure; any thread.
#pragma once

#include <QList>
#include <QString>
#include <vector>

#include "engine/messages/events.h"

namespace winnow::ui {

struct DescribedSentence {
  QString text;
  int media = -1;  // that most of its words are about; -1: none
  int frame = -1;  // of a video
};

// Cut after full stops, question and exclamation marks, line ends, and commas, semicolons and colons: an enumeration has a frame for each
// of its things.
QList<DescribedSentence> sentencesOf(const Description& description);

}  // namespace winnow::ui
