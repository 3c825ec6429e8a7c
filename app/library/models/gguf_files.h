// The files on a disk that make one GGUF model: its parts, and the projectors of pictures beside it.
//
// Used by found_models.h and model_care.h. Errors: none. Looking beside touches the disk. Threads: any.
#pragma once

#include <QStringList>

namespace winnow::app {

// All parts of a split model by its first part, there or not; a file that is not split is its only part. Empty: a later part.
QStringList ggufParts(const QString& path);
QStringList projectorsBeside(const QString& path);

}  // namespace winnow::app
