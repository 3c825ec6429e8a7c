// The sentences about a download: how far it is, as one line ("Downloading Qwen3-VL 8B: 1.6 GB of 6.2 GB, 24 MB a second, 3 min left"), and
// why it failed.
//
// Used wherever one is shown. UI thread only (translations).
#pragma once

#include "app/library/downloads/download_fault.h"
#include "app/library/downloads/download_queue.h"
#include "app/words/error_text.h"

namespace winnow::app {

QString downloadWords(const QueuedDownload& download);
// Below 0: nobody knows.
int downloadPercent(const QueuedDownload& download);
// "1.6 GB of 6.2 GB already downloaded."; empty: nothing has come.
QString comeWords(const QueuedDownload& download);

// The sentences about a model that could not be fetched; error_text.h has the words for everything that is here already.

// `name`: the model's, in short.
ErrorText describeDownloadFault(const DownloadFault& fault, const QString& name);

}  // namespace winnow::app
