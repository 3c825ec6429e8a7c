// The sentences about a model that could not be fetched; error_text.h has the words for everything that is here already.
//
// Used by ui/shell, ui/model_library and app/programs/cli. UI thread only (translations).
#pragma once

#include "app/library/downloads/download_fault.h"
#include "app/words/error_text.h"

namespace winnow::app {

// `name`: the model's, in short.
ErrorText describeDownloadFault(const DownloadFault& fault, const QString& name);

}  // namespace winnow::app
