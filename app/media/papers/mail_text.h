// The words of a letter (.eml): who, to whom, when, about what, and its text. Attachments are named, not read.
//
// Used by papers.h. Of a letter that says the same in several forms the plain one is read. Errors: document_text.h; kLimitExceeded. Pure.
#pragma once

#include <QByteArray>
#include <string>

#include "app/media/papers/marked_text.h"

namespace winnow::app {

void readMail(const QByteArray& letter, const std::string& subject, MarkedText& into);

// "=?utf-8?Q?M=C3=BCller?= <m@example.org>" as people read it (RFC 2047).
QString decodedField(const QByteArray& value);

}  // namespace winnow::app
