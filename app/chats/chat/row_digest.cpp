#include "app/chats/chat/row_digest.h"

#include <sqlite3.h>

#include <QByteArray>
#include <QCryptographicHash>
#include <QtEndian>

namespace winnow::app {
namespace {

// The first eight bytes of SHA-256 over each value's length and bytes: words that move from one column into the next change it.
void digest(sqlite3_context* context, int count, sqlite3_value** values) {
  QCryptographicHash hash(QCryptographicHash::Sha256);
  for (int i = 0; i < count; ++i) {
    const auto* bytes = static_cast<const char*>(sqlite3_value_blob(values[i]));
    const int size = sqlite3_value_bytes(values[i]);
    const qint64 length = qToBigEndian<qint64>(size);
    hash.addData(QByteArray::fromRawData(reinterpret_cast<const char*>(&length), sizeof length));
    if (size > 0) hash.addData(QByteArray::fromRawData(bytes, size));
  }
  sqlite3_result_int64(context, qFromBigEndian<qint64>(hash.result().constData()));
}

}  // namespace

int addRowDigest(sqlite3* connection) {
  // Innocuous: triggers may call it though the schema is not trusted.
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  return sqlite3_create_function_v2(connection, "winnow_digest", -1, kFlags, nullptr, digest, nullptr, nullptr, nullptr);
}

}  // namespace winnow::app
