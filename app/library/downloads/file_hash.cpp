#include "app/library/downloads/file_hash.h"

namespace winnow::app {
namespace {

constexpr qint64 kHashedAtOnce = qint64{1} << 20;

}  // namespace

bool addToHash(QCryptographicHash& hash, QFile& file, const InterruptToken& interrupt, const std::function<void(qint64 done)>& progress) {
  while (!file.atEnd()) {
    interrupt.throw_if_requested();
    const QByteArray piece = file.read(kHashedAtOnce);
    if (piece.isEmpty()) return false;
    hash.addData(piece);
    progress(file.pos());
  }
  return true;
}

}  // namespace winnow::app
