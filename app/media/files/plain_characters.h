// A text without the characters that steer a typewriter or a terminal.
//
// Used by document_text.h. Pure.
#pragma once

#include <QString>

namespace winnow::app {

// Lines end in "\n", whatever ended them. A character that is struck over by another ("N" backspace "N", "_" backspace "x") is that one.
// Sequences of a terminal (colours) and other control characters are left out, inside a text with a space for them.
// Returns how many characters were left out for that they are controls.
qsizetype makePlain(QString& text);

// Control characters that no text has, by their number; what is binary has many. Those at its end do not count, unless there is nothing
// else.
qsizetype countBinary(const QString& text);

}  // namespace winnow::app
