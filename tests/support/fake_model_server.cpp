#include "tests/support/fake_model_server.h"

#include <QHostAddress>
#include <QSslSocket>
#include <QTimer>
#include <stdexcept>

namespace winnow::test {

QByteArray chunkOf(const QByteArray& delta, const QByteArray& finishReason) {
  return R"(data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":)" + delta + R"(,"finish_reason":)" +
         finishReason + "}]}\n\n";
}

std::vector<QByteArray> streamOf(const std::vector<QByteArray>& words, const QByteArray& usage) {
  std::vector<QByteArray> pieces = {chunkOf(R"({"role":"assistant","content":""})")};
  for (const QByteArray& word : words) pieces.push_back(chunkOf(R"({"content":")" + word + R"("})"));
  pieces.push_back(chunkOf("{}", R"("stop")"));
  if (!usage.isEmpty()) pieces.push_back(R"(data: {"choices":[],"usage":)" + usage + "}\n\n");
  pieces.push_back("data: [DONE]\n\n");
  return pieces;
}

FakeModelServer::FakeModelServer() {
  if (!listen(QHostAddress::LocalHost)) throw std::runtime_error("no port to listen on");
  connect(this, &QTcpServer::newConnection, this, &FakeModelServer::accept);
}

void FakeModelServer::encrypt(const QSslCertificate& certificate, const QSslKey& key) {
  m_certificate = certificate;
  m_key = key;
}

std::string FakeModelServer::url() const {
  return (m_certificate.isNull() ? "http" : "https") + std::string("://127.0.0.1:") + std::to_string(serverPort()) + "/v1";
}

void FakeModelServer::answerJson(const char* path, const QByteArray& json, int status) {
  answer(path, {.status = status, .type = "application/json", .pieces = {json}});
}

void FakeModelServer::serve(const QByteArray& owner, const std::vector<QByteArray>& words) {
  answerJson("/v1/models", R"({"object":"list","data":[{"id":"small","object":"model","owned_by":")" + owner +
                               R"(","max_model_len":4096},{"id":"large","object":"model","owned_by":")" + owner + R"("}]})");
  answer("/v1/chat/completions",
         {.pieces = streamOf(words, R"({"prompt_tokens":40,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":30}})")});
}

void FakeModelServer::incomingConnection(qintptr descriptor) {
  if (m_certificate.isNull()) return QTcpServer::incomingConnection(descriptor);
  auto* socket = new QSslSocket(this);
  socket->setSocketDescriptor(descriptor);
  socket->setLocalCertificate(m_certificate);
  socket->setPrivateKey(m_key);
  socket->startServerEncryption();
  addPendingConnection(socket);
}

void FakeModelServer::accept() {
  while (QTcpSocket* socket = nextPendingConnection()) {
    ++m_open;
    connect(socket, &QTcpSocket::disconnected, this, [this, socket] {
      --m_open;
      socket->deleteLater();
    });
    connect(socket, &QTcpSocket::readyRead, this, [this, socket] {
      const QByteArray all = socket->property("received").toByteArray() + socket->readAll();
      socket->setProperty("received", all);
      const qsizetype end = all.indexOf("\r\n\r\n");
      if (end < 0) return;
      const QByteArray head = all.left(end);
      const qsizetype length = head.toLower().indexOf("content-length:");
      const qsizetype wanted = length < 0 ? 0 : head.mid(length + 15).split('\r').value(0).trimmed().toLongLong();
      if (all.size() - end - 4 < wanted) return;
      disconnect(socket, &QTcpSocket::readyRead, this, nullptr);
      const QList<QByteArray> line = head.left(head.indexOf("\r\n")).split(' ');
      reply(socket, {line.value(0), line.value(1), head, all.mid(end + 4)});
    });
  }
}

void FakeModelServer::reply(QTcpSocket* socket, Asked request) {
  asked.push_back(request);
  FakeAnswer missing{.status = 404, .type = "text/html", .pieces = {"<h1>nothing here</h1>"}};
  const FakeAnswer with = m_answers.value(request.path, missing);
  if (with.raw) {
    socket->write(*with.raw);
  } else {
    QByteArray head = "HTTP/1.1 " + QByteArray::number(with.status) + " said\r\nConnection: close\r\nContent-Type: " + with.type + "\r\n";
    if (with.end == FakeAnswer::End::kShort) head += "Content-Length: 100000\r\n";
    if (with.end == FakeAnswer::End::kChunked) head += "Transfer-Encoding: chunked\r\n";
    socket->write(head + with.headers + "\r\n");
    if (with.end == FakeAnswer::End::kChunked) socket->write("fff\r\n");
    for (const QByteArray& piece : with.pieces) socket->write(piece);
  }
  if (with.end == FakeAnswer::End::kHang) return;
  const bool drips = with.end == FakeAnswer::End::kDrip;
  if (with.end != FakeAnswer::End::kRepeat && !drips) return socket->disconnectFromHost();
  auto* timer = new QTimer(socket);
  const QByteArray again = with.raw ? *with.raw : with.pieces.back();
  connect(timer, &QTimer::timeout, socket, [socket, again] {
    if (socket->bytesToWrite() < (1 << 20)) socket->write(again);
  });
  timer->start(drips ? 20 : 0);
}

}  // namespace winnow::test
