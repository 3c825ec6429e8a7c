// Text from files, models and file names, made safe to look at.
//
// Used wherever text that nobody here wrote is shown. Bidirectional overrides, control characters and other invisible characters are made
// visible or dropped, so that a name or an answer cannot pretend to be something else. Tabs and line breaks stay. Not for copying: what is
// copied is the source. Any thread.
#pragma once

#include <QString>

namespace winnow::app {

QString displayText(QStringView text);

// A clause as a sentence, fit to be shown: "the source has ended" becomes "The source has ended."
QString sentenceOf(const QString& clause);

}  // namespace winnow::app
