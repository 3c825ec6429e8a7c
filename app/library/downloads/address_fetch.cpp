#include "app/library/downloads/address_fetch.h"

#include <QNetworkReply>
#include <algorithm>
#include <utility>

#include "app/library/network/addresses.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr int kMostRedirects = 5;
constexpr int kNotSatisfiable = 416;
constexpr int kServersFault = 500;
constexpr int kMostDoublings = 5;

bool isPage(const QNetworkReply& reply) {
  const QByteArray type = reply.rawHeader("Content-Type").trimmed().toLower();
  return type.startsWith("text/html") || type.startsWith("application/xhtml");
}

bool bringsBytes(const QNetworkReply& reply) { return statusOf(reply) == 200 || statusOf(reply) == 206; }

QByteArray unquoted(QByteArray etag) {
  if (etag.startsWith("W/")) etag = etag.mid(2);
  return etag.size() > 1 && etag.startsWith('"') && etag.endsWith('"') ? etag.mid(1, etag.size() - 2) : etag;
}

}  // namespace

AddressFetch::AddressFetch(SecureClient& client, DownloadSource source, FetchTarget target)
    : m_client(client), m_source(std::move(source)), m_target(std::move(target)), m_retry(this), m_pace(this) {
  m_retry.setSingleShot(true);
  m_pace.setInterval(std::max(1, m_source.patienceMs / 2));
  connect(&m_pace, &QTimer::timeout, this, [this] { run([this] { requirePace(); }); });
  connect(&m_retry, &QTimer::timeout, this, [this] { run([this] { ask(m_target.address, 0); }); });
}

AddressFetch::~AddressFetch() { stop(); }

void AddressFetch::begin() {
  m_most = have();
  m_retry.start(0);
}

// Every step of the event loop goes through here: one place where errors end the fetch.
void AddressFetch::run(const std::function<void()>& step) {
  try {
    step();
  } catch (const DownloadError& error) {
    stop();
    Q_EMIT failed(error.fault());
  } catch (...) {
    stop();
    Q_EMIT failed({DownloadProblem::kUnwritable, m_target.name, QString::fromStdString(current_error().reason)});
  }
}

void AddressFetch::stop() {
  m_retry.stop();
  m_pace.stop();
  if (!m_reply) return;
  m_reply->disconnect(this);
  m_reply->abort();
  m_reply.reset();
}

qint64 AddressFetch::have() const { return m_target.part != nullptr ? m_target.part->size() : m_body.size(); }

void AddressFetch::ask(const QUrl& address, int redirects) {
  m_client.requireAllowed(address);
  m_begun = false;
  m_redirects = redirects;
  m_come = m_comeBefore = 0;
  m_looks = 0;
  if (m_target.part == nullptr) m_body.clear();
  m_reply.reset(m_client.get(address, have(), sameOrigin(address, m_target.address) ? m_target.bearer : QByteArray()));
  m_pace.start();
  connect(m_reply.get(), &QNetworkReply::downloadProgress, this, [this](qint64 done, qint64) { m_come = done; });
  connect(m_reply.get(), &QNetworkReply::readyRead, this, [this] { run([this] { take(); }); });
  connect(m_reply.get(), &QNetworkReply::finished, this, [this] { run([this] { end(); }); });
}

// The client ends silent connections. A server that drips, or whose head has no end, is never silent.
void AddressFetch::requirePace() {
  if (!m_reply) return m_pace.stop();
  const QString host = m_reply->url().host();
  if (statusOf(*m_reply) == 0) {
    throw DownloadError(
        {DownloadProblem::kNoNetwork, host, QStringLiteral("no whole answer's head came within %1 s").arg(m_pace.interval() / 1000.0)});
  }
  if (++m_looks % 2 != 0) return;
  const qint64 came = m_come - std::exchange(m_comeBefore, m_come);
  if (came == 0 || came >= m_source.leastBytes) return;
  throw DownloadError(
      {DownloadProblem::kNoNetwork, host, QStringLiteral("it is too slow: %1 bytes in %2 s").arg(came).arg(m_source.patienceMs / 1000.0)});
}

// The hub names the file that an address stands for: another one than its list told has been put there since.
void AddressFetch::requireSameFile() const {
  const QByteArray etag = unquoted(m_reply->rawHeader("X-Linked-Etag").trimmed());
  if (m_target.linkedHash.isEmpty() || etag.isEmpty() || etag == m_target.linkedHash) return;
  throw DownloadError({DownloadProblem::kChanged, m_target.name, QStringLiteral("the server names another hash than its list")});
}

