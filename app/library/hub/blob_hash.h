// The hash by which the hub names a file's bytes: SHA-256, or the id that git gives a blob.
//
// Used by hub_fetch.h and app/library/models/model_care.h. Errors: DownloadError(kUnwritable) of a file that cannot be read; Interrupted.
// Threads: any; takes a second for some 500 MB.
#pragma once

#include <QByteArray>
#include <QString>
#include <functional>

#include "app/library/hub/hub_repository.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

QByteArray blobHashOf(const QString& path, BlobHash kind, const InterruptToken& interrupt,
                      const std::function<void(qint64 done)>& progress);

}  // namespace winnow::app
