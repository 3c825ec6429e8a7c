#include "app/hub/blob_hash.h"

#include <QCryptographicHash>
#include <QFile>

#include "app/downloads/download_fault.h"

namespace winnow::app {
namespace {

constexpr qint64 kHashedBytesAtOnce = qint64{1} << 20;

}  // namespace

QByteArray blobHashOf(const QString& path, BlobHash kind, const InterruptToken& interrupt,
                      const std::function<void(qint64 done)>& progress) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) throw DownloadError({DownloadProblem::kUnwritable, path, file.errorString()});
  QCryptographicHash hash(kind == BlobHash::kSha256 ? QCryptographicHash::Sha256 : QCryptographicHash::Sha1);
  if (kind == BlobHash::kGitBlob) {
    hash.addData("blob " + QByteArray::number(file.size()));
    hash.addData(QByteArrayView("\0", 1));
  }
  while (!file.atEnd()) {
    interrupt.throw_if_requested();
    const QByteArray piece = file.read(kHashedBytesAtOnce);
    if (piece.isEmpty()) throw DownloadError({DownloadProblem::kUnwritable, path, file.errorString()});
    hash.addData(piece);
    progress(file.pos());
  }
  return hash.result().toHex();
}

}  // namespace winnow::app
