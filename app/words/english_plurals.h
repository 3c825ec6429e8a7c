// The English of counted things, for a program whose texts are written in English: "%n method(s)" becomes "1 method" or "3 methods".
//
// Installed by the program before any other translator; one for another language, installed later, is asked first. UI thread only.
#pragma once

class QCoreApplication;

namespace winnow::app {

void installEnglishPlurals(QCoreApplication& application);

}  // namespace winnow::app
