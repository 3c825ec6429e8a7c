// What was on its way when the program ended: a small file in Winnow's data folder, `downloads.json`, a list of what was asked for.
//
// Written by the window whenever a download of the hub comes, ends or is given up; read at the next start, after a kill too. What has come
// of each lies where it is fetched to. What cannot be read or written counts as nothing. Touches the disk. Threads: any.
#pragma once

#include <QString>
#include <QStringList>

namespace winnow::app {

// data: AppFolders::data. Names as a person types them, at most kMostUnfinished.
inline constexpr int kMostUnfinished = 50;
QStringList unfinishedDownloads(const QString& data);
void noteUnfinishedDownloads(const QString& data, const QStringList& names);

}  // namespace winnow::app
