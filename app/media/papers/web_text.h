// The words of web pages and books: .html by libxml2's reader of real-world HTML, .epub as the pages that it is made of.
//
// Used by papers.h and mail_text.h. Nothing that a page names is fetched, no script is run. Errors: archive.h, document_text.h. Pure.
#pragma once

#include <QByteArray>
#include <string>

#include "app/media/files/document_text.h"
#include "app/media/papers/archive.h"
#include "app/media/papers/marked_text.h"

namespace winnow::app {

// encoding: as readText() takes it; empty: as the page says, else by its bytes. Returns how the bytes were read, without the words.
DocumentText readWebPage(TextBytes bytes, const std::string& encoding, const std::string& subject, MarkedText& into);

void readBook(Archive& archive, MarkedText& into);

}  // namespace winnow::app
