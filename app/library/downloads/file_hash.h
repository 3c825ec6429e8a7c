// The bytes of a file, put into a hash, for files of gigabytes.
//
// Used by model_folder.h and app/library/hub/hub_repository.h. Errors: Interrupted. Threads: any; takes a second for some 500 MB.
#pragma once

#include <QCryptographicHash>
#include <QFile>
#include <functional>

#include "engine/base/interrupt.h"

namespace winnow::app {

// From where the file is read next to its end. False: it cannot be read (QFile::errorString()).
bool addToHash(QCryptographicHash& hash, QFile& file, const InterruptToken& interrupt, const std::function<void(qint64 done)>& progress);

}  // namespace winnow::app
