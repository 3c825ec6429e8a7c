#include "app/downloads/secure_client.h"

#include <QFileInfo>
#include <QNetworkRequest>
#include <QSslCertificate>
#include <QSslSocket>
#include <QVariant>

#include "app/network/machine_proxies.h"

namespace winnow::app {
namespace {

constexpr int kMostRedirects = 5;
constexpr char kRedirects[] = "winnow_redirects";               // property of a reply: how many it was led through
constexpr char kRefusedRedirect[] = "winnow_refused_redirect";  // property of a reply: where it was led to

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

QNetworkReply* SecureClient::get(const QUrl& address, qint64 fromByte) {
  QNetworkRequest request(address);
  request.setSslConfiguration(m_tls);
  request.setAttribute(QNetworkRequest::RedirectPolicyAttribute, QNetworkRequest::UserVerifiedRedirectPolicy);
  request.setMaximumRedirectsAllowed(kMostRedirects + 1);  // Qt ends those beyond its limit without an error: ours comes first
  request.setAttribute(QNetworkRequest::Http2AllowedAttribute, false);
  request.setAttribute(QNetworkRequest::CacheLoadControlAttribute, QNetworkRequest::AlwaysNetwork);
  request.setTransferTimeout(m_source.patienceMs);
  request.setRawHeader("Accept-Encoding", "identity");
  request.setRawHeader("User-Agent", "winnow");
  if (fromByte > 0) request.setRawHeader("Range", "bytes=" + QByteArray::number(fromByte) + "-");
  QNetworkReply* reply = m_manager.get(request);
  QObject::connect(reply, &QNetworkReply::redirected, reply, [this, reply](const QUrl& to) {
    const int redirects = reply->property(kRedirects).toInt() + 1;
    reply->setProperty(kRedirects, redirects);
    if (redirects > kMostRedirects) {
      QMetaObject::invokeMethod(reply, &QNetworkReply::abort, Qt::QueuedConnection);
    } else if (isAllowed(to)) {
      Q_EMIT reply->redirectAllowed();
    } else {
      reply->setProperty(kRefusedRedirect, to.toDisplayString());
      QMetaObject::invokeMethod(reply, &QNetworkReply::abort, Qt::QueuedConnection);
    }
  });
  return reply;
}

std::optional<DownloadFault> SecureClient::faultOf(const QNetworkReply& reply) const {
  const QString redirect = reply.property(kRefusedRedirect).toString();
  const QString host = reply.url().host();
  if (!redirect.isEmpty()) return DownloadFault{DownloadProblem::kInsecure, redirect, QStringLiteral("it is not an https address")};
  // Qt may end a circle without an error and without an answer.
  const int redirects = reply.property(kRedirects).toInt();
  const bool unanswered = reply.error() == QNetworkReply::NoError && statusOf(reply) / 100 != 2;
  if (redirects > kMostRedirects || (redirects > 0 && unanswered)) {
    return DownloadFault{DownloadProblem::kServerRefused, host, QStringLiteral("it leads from one address to another and to no answer")};
  }
  if (statusOf(reply) >= 400) {
    return DownloadFault{DownloadProblem::kServerRefused, host, QStringLiteral("the server answered with status %1").arg(statusOf(reply))};
  }
  switch (reply.error()) {
    case QNetworkReply::NoError:
      return std::nullopt;
    case QNetworkReply::SslHandshakeFailedError:
      return DownloadFault{DownloadProblem::kNoTrust, host, reply.errorString()};
    case QNetworkReply::TooManyRedirectsError:
    case QNetworkReply::InsecureRedirectError:
    case QNetworkReply::ProtocolUnknownError:
    case QNetworkReply::ProtocolInvalidOperationError:
    case QNetworkReply::ProtocolFailure:
    case QNetworkReply::AuthenticationRequiredError:
    case QNetworkReply::ProxyAuthenticationRequiredError:
      return DownloadFault{DownloadProblem::kServerRefused, host, reply.errorString()};
    case QNetworkReply::OperationCanceledError:  // by the timer: whoever cancels does not ask
    case QNetworkReply::TimeoutError:
      return DownloadFault{DownloadProblem::kNoNetwork, host, QStringLiteral("nothing came for %1 s").arg(m_source.patienceMs / 1000)};
    default:
      return DownloadFault{DownloadProblem::kNoNetwork, host, reply.errorString()};
  }
}

}  // namespace winnow::app