// Finds where the reply's bytes belong: after those that are there, or, from a server that knows no ranges, at the beginning.
void AddressFetch::beginPart() {
  const QString host = m_reply->url().host();
  if (isPage(*m_reply)) {
    throw DownloadError({DownloadProblem::kOtherAnswer, host, QStringLiteral("it sent a web page instead of %1").arg(m_target.name)});
  }
  requireSameFile();
  const qint64 have = m_target.part->size();
  const bool whole = statusOf(*m_reply) == 200;
  const QByteArray wanted = "bytes " + QByteArray::number(have) + '-';
  if (!whole && !m_reply->rawHeader("Content-Range").startsWith(wanted)) {
    throw DownloadError({DownloadProblem::kServerRefused, host, QStringLiteral("it sent another part than was asked for")});
  }
  const QVariant length = m_reply->header(QNetworkRequest::ContentLengthHeader);
  const qint64 expected = m_target.bytes - (whole ? 0 : have);
  if (length.isValid() && length.toLongLong() != expected) {
    throw DownloadError({DownloadProblem::kHashDiffers, m_target.name,
                         QStringLiteral("the server's file has %1 bytes, not %2").arg(length.toLongLong()).arg(expected)});
  }
  if (whole && have > 0) m_target.part->clear();
}

void AddressFetch::take() {
  if (!bringsBytes(*m_reply)) {  // the words of an error or of a redirect: nobody reads them, and they may have no end
    m_reply->disconnect(this);
    return end();
  }
  if (m_target.part == nullptr) {
    m_body += m_reply->readAll();
    if (m_body.size() <= m_target.bytes) return;
    throw DownloadError({DownloadProblem::kOtherAnswer, m_reply->url().host(), QStringLiteral("%1 is too long").arg(m_target.name)});
  }
  if (!std::exchange(m_begun, true)) beginPart();
  const QByteArray bytes = m_reply->readAll();
  if (bytes.size() > m_target.bytes - m_target.part->size()) {
    m_target.part->clear();
    throw DownloadError({DownloadProblem::kHashDiffers, m_target.name, QStringLiteral("more came than the file has")});
  }
  m_target.part->append(bytes);
  Q_EMIT progressed(m_target.part->size());
}

void AddressFetch::end() {
  m_pace.stop();
  if (bringsBytes(*m_reply) && m_reply->bytesAvailable() > 0) take();
  const int status = statusOf(*m_reply);
  if (status / 100 == 3 && m_reply->hasRawHeader("Location")) return follow();
  const std::optional<DownloadFault> fault = m_client.faultOf(*m_reply);
  const QString host = m_reply->url().host();
  m_address = m_reply->url();
  m_link = m_reply->rawHeader("Link");
  const bool whole = m_target.part != nullptr ? have() == m_target.bytes : !fault;
  m_reply.reset();
  if (whole) {
    Q_EMIT finished();
  } else if (status == kNotSatisfiable && have() > 0 && m_target.part != nullptr) {
    m_target.part->clear();
    tryAgain(*fault);
  } else if (!fault) {
    tryAgain({DownloadProblem::kNoNetwork, host, QStringLiteral("the connection was lost")});
  } else if (fault->problem == DownloadProblem::kNoNetwork || fault->problem == DownloadProblem::kTooManyRequests ||
             fault->status >= kServersFault) {
    tryAgain(*fault);
  } else {
    throw DownloadError(*fault);
  }
}

void AddressFetch::follow() {
  requireSameFile();
  const QString host = m_reply->url().host();
  const QUrl to = m_reply->url().resolved(QUrl::fromEncoded(m_reply->rawHeader("Location").trimmed()));
  const int redirects = m_redirects + 1;
  m_reply.reset();
  if (redirects > kMostRedirects) {
    throw DownloadError({DownloadProblem::kServerRefused, host, QStringLiteral("it leads from one address to another and to no answer")});
  }
  ask(to, redirects);
}

// A broken download is asked for again soon, a refused one with growing pauses, as long as nobody waits for it in vain.
void AddressFetch::tryAgain(const DownloadFault& fault) {
  m_triesInVain = have() > m_most ? 0 : m_triesInVain + 1;
  m_most = std::max(m_most, have());
  if (m_triesInVain >= m_target.triesInVain || fault.seconds > m_source.mostWaitSeconds) throw DownloadError(fault);
  const int doublings = fault.status >= 400 ? std::min(m_triesInVain, kMostDoublings) : 0;
  const int pauseMs = std::max(fault.seconds * 1000, m_source.retryMs << doublings);
  if (fault.seconds > 0) Q_EMIT waiting(fault.seconds);
  m_retry.start(pauseMs);
}

}  // namespace winnow::app
