#include "app/remote/server_connection.h"

#include <QElapsedTimer>
#include <QEventLoop>
#include <QNetworkReply>
#include <QNetworkRequest>
#include <QSslSocket>
#include <QTimer>
#include <QUrl>
#include <exception>
#include <memory>
#include <utility>

#include "app/network/bare_request.h"
#include "app/network/machine_proxies.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr int kLookMs = 20;
constexpr qint64 kBufferBytes = 1 << 20;

std::string headerOf(const QNetworkReply& reply, const char* name) { return reply.rawHeader(name).toStdString(); }

}  // namespace

// One request and what comes of it.
class ServerConnection::Exchange {
 public:
  struct Limits {
    int wholeMs = 0;    // 0: none
    int silenceMs = 0;  // 0: none
  };

  Exchange(const ServerConnection& connection, QNetworkReply* reply, const Take* take, Limits limits)
      : m_patience(connection.m_patience), m_host(connection.m_address.host()), m_reply(reply), m_take(take), m_limits(limits) {}

  ServerReply run(const InterruptToken& interrupt) {
    m_reply->setReadBufferSize(kBufferBytes);
    QEventLoop loop;
    QTimer look;
    QObject::connect(&look, &QTimer::timeout, &loop, [&] { watch(interrupt); });
    QObject::connect(m_reply.get(), &QNetworkReply::requestSent, &loop, [this] { m_sent = true; });
    QObject::connect(m_reply.get(), &QNetworkReply::uploadProgress, &loop, [this] { m_sinceUpload.restart(); });
    QObject::connect(m_reply.get(), &QNetworkReply::readyRead, &loop, [this] { drain(); });
    QObject::connect(m_reply.get(), &QNetworkReply::finished, &loop, &QEventLoop::quit);
    m_sinceBegin.start();
    m_sinceUpload.start();
    m_sinceByte.start();
    look.start(kLookMs);
    if (!m_reply->isFinished()) loop.exec();
    look.stop();
    drain();
    if (m_thrown) std::rethrow_exception(m_thrown);
    if (m_interrupt != Interrupt::kNone) throw Interrupted(m_interrupt);
    requireArrived();
    return std::move(m_answer);
  }

 private:
  [[noreturn]] void fail(ErrorCode code, const std::string& reason) const { throw Exception(code, m_host, reason); }

  void watch(const InterruptToken& interrupt) {
    m_interrupt = interrupt.state();
    if (m_interrupt != Interrupt::kNone) return m_reply->abort();
    if (!m_sent && m_sinceUpload.elapsed() > m_patience.connectMs) return giveUp(m_patience.connectMs);
    if (m_limits.wholeMs > 0 && m_sinceBegin.elapsed() > m_limits.wholeMs) return giveUp(m_limits.wholeMs);
    if (m_limits.silenceMs > 0 && m_sinceByte.elapsed() > m_limits.silenceMs) return giveUp(m_limits.silenceMs);
  }

  void giveUp(int afterMs) {
    m_waitedMs = afterMs;
    m_reply->abort();
  }

  void readHead() {
    if (m_answer.status != 0) return;
    m_answer.status = m_reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    if (m_answer.status == 0) return;
    m_answer.type = m_reply->rawHeader("Content-Type").split(';').value(0).trimmed().toLower().toStdString();
    m_answer.retryAfter = headerOf(*m_reply, "Retry-After");
    m_answer.location = headerOf(*m_reply, "Location");
  }

  void drain() {
    readHead();
    if (m_thrown) return;
    try {
      while (m_reply->isOpen() && m_reply->bytesAvailable() > 0) {
        const QByteArray piece = m_reply->read(kBufferBytes);
        if (piece.isEmpty()) return;
        m_sinceByte.restart();
        take(std::string_view(piece.constData(), static_cast<std::size_t>(piece.size())));
      }
    } catch (...) {
      m_thrown = std::current_exception();
      if (!m_reply->isFinished()) m_reply->abort();
    }
  }

  void take(std::string_view piece) {
    if (m_take != nullptr && m_answer.status == 200) return (*m_take)(m_answer, piece);
    if (m_answer.body.size() + piece.size() > kMostBodyBytes) fail(ErrorCode::kServerNotUnderstood, "its answer has no end");
    m_answer.body += piece;
  }

