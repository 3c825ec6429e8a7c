#include "app/library/downloads/secure_client.h"

#include <QFileInfo>
#include <QNetworkRequest>
#include <QSslCertificate>
#include <QSslSocket>
#include <QVariant>
#include <algorithm>

#include "app/library/network/addresses.h"
#include "app/library/network/awaited_reply.h"
#include "app/library/network/machine_proxies.h"

namespace winnow::app {
namespace {

constexpr int kTooManyRequestsStatus = 429;
constexpr int kMostCodeBytes = 64;
constexpr int kMostWaitSeconds = 24 * 3600;

// Retry-After in seconds, or the hub's RateLimit: "api";r=0;t=55. 0: it says nothing that can be read.
int secondsToWait(const QNetworkReply& reply) {
  bool known = false;
  int seconds = reply.rawHeader("Retry-After").trimmed().toInt(&known);
  for (const QByteArray& part : reply.rawHeader("RateLimit").split(';')) {
    if (!known && part.trimmed().startsWith("t=")) seconds = part.trimmed().mid(2).toInt(&known);
  }
  return known ? std::clamp(seconds, 0, kMostWaitSeconds) : 0;
}

}  // namespace

int statusOf(const QNetworkReply& reply) { return reply.attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt(); }

SecureClient::SecureClient(const DownloadSource& source) : m_source(source), m_tls(QSslConfiguration::defaultConfiguration()) {
  if (!m_source.certificates.isEmpty()) {
    const QList<QSslCertificate> trusted = QSslCertificate::fromPath(m_source.certificates);
    if (trusted.isEmpty()) {
      throw DownloadError(
          {DownloadProblem::kNoCertificates, m_source.certificates,
           QFileInfo(m_source.certificates).isReadable() ? QStringLiteral("it holds none in PEM") : QStringLiteral("it cannot be read")});
    }
    m_tls.setCaCertificates(trusted);
  }
  m_manager.setProxyFactory(new MachineProxies);  // the manager's from now on
}

bool SecureClient::isAllowed(const QUrl& address) const {
  if (!address.isValid() || address.host().isEmpty()) return false;
  if (address.scheme() == QLatin1String("https")) return true;
  return m_source.plainLoopback && address.scheme() == QLatin1String("http") && isLoopback(address.host());
}

void SecureClient::requireAllowed(const QUrl& address) const {
  if (!isAllowed(address)) {
    throw DownloadError({DownloadProblem::kInsecure, address.toDisplayString(), QStringLiteral("it is not an https address")});
  }
  if (address.scheme() == QLatin1String("https") && !QSslSocket::supportsSsl()) {
    throw DownloadError({DownloadProblem::kNoTrust, address.host(), QStringLiteral("Qt has found no OpenSSL on this machine")});
  }
}

QNetworkReply* SecureClient::get(const QUrl& address, qint64 fromByte, const QByteArray& bearer) {
  QNetworkRequest request = bareRequest(address);
  request.setSslConfiguration(m_tls);
  request.setTransferTimeout(m_source.patienceMs);
  if (!bearer.isEmpty()) request.setRawHeader("Authorization", "Bearer " + bearer);
  if (fromByte > 0) request.setRawHeader("Range", "bytes=" + QByteArray::number(fromByte) + "-");
  QNetworkReply* reply = m_manager.get(request);
  boundHeldBytes(*reply);  // a disk may be slower than the network
  return reply;
}

std::optional<DownloadFault> SecureClient::faultOf(const QNetworkReply& reply) const {
  const QString host = reply.url().host();
  const int status = statusOf(reply);
  if (status >= 400 || (reply.error() == QNetworkReply::NoError && status / 100 != 2)) {
    DownloadFault fault{DownloadProblem::kServerRefused, host, QStringLiteral("the server answered with status %1").arg(status)};
    fault.status = status;
    fault.code = reply.rawHeader("X-Error-Code").left(kMostCodeBytes);
    if (status == kTooManyRequestsStatus) {
      fault.problem = DownloadProblem::kTooManyRequests;
      fault.seconds = secondsToWait(reply);
    }
    return fault;
  }
  switch (reply.error()) {
    case QNetworkReply::NoError: return std::nullopt;
    case QNetworkReply::SslHandshakeFailedError: return DownloadFault{DownloadProblem::kNoTrust, host, reply.errorString()};
    case QNetworkReply::TooManyRedirectsError:
    case QNetworkReply::InsecureRedirectError:
    case QNetworkReply::ProtocolUnknownError:
    case QNetworkReply::ProtocolInvalidOperationError:
    case QNetworkReply::ProtocolFailure:
    case QNetworkReply::AuthenticationRequiredError:
    case QNetworkReply::ProxyAuthenticationRequiredError: return DownloadFault{DownloadProblem::kServerRefused, host, reply.errorString()};
    case QNetworkReply::OperationCanceledError:  // by the timer: whoever cancels does not ask
    case QNetworkReply::TimeoutError:
      return DownloadFault{DownloadProblem::kNoNetwork, host, QStringLiteral("nothing came for %1 s").arg(m_source.patienceMs / 1000)};
    default: return DownloadFault{DownloadProblem::kNoNetwork, host, reply.errorString()};
  }
}

}  // namespace winnow::app
