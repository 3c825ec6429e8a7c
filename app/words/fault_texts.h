// Sentences for what could not be used, by what it is: a model, a folder of the chats, a source that is watched. error_text.h has the
// general ones.
//
// Used by ui/shell. UI thread only (translations).
#pragma once

#include "app/ground/process/own_folder.h"
#include "app/words/error_text.h"

namespace winnow::app {

// Describes the fault of the model at `path`, which was asked for; bundled: it is the demo model that comes with Winnow.
ErrorText describeModelFault(const Error& error, const QString& path, bool bundled);
// The demo model was asked for, and is not there at all.
ErrorText describeMissingDemo();

// Sentences for a folder of the chats that cannot be made or written to: the true cause and what to do.

// Not of a folder that is as it should be. Its details are those of `error`, with which opening the chats failed.
ErrorText describeFolderFault(const FolderState& folder, const Error& error);

// Words for a source that could not be watched, or not any longer: error_text.h has the words for files and answers.

// `source`: what was watched, as the user named it.
ErrorText describeWatchFault(const Error& error, const QString& source);

}  // namespace winnow::app