  // Whether HTTP says that the answer is whole. A refusal with a status is one.
  void requireArrived() const {
    if (m_waitedMs > 0) fail(ErrorCode::kServerUnreachable, "nothing came for " + std::to_string((m_waitedMs + 999) / 1000) + " s");
    if (m_reply->error() == QNetworkReply::NoError || m_answer.status >= 300) {
      if (m_answer.status == 0) fail(ErrorCode::kServerNotUnderstood, "its answer is no HTTP");
      return;
    }
    const std::string words = m_reply->errorString().toStdString();
    switch (m_reply->error()) {
      case QNetworkReply::SslHandshakeFailedError:
        fail(ErrorCode::kServerUntrusted, words);
      case QNetworkReply::ProtocolFailure:
      case QNetworkReply::ProtocolUnknownError:
      case QNetworkReply::ProtocolInvalidOperationError:
        fail(ErrorCode::kServerNotUnderstood, words);
      default:
        if (m_answer.status != 0) fail(ErrorCode::kServerBrokeOff, words);
        fail(ErrorCode::kServerUnreachable, words);
    }
  }

  const ServerPatience& m_patience;
  const std::string m_host;
  const std::unique_ptr<QNetworkReply> m_reply;
  const Take* const m_take;  // null: gather
  const Limits m_limits;
  ServerReply m_answer;
  QElapsedTimer m_sinceBegin, m_sinceUpload, m_sinceByte;
  bool m_sent = false;
  int m_waitedMs = 0;  // in vain
  Interrupt m_interrupt = Interrupt::kNone;
  std::exception_ptr m_thrown;
};

ServerConnection::ServerConnection(ServerAddress address, std::string key, ServerPatience patience)
    : m_address(std::move(address)), m_key(std::move(key)), m_patience(patience) {
  m_manager.setProxyFactory(new MachineProxies);  // the manager's from now on
}

QNetworkRequest ServerConnection::requestTo(const std::string& address) const {
  const QUrl url(QString::fromStdString(address), QUrl::StrictMode);
  if (url.scheme() == QLatin1String("https") && !QSslSocket::supportsSsl())
    throw Exception(ErrorCode::kServerUntrusted, url.host().toStdString(), "Qt has found no OpenSSL on this machine");
  QNetworkRequest request = bareRequest(url);
  request.setHeader(QNetworkRequest::ContentTypeHeader, QStringLiteral("application/json"));
  if (!m_key.empty()) request.setRawHeader("Authorization", "Bearer " + QByteArray::fromStdString(m_key));
  for (const auto& [name, value] : m_headers) request.setRawHeader(QByteArray::fromStdString(name), QByteArray::fromStdString(value));
  return request;
}

ServerReply ServerConnection::ask(const std::string& url, const std::optional<std::string>& body, const InterruptToken& interrupt) {
  const QNetworkRequest request = requestTo(url);
  QNetworkReply* reply = body ? m_manager.post(request, QByteArray::fromStdString(*body)) : m_manager.get(request);
  return Exchange(*this, reply, nullptr, {m_patience.answerMs, 0}).run(interrupt);
}

ServerReply ServerConnection::put(const std::string& url, std::string_view bytes, const InterruptToken& interrupt) {
  QNetworkRequest request = requestTo(url);
  request.setHeader(QNetworkRequest::ContentTypeHeader, QStringLiteral("application/octet-stream"));
  QNetworkReply* reply = m_manager.put(request, QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())));
  return Exchange(*this, reply, nullptr, {m_patience.answerMs, 0}).run(interrupt);
}

void ServerConnection::tell(const std::string& url) {
  QNetworkReply* reply = m_manager.post(requestTo(url), QByteArray());
  QObject::connect(reply, &QNetworkReply::finished, reply, &QObject::deleteLater);
}

ServerReply ServerConnection::stream(const std::string& url, const std::string& body, const Take& take, const InterruptToken& interrupt) {
  QNetworkRequest request = requestTo(url);
  request.setRawHeader("Accept", "text/event-stream");
  QNetworkReply* reply = m_manager.post(request, QByteArray::fromStdString(body));
  return Exchange(*this, reply, &take, {0, m_patience.silenceMs}).run(interrupt);
}

}  // namespace winnow::app
