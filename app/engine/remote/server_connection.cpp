#include "app/engine/remote/server_connection.h"

#include <QNetworkReply>
#include <QSslSocket>
#include <QUrl>
#include <memory>

#include "app/library/network/awaited_reply.h"
#include "app/library/network/inflated.h"
#include "app/library/network/machine_proxies.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr qsizetype kMostEncodingName = 32;

std::string headerOf(const QNetworkReply& reply, const char* name) { return reply.rawHeader(name).toStdString(); }

}  // namespace

// One request and what comes of it.
class ServerConnection::Exchange {
 public:
  Exchange(std::string host, QNetworkReply* reply, const Take* take) : m_host(std::move(host)), m_reply(reply), m_take(take) {}

  ServerReply run(const ReplyPatience& patience, const InterruptToken& interrupt) {
    const ReplyEnd end = awaitReply(
        *m_reply, patience, [this](std::string_view piece) { take(piece); }, interrupt);
    readHead();
    if (end.interrupt != Interrupt::kNone) throw Interrupted(end.interrupt);
    if (end.waitedMs > 0) fail(ErrorCode::kServerUnreachable, "nothing came for " + std::to_string((end.waitedMs + 999) / 1000) + " s");
    requireArrived();
    return std::move(m_answer);
  }

 private:
  [[noreturn]] void fail(ErrorCode code, const std::string& reason) const { throw Exception(code, m_host, reason); }

  void readHead() {
    if (m_answer.status != 0) return;
    m_answer.status = m_reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    if (m_answer.status == 0) return;
    m_answer.type = m_reply->rawHeader("Content-Type").split(';').value(0).trimmed().toLower().toStdString();
    m_answer.retryAfter = headerOf(*m_reply, "Retry-After");
    m_answer.location = headerOf(*m_reply, "Location");
    const QByteArray encoding = m_reply->rawHeader("Content-Encoding").trimmed().toLower();
    if (encoding == "gzip" || encoding == "x-gzip" || encoding == "deflate") {
      m_inflated = std::make_unique<Inflated>();
    } else if (!encoding.isEmpty() && encoding != "identity") {
      fail(ErrorCode::kServerNotUnderstood, "its answer is compressed (" + encoding.left(kMostEncodingName).toStdString() + ")");
    }
  }

  // Some servers and proxies compress what nobody asked them to.
  void take(std::string_view piece) {
    readHead();
    if (!m_inflated) return takePlain(piece);
    try {
      m_inflated->add(piece, [this](std::string_view plain) { takePlain(plain); });
    } catch (const Exception& problem) {
      if (problem.error().code != ErrorCode::kDamagedFile) throw;
      fail(ErrorCode::kServerNotUnderstood, problem.error().reason);
    }
  }

  void takePlain(std::string_view piece) {
    if (m_take != nullptr && m_answer.status == 200) return (*m_take)(m_answer, piece);
    if (m_answer.body.size() + piece.size() > kMostBodyBytes) fail(ErrorCode::kServerNotUnderstood, "its answer has no end");
    m_answer.body += piece;
  }

  // Requires that HTTP calls the answer whole. A refusal with a status is one.
  void requireArrived() const {
    if (m_reply->error() == QNetworkReply::NoError || m_answer.status >= 300) {
      if (m_answer.status == 0) fail(ErrorCode::kServerNotUnderstood, "its answer is no HTTP");
      return;
    }
    const std::string words = m_reply->errorString().toStdString();
    switch (m_reply->error()) {
      case QNetworkReply::SslHandshakeFailedError: fail(ErrorCode::kServerUntrusted, words);
      case QNetworkReply::ProtocolFailure:
      case QNetworkReply::ProtocolUnknownError:
      case QNetworkReply::ProtocolInvalidOperationError: fail(ErrorCode::kServerNotUnderstood, words);
      default:
        if (m_answer.status != 0) fail(ErrorCode::kServerBrokeOff, words);
        fail(ErrorCode::kServerUnreachable, words);
    }
  }

  const std::string m_host;
  const std::unique_ptr<QNetworkReply> m_reply;
  const Take* const m_take;              // null: gather
  std::unique_ptr<Inflated> m_inflated;  // null: it comes as it is
  ServerReply m_answer;
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
  return Exchange(m_address.host(), reply, nullptr).run({m_patience.connectMs, 0, m_patience.answerMs}, interrupt);
}

ServerReply ServerConnection::put(const std::string& url, std::string_view bytes, const InterruptToken& interrupt) {
  QNetworkRequest request = requestTo(url);
  request.setHeader(QNetworkRequest::ContentTypeHeader, QStringLiteral("application/octet-stream"));
  QNetworkReply* reply = m_manager.put(request, QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())));
  return Exchange(m_address.host(), reply, nullptr).run({m_patience.connectMs, 0, m_patience.answerMs}, interrupt);
}

void ServerConnection::tell(const std::string& url) {
  QNetworkRequest request = requestTo(url);
  request.setTransferTimeout(m_patience.answerMs);
  QNetworkReply* reply = m_manager.post(request, QByteArray());
  boundHeldBytes(*reply);
  QObject::connect(reply, &QNetworkReply::finished, reply, &QObject::deleteLater);
}

ServerReply ServerConnection::stream(const std::string& url, const std::string& body, const Take& take, const InterruptToken& interrupt) {
  QNetworkRequest request = requestTo(url);
  request.setRawHeader("Accept", "text/event-stream");
  QNetworkReply* reply = m_manager.post(request, QByteArray::fromStdString(body));
  return Exchange(m_address.host(), reply, &take).run({m_patience.connectMs, m_patience.silenceMs, 0}, interrupt);
}

}  // namespace winnow::app
