// Makes the messages of a TranscriptView readable for a screen reader: a list whose items are the messages, text included.
//
// Installed once by TranscriptView; nobody else calls it. UI thread only.
#pragma once

#include <QAccessible>

namespace winnow::ui {

void installTranscriptAccessibility();

}  // namespace winnow::ui
