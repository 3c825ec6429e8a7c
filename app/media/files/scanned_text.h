// The form of a text that was read from pictures of pages: how its file is named, and how its pages are found in it.
//
// Written by app/media/process/scan_reader.h, read where a request names such a file as the text of its document. A page begins with a line
// that names it and says who read it, so that whoever reads the text, the model too, knows that it may have mistakes. Pure.
#pragma once

#include <string>

#include "app/media/files/document_text.h"

namespace winnow::app {

inline constexpr const char* kScannedText = ".scan.txt";

std::string scannedMark(int page);  // "[page 3, read by Tesseract]" and the end of its line

// Finds its pages: how many, and where they begin.
void notePages(DocumentText& text);

}  // namespace winnow::app
