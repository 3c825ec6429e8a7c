// The one place where error codes become sentences for people: what happened, and what to do about it.
//
// Used by every view that shows an error. `details` is English and for reports: code, subject and reason as the engine gave them.
// Paths are shown with deceptive characters made visible. UI thread only (translations).
#pragma once

#include <QString>

#include "engine/base/error.h"

namespace winnow::app {

struct ErrorText {
  QString cause;      // one sentence
  QString remedy{};   // one or two sentences
  QString details{};  // "code 5 (damaged file) · clip.mp4 · the header claims 12 bytes more than the file has"
};

ErrorText describeError(const Error& error);
// About a source that was watched: no file that could be put back.
bool isLostSource(const Error& error);
// Words of a button for what can be done about its subject, after which the same can be tried again: a file that may lie elsewhere by now
// is found, an encrypted document's password is entered. Empty: nothing can.
QString repairOf(const Error& error);

// An error as it is stored with an answer or a comparison, "<code>: <subject>: <reason>", and back.
QString failureText(const Error& error);
Error parseFailure(ErrorCode code, const QString& failure);

}  // namespace winnow::app
