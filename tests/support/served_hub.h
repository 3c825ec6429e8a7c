// A hub on this machine for tests: repositories as the Hugging Face hub answers for them, with a storage host of its own, which tests make
// misbehave.
#pragma once

#include <QCryptographicHash>
#include <QString>
#include <vector>

#include "app/library/hub/hub_download.h"
#include "tests/support/loopback_server.h"

namespace winnow::test {

struct HubServedFile {
  QString path;
  QByteArray bytes;
  bool large = true;  // in the storage, by SHA-256
};

class ServedHub {
 public:
  ServedHub() { serve(); }

  static QByteArray hashOf(const HubServedFile& file) {
    if (file.large) return QCryptographicHash::hash(file.bytes, QCryptographicHash::Sha256).toHex();
    QByteArray blob = "blob " + QByteArray::number(file.bytes.size());
    blob.append('\0');
    return QCryptographicHash::hash(blob + file.bytes, QCryptographicHash::Sha1).toHex();
  }

  QString revisionPath() const { return QStringLiteral("/api/models/%1/revision/main").arg(repository); }
  QString treePath() const { return QStringLiteral("/api/models/%1/tree/%2?recursive=true").arg(repository, commit); }
  QString resolvePath(const QString& path) const { return QStringLiteral("/%1/resolve/%2/%3").arg(repository, commit, path); }
  static QString storedPath(const HubServedFile& file) { return QStringLiteral("/storage/") + QString::fromLatin1(hashOf(file)); }
  // Where a large file's bytes come from.
  ServedFile& stored(qsizetype index = 0) { return storage.files[storedPath(files[static_cast<std::size_t>(index)])]; }
  ServedFile& resolved(qsizetype index = 0) { return hub.files[resolvePath(files[static_cast<std::size_t>(index)].path)]; }

  // From now on this is what the hub has.
  void serve() {
    hub.files.clear();
    storage.files.clear();
    hub.files[revisionPath()].body = revision();
    hub.files[treePath()].body = tree();
    for (const HubServedFile& file : files) {
      ServedFile& answer = hub.files[resolvePath(file.path)];
      answer.headers = "X-Repo-Commit: " + commit.toLatin1() + "\r\n";
      if (file.large) {
        answer.status = 302;
        answer.location = storage.address(storedPath(file)).toLatin1();
        answer.headers += "X-Linked-Etag: \"" + hashOf(file) + "\"\r\nX-Linked-Size: " + QByteArray::number(file.bytes.size()) + "\r\n";
        storage.files[storedPath(file)].body = file.bytes;
      } else {
        answer.body = file.bytes;
        answer.headers += "ETag: \"" + hashOf(file) + "\"\r\nContent-Type: text/plain; charset=utf-8\r\n";
      }
    }
  }
  QByteArray revision() const {
    return "{\"id\":\"" + repository.toLatin1() + "\",\"sha\":\"" + commit.toLatin1() +
           "\",\"gated\":false,\"cardData\":{\"license\":\"apache-2.0\"}" +
           (gguf.isEmpty() ? QByteArray() : ",\"gguf\":{\"architecture\":\"" + gguf + "\"}") + "}";
  }
  QByteArray tree() const {
    QByteArray list = R"([{"type":"directory","oid":"1111111111111111111111111111111111111111","size":0,"path":"folder"})";
    for (const HubServedFile& file : files) {
      const QByteArray size = QByteArray::number(file.bytes.size());
      list += ",{\"type\":\"file\",\"path\":\"" + file.path.toUtf8() + "\",\"size\":" + size;
      list += file.large ? ",\"oid\":\"" + QByteArray(40, '2') + "\",\"lfs\":{\"oid\":\"" + hashOf(file) + "\",\"size\":" + size +
                               ",\"pointerSize\":134}}"
                         : ",\"oid\":\"" + hashOf(file) + "\"}";
    }
    return list + "]";
  }

  // Allowed to ask this machine in plain HTTP; in no hurry and with room enough.
  app::HubRequest request(const QString& cache, const QString& quantisation = {}) const {
    return {.name = {repository, quantisation},
            .place = {.endpoint = hub.address(QString()), .cache = cache},
            .source = {.plainLoopback = true, .retryMs = 1, .freeBytes = [](const QString&) { return qint64{1} << 40; }},
            .memoryBytes = qint64{16} << 30};
  }

  LoopbackServer hub;
  LoopbackServer storage;
  QString repository = QStringLiteral("someone/small-GGUF");
  QString commit = QString(40, QLatin1Char('c'));
  QByteArray gguf;  // architecture, as the hub tells it
  std::vector<HubServedFile> files = {
      {QStringLiteral("Small-Q4_K_M.gguf"), "GGUF" + QByteArray(100'000, 'm')},
      {QStringLiteral("Small-Q6_K.gguf"), "GGUF" + QByteArray(120'000, 'k')},
      {QStringLiteral("mmproj-Small-F16.gguf"), "GGUF" + QByteArray(50'000, 'p')},
      {QStringLiteral("mmproj-Small-F32.gguf"), "GGUF" + QByteArray(90'000, 'q')},
      {QStringLiteral("README.md"), "# Small\n", false},
  };
};

}  // namespace winnow::test
