// Words for a model that could not be fetched: error_text.h has the words for everything that is here already.
//
// Used by ui/shell. UI thread only (translations).
#pragma once

#include "app/downloads/download_fault.h"
#include "ui/words/error_text.h"

namespace winnow::ui {

// `name`: the model's, in short.
ErrorText describeDownloadFault(const app::DownloadFault& fault, const QString& name);

}  // namespace winnow::ui
