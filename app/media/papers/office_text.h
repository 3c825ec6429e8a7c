// The words of text processors' documents: .docx and .odt, and LibreOffice's tables (.ods), by their XML.
//
// Used by papers.h. Qt's XML reader follows no reference out of a file and bounds what entities may grow to. Deleted words, comments and
// fields' codes are left out; tables keep their rows, headings their level. Errors: archive.h; kDamagedFile. Pure.
#pragma once

#include <QByteArray>
#include <string>

#include "app/media/papers/archive.h"
#include "app/media/papers/marked_text.h"

namespace winnow::app {

void readWordDocument(Archive& archive, MarkedText& into);
void readOpenDocument(Archive& archive, MarkedText& into);

// For QXmlStreamReader::hasError(). part: of the document.
[[noreturn]] void refuseXml(const std::string& path, const std::string& part, const QString& why);

}  // namespace winnow::app
