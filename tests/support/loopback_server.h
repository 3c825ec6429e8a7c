// A small HTTP server on this machine for tests of downloads: pages and files that are served whole, in ranges, cut off, or not to the end.
//
// Every connection serves one request. Threads: the one whose event loop runs it.
#pragma once

#include <QByteArray>
#include <QHash>
#include <QSslCertificate>
#include <QSslKey>
#include <QString>
#include <QTcpServer>
#include <vector>

class QTcpSocket;

namespace winnow::test {

struct ServedFile {
  QByteArray body{};
  int status = 200;
  QByteArray location{};   // of a redirect
  bool ranges = true;      // knows Range
  bool saysLength = true;  // else its end is that of the connection
  qint64 cutAfter = -1;    // that many bytes of a reply, then the connection ends; below 0: all
  int cuts = 1'000'000;    // so often; afterwards it is served whole
  bool hangs = false;      // instead of ending, a cut connection falls silent
  int dripMs = 0;          // above 0: the body comes a byte at a time, so many ms apart
  bool endlessHead = false;
  QByteArray headers{};  // more of them, each with its line end
  int refusals = 0;      // so many requests are answered by refusal and refusalHeaders, and nothing else
  int refusal = 503;
  QByteArray refusalHeaders{};
};

class LoopbackServer : public QTcpServer {
 public:
  struct Request {
    QString path;
    QByteArray range{};          // as sent; empty: none
    QByteArray authorisation{};  // the same
  };

  LoopbackServer();
  // From now on it speaks https, and is the one that this certificate names.
  void encrypt(const QSslCertificate& certificate, const QSslKey& key);
  QString address(const QString& path) const;  // http(s)://127.0.0.1:port/path

  QHash<QString, ServedFile> files;  // by path; others are 404
  std::vector<Request> requests;

 protected:
  void incomingConnection(qintptr descriptor) override;

 private:
  void accept();
  void answer(QTcpSocket* socket, const QByteArray& head);
  void drip(QTcpSocket* socket, const QByteArray& bytes, int everyMs);

  QSslCertificate m_certificate;  // null: plain http
  QSslKey m_key;
};

}  // namespace winnow::test
