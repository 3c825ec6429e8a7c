// Words for a source that could not be watched, or not any longer: error_text.h has the words for files and answers.
//
// Used by ui/shell. UI thread only (translations).
#pragma once

#include "app/words/error_text.h"

namespace winnow::app {

// `source`: what was watched, as the user named it.
ErrorText describeWatchFault(const Error& error, const QString& source);

}  // namespace winnow::app
