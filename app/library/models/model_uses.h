// When each model was loaded last: a small file in Winnow's data folder, `models-used.json`, {"path": milliseconds since 1970}.
//
// Written by the window and the terminal program when a model has been loaded, read by lists of models. What cannot be read or written
// counts as never: a list does without. Threads: any; two processes may lose each other's latest entry.
#pragma once

#include <QDateTime>
#include <QHash>
#include <QString>

namespace winnow::app {

// data: AppFolders::data. path: as it was loaded.
QHash<QString, QDateTime> modelUses(const QString& data);
void noteModelUse(const QString& data, const QString& path, const QDateTime& when);

}  // namespace winnow::app
