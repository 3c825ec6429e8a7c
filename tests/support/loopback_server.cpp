#include "tests/support/loopback_server.h"

#include <QHostAddress>
#include <QSslSocket>
#include <QTimer>
#include <memory>
#include <stdexcept>

namespace winnow::test {

LoopbackServer::LoopbackServer() {
  if (!listen(QHostAddress::LocalHost)) throw std::runtime_error("no port to listen on");
  connect(this, &QTcpServer::newConnection, this, &LoopbackServer::accept);
}

void LoopbackServer::encrypt(const QSslCertificate& certificate, const QSslKey& key) {
  m_certificate = certificate;
  m_key = key;
}

QString LoopbackServer::address(const QString& path) const {
  return QStringLiteral("%1://127.0.0.1:%2%3").arg(m_certificate.isNull() ? "http" : "https").arg(serverPort()).arg(path);
}

void LoopbackServer::incomingConnection(qintptr descriptor) {
  if (m_certificate.isNull()) return QTcpServer::incomingConnection(descriptor);
  auto* socket = new QSslSocket(this);
  socket->setSocketDescriptor(descriptor);
  socket->setLocalCertificate(m_certificate);
  socket->setPrivateKey(m_key);
  socket->startServerEncryption();
  addPendingConnection(socket);
}

void LoopbackServer::accept() {
  while (QTcpSocket* socket = nextPendingConnection()) {
    connect(socket, &QTcpSocket::disconnected, socket, &QObject::deleteLater);
    connect(socket, &QTcpSocket::readyRead, this, [this, socket] {
      const QByteArray head = socket->property("head").toByteArray() + socket->readAll();
      socket->setProperty("head", head);
      if (!head.contains("\r\n\r\n")) return;
      disconnect(socket, &QTcpSocket::readyRead, this, nullptr);
      answer(socket, head);
    });
  }
}

void LoopbackServer::answer(QTcpSocket* socket, const QByteArray& head) {
  Request request{.path = QString::fromUtf8(head.mid(4, head.indexOf(' ', 4) - 4))};
  for (const QByteArray& line : head.split('\n')) {
    if (line.toLower().startsWith("range:")) request.range = line.mid(6).trimmed();
    if (line.toLower().startsWith("authorization:")) request.authorisation = line.mid(14).trimmed();
  }
  requests.push_back(request);
  ServedFile missing{.body = "<h1>nothing here</h1>", .status = 404};
  ServedFile& file = files.contains(request.path) ? files[request.path] : missing;

  if (file.refusals > 0) {
    --file.refusals;
    socket->write("HTTP/1.1 " + QByteArray::number(file.refusal) + " said\r\nConnection: close\r\nContent-Length: 0\r\n" +
                  file.refusalHeaders + "\r\n");
    return socket->disconnectFromHost();
  }
  if (file.endlessHead) {
    socket->write("HTTP/1.1 200 said\r\n");
    return drip(socket, QByteArray("X-More: and more\r\n").repeated(100'000), 1);
  }
  qint64 from = 0;
  int status = file.status;
  QByteArray headers;
  if (status == 200 && file.ranges && request.range.startsWith("bytes=")) {
    from = request.range.mid(6, request.range.size() - 7).toLongLong();
    status = from < file.body.size() ? 206 : 416;
    headers += "Content-Range: bytes " + QByteArray::number(from) + '-' + QByteArray::number(file.body.size() - 1) + '/' +
               QByteArray::number(file.body.size()) + "\r\n";
  }
  const QByteArray body = status == 416 ? QByteArray() : file.body.mid(from);
  if (file.saysLength) headers += "Content-Length: " + QByteArray::number(body.size()) + "\r\n";
  headers += file.headers;
  if (!file.location.isEmpty()) headers += "Location: " + file.location + "\r\n";
  socket->write("HTTP/1.1 " + QByteArray::number(status) + " said\r\nConnection: close\r\n" + headers + "\r\n");
  if (file.dripMs > 0) return drip(socket, body, file.dripMs);
  const bool cut = file.cutAfter >= 0 && file.cuts > 0;
  if (cut) --file.cuts;
  socket->write(cut ? body.left(file.cutAfter) : body);
  if (!(cut && file.hangs)) socket->disconnectFromHost();
}

void LoopbackServer::drip(QTcpSocket* socket, const QByteArray& bytes, int everyMs) {
  auto* timer = new QTimer(socket);
  auto sent = std::make_shared<qsizetype>(0);
  connect(timer, &QTimer::timeout, socket, [socket, bytes, sent] {
    if (*sent < bytes.size()) socket->write(bytes.mid((*sent)++, 1));
  });
  timer->start(everyMs);
}

}  // namespace winnow::test
