// Sentences for a folder of the chats that cannot be made or written to: the true cause and what to do.
//
// Used by ui/shell/window/notices.h. UI thread only (translations).
#pragma once

#include "app/ground/process/own_folder.h"
#include "app/words/error_text.h"

namespace winnow::app {

// Not of a folder that is as it should be. Its details are those of `error`, with which opening the chats failed.
ErrorText describeFolderFault(const FolderState& folder, const Error& error);

}  // namespace winnow::app
