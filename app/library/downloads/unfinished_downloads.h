// Downloads that were on their way when the program ended: a small file in Winnow's data folder, `downloads.json`, a list of what was asked
// for, how large it is and why it failed.
//
// Written by the window whenever a download of the hub comes, ends or is given up; read at the next start, after a kill too. What has come
// of each lies where it is fetched to. What cannot be read or written counts as nothing. Touches the disk. Threads: any.
#pragma once

#include <QString>
#include <vector>

#include "app/library/downloads/download_queue.h"

namespace winnow::app {

// data: AppFolders::data. Of each key, state (kPaused or kFailed), toCome and fault are kept; at most kMostUnfinished.
inline constexpr std::size_t kMostUnfinished = 50;
std::vector<QueuedDownload> unfinishedDownloads(const QString& data);
void noteUnfinishedDownloads(const QString& data, const std::vector<QueuedDownload>& downloads);

}  // namespace winnow::app
