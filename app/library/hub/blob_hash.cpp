#include "app/library/hub/blob_hash.h"

#include "app/library/downloads/download_fault.h"
#include "app/library/downloads/file_hash.h"

namespace winnow::app {

QByteArray blobHashOf(const QString& path, BlobHash kind, const InterruptToken& interrupt,
                      const std::function<void(qint64 done)>& progress) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) throw DownloadError({DownloadProblem::kUnwritable, path, file.errorString()});
  QCryptographicHash hash(kind == BlobHash::kSha256 ? QCryptographicHash::Sha256 : QCryptographicHash::Sha1);
  if (kind == BlobHash::kGitBlob) {
    hash.addData("blob " + QByteArray::number(file.size()));
    hash.addData(QByteArrayView("\0", 1));
  }
  if (!addToHash(hash, file, interrupt, progress)) throw DownloadError({DownloadProblem::kUnwritable, path, file.errorString()});
  return hash.result().toHex();
}

}  // namespace winnow::app
