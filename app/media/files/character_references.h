// HTML's character references ("&eacute;", "&#233;", "&#xE9;") as the characters that they stand for.
//
// Used by subtitle_markup.h. A reference ends with ";"; what is none stays as it is. Pure.
#pragma once

#include <QString>

namespace winnow::app {

// One pass, so that "&amp;lt;" is "&lt;".
QString withoutReferences(const QString& text);

}  // namespace winnow::app
