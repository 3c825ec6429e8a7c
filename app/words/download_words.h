// How far a download is, as one line: "Downloading Qwen3-VL 8B: 1.6 GB of 6.2 GB, 24 MB a second, 3 min left".
//
// Used wherever one is shown. UI thread only (translations).
#pragma once

#include "app/library/downloads/download_queue.h"

namespace winnow::app {

QString downloadWords(const QueuedDownload& download);
// Below 0: nobody knows.
int downloadPercent(const QueuedDownload& download);
// "1.6 GB of 6.2 GB already downloaded."; empty: nothing has come.
QString comeWords(const QueuedDownload& download);

}  // namespace winnow::app
