// Sentences for a folder of the chats that cannot be made or written to: the true cause and what to do.
//
// Used by ui/shell/storage_notice.h. UI thread only (translations).
#pragma once

#include "app/process/own_folder.h"
#include "ui/words/error_text.h"

namespace winnow::ui {

// Not of a folder that is as it should be. Its details are those of `error`, with which opening the chats failed.
ErrorText describeFolderFault(const app::FolderState& folder, const Error& error);

}  // namespace winnow::ui
