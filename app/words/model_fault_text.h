// Words for a model that could not be loaded: for the folder or file that was asked for, where error_text.h has general ones.
//
// Used by ui/shell. UI thread only (translations).
#pragma once

#include "app/words/error_text.h"

namespace winnow::app {

// Describes the fault of the model at `path`, which was asked for; bundled: it is the demo model that comes with Winnow.
ErrorText describeModelFault(const Error& error, const QString& path, bool bundled);
// The demo model was asked for, and is not there at all.
ErrorText describeMissingDemo();

}  // namespace winnow::app
