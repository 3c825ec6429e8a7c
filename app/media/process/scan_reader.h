// The text of pages that are pictures, by Tesseract, where it is installed (Debian: tesseract-ocr); only where somebody asks for it.
//
// Used by the terminal (--ocr) and the previews of the window. Tesseract is a program of its own, started for each page: it gets the page's
// picture, which the media process has drawn, on its standard input, and answers with words. It can read the system's folders alone, write
// no file and open no socket where the kernel lets it be held to that; memory and time are bounded, and the kernel ends it with the thread
// that started it. Errors: Exception kFileNotFound where Tesseract is missing, kUnsupportedFormat where it fails, takes too long, or finds
// no words; Interrupted. Threads: any.
#pragma once

#include <QString>
#include <functional>
#include <string>

#include "app/media/files/media_reader.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

QString tesseractProgram();  // first on the path; empty: it is not installed

// The languages that it reads, as it takes them ("deu+eng"): those that are installed where they are few, else English.
QString scannedLanguages(const InterruptToken& interrupt);

using PageScanned = std::function<void(int done, int pages)>;

// document: the file, and which of its pages. pages: of the file. The form of the text: app/media/files/scanned_text.h.
std::string scannedText(const MediaReader& reader, const MediaRequest& document, int pages, const PageScanned& progress,
                        const InterruptToken& interrupt);

}  // namespace winnow::app
