#include "app/library/hub/hub_fetch.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QUrlQuery>
#include <algorithm>
#include <utility>

#include "app/library/downloads/download_disk.h"
#include "app/library/hub/gguf_head.h"
#include "app/library/hub/hub_repository.h"
#include "app/library/hub/hub_stored.h"
#include "app/library/network/addresses.h"
#include "engine/api/model_kinds.h"
#include "engine/base/json_document.h"

namespace winnow::app {
namespace {

constexpr qint64 kMostAnswerBytes = qint64{32} << 20;
constexpr qint64 kRoomThatStays = qint64{256} << 20;  // that a download leaves free
constexpr int kMostPages = 100;
constexpr qint64 kHeadBytes = qint64{64} << 10;  // of a GGUF file: its architecture is told first
constexpr std::size_t kTransfersAtOnce = 2;
constexpr int kRoomLookMs = 1000;
constexpr int kUnauthorised = 401;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;

QByteArray contentOf(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.read(kMostAnswerBytes) : QByteArray();
}

}  // namespace

struct HubFetch::Transfer {
  Transfer(const HubCache& cache, const HubFile& wanted) : file(wanted), lock(cache, wanted), part(cache.incomplete(wanted)) {}
  const HubFile file;
  HubLock lock;
  PartFile part;
  std::unique_ptr<AddressFetch> fetch;
};

HubFetch::HubFetch(HubRequest request, const InterruptToken& interrupt)
    : DownloadSteps(request.name.text(), request.place.cache, interrupt),
      m_request(std::move(request)),
      m_cache(m_request.place.cache, m_request.name.repository, m_request.name.revision),
      m_token(m_request.place.token),
      m_room(this) {
  connect(&m_room, &QTimer::timeout, this, [this] { run([this] { watchRoom(); }); });
}

HubFetch::~HubFetch() = default;

void HubFetch::giveUp() {
  m_room.stop();
  m_transfers.clear();
  m_page.reset();
}

void HubFetch::prepare() {
  tell(DownloadStage::kConnecting, 0, 0);
  if (m_request.place.offline) {
    if (finishWithStored()) return;
    throw DownloadError({DownloadProblem::kOffline, m_request.name.text(), QStringLiteral("it is not in %1").arg(m_cache.folder())});
  }
  m_client = std::make_unique<SecureClient>(m_request.source);
  askRevision();
}

// Finishes with files fetched before, by whichever program.
bool HubFetch::finishWithStored() {
  const std::optional<StoredHubModel> model = storedHubModel(m_cache, m_request.name.quantisation, m_request.memoryBytes);
  if (!model) return false;
  const std::set<QByteArray> here = hereOf(model->files);
  for (const HubFile& file : model->files) {
    if (file.hash.isEmpty() || here.contains(file.hash)) continue;  // of a file system without links nobody knows the hash
    throw DownloadError({DownloadProblem::kHashDiffers, file.path, QStringLiteral("it is damaged, and without the network it stays so")});
  }
  Q_EMIT chosen(model->choice);
  finish(model->path);
  return true;
}

// ---- what there is -----------------------------------------------------------------------------------------------------------------

QUrl HubFetch::apiAddress(const QString& path) const {
  QUrl address(m_request.place.endpoint);
  address.setPath(address.path() + QStringLiteral("/api/models/") + m_request.name.repository + path, QUrl::DecodedMode);
  return address;
}

QUrl HubFetch::fileAddress(const HubFile& file) const {
  QUrl address(m_request.place.endpoint);
  const QString path = QStringLiteral("/%1/resolve/%2/%3").arg(m_request.name.repository, m_commit, file.path);
  address.setPath(address.path() + path, QUrl::DecodedMode);
  return address;
}

void HubFetch::askPage(const QUrl& address, const QString& name, void (HubFetch::*read)()) {
  FetchTarget target{address, name, m_token};
  target.bytes = kMostAnswerBytes;
  m_page = std::make_unique<AddressFetch>(*m_client, m_request.source, target);
  connect(m_page.get(), &AddressFetch::waiting, this, [this](int seconds) { tell(DownloadStage::kWaiting, 0, seconds); });
  connect(m_page.get(), &AddressFetch::finished, this, [this, read] { run([this, read] { (this->*read)(); }); });
  connect(m_page.get(), &AddressFetch::failed, this, [this](const DownloadFault& fault) {
    run([this, &fault] {
      if (fault.problem != DownloadProblem::kNoNetwork || !finishWithStored()) endOrAskAgain(fault);
    });
  });
  m_page->begin();
}

void HubFetch::askRevision() {
  const QString revision = m_request.name.revision.isEmpty() ? QStringLiteral("main") : m_request.name.revision;
  askPage(apiAddress(QStringLiteral("/revision/") + revision), QStringLiteral("the description"), &HubFetch::readRevisionAnswer);
}

void HubFetch::readRevisionAnswer() {
  const HubRevision revision = readRevision(m_page->body(), m_page->address().host());
  m_commit = revision.commit;
  m_gguf = revision.gguf;
  QUrl tree = apiAddress(QStringLiteral("/tree/") + m_commit);
  tree.setQuery(QStringLiteral("recursive=true"));
  askTree(tree);
}

void HubFetch::askTree(const QUrl& page) {
  const QUrl endpoint(m_request.place.endpoint);
  if (!sameOrigin(page, endpoint) || ++m_pages > kMostPages) {
    throw DownloadError(
        {DownloadProblem::kOtherAnswer, endpoint.host(), QStringLiteral("its list of files goes on elsewhere, or without end")});
  }
  askPage(page, QStringLiteral("the list of files"), &HubFetch::readTreePage);
}

void HubFetch::readTreePage() {
  const std::vector<HubFile> files = readTree(m_page->body(), m_page->address().host());
  m_tree.insert(m_tree.end(), files.begin(), files.end());
  const std::optional<QUrl> next = nextPage(m_page->link(), m_page->address());
  if (next && m_tree.size() < kMostHubFiles) return askTree(*next);
  m_page.reset();
  choose();
}

void HubFetch::choose() {
  m_selection = chooseHubFiles(m_tree, m_request.name.quantisation, m_request.memoryBytes);
  m_cache.makeFolders();
  m_room.start(kRoomLookMs);
  m_selection.opened.isEmpty() ? wantDocuments() : wantAll();
}

// The hub's word is of whichever file it has looked into, a vision encoder's perhaps: it counts where the model's own head says nothing.
void HubFetch::requireArchitecture(const Transfer& transfer) {
  if (m_headRead || transfer.file.path != m_selection.opened) return;
  if (transfer.part.size() < std::min<qint64>(transfer.file.bytes, kHeadBytes)) return;
  m_headRead = true;
  QFile part(transfer.part.path());
  if (!part.open(QIODevice::ReadOnly)) return;
  const std::string told = architectureIn(part.read(kHeadBytes)).value_or(m_gguf.toStdString());
  const std::vector<std::string> known = known_gguf_architectures();
  if (told.empty() || std::ranges::find(known, told) != known.end()) return;
  throw DownloadError(
      {DownloadProblem::kNotReadable, m_request.name.repository,
       QStringLiteral("the engine does not run %1 (winnow-cli probe lists what it runs)").arg(QString::fromStdString(told))});
}

// ---- what of it comes --------------------------------------------------------------------------------------------------------------

// A folder's configuration says whether the engine runs it, its index which weights it has: both before anything large.
void HubFetch::wantDocuments() {
  std::vector<HubFile> first;
  for (const QString& name : {QStringLiteral("config.json"), QString::fromLatin1(kShardIndexName)}) {
    if (const HubFile* file = findHubFile(m_selection.files, name)) first.push_back(*file);
  }
  want(first);
}

void HubFetch::wantAll() {
  m_all = true;
  Q_EMIT chosen(m_selection.choice);
  want(m_selection.files);
}

void HubFetch::want(const std::vector<HubFile>& files) {
  std::set<QByteArray> hashes;
  m_total = 0;
  m_wanted.clear();
  for (const HubFile& file : files) {
    if (!hashes.insert(file.hash).second) continue;  // the same bytes under another name
    m_total += file.bytes;
    m_wanted.push_back(file);
  }
  const std::set<QByteArray> here = hereOf(m_wanted);
  std::erase_if(m_wanted, [&here](const HubFile& file) { return here.contains(file.hash); });
  requireRoom();
  fetchMore();
}

std::set<QByteArray> HubFetch::hereOf(const std::vector<HubFile>& files) {
  std::set<QByteArray> here;
  std::vector<std::pair<HubFile, QString>> unknown;
  qint64 total = 0;
  for (const HubFile& file : files) {
    const QString path = m_cache.found(file, m_commit.isEmpty() ? m_cache.reference() : m_commit);
    if (path.isEmpty() || file.hash.isEmpty()) continue;
    if (m_cache.isChecked(file, path)) {
      here.insert(file.hash);
    } else {
      unknown.emplace_back(file, path);
      total += file.bytes;
    }
  }
  qint64 before = 0;
  for (const auto& [file, path] : unknown) {
    const auto told = [&](qint64 done) { tell(DownloadStage::kChecking, before + done, total); };
    if (blobHashOf(path, file.kind, interrupt(), told) == file.hash) {
      m_cache.markChecked(file, path);
      here.insert(file.hash);
    }
    before += file.bytes;
  }
  return here;
}

// Bytes missing of a file that is not begun in this try.
qint64 HubFetch::missingOf(const HubFile& file) const {
  return std::max<qint64>(0, file.bytes - QFileInfo(m_cache.incomplete(file)).size());
}

void HubFetch::requireRoom() const {
  qint64 needed = kRoomThatStays;
  for (const HubFile& file : m_wanted) needed += missingOf(file);
  requireFreeBytes(m_request.source, m_cache.folder(), needed);
}

// Others fill the disk, too: chats have to find room on it.
void HubFetch::watchRoom() {
  const qint64 free = m_request.source.freeBytes(m_cache.folder());
  if (free >= 0 && free < kRoomThatStays / 4) {
    throw DownloadError({DownloadProblem::kNoSpace, m_cache.folder(), QStringLiteral("only %1 bytes are free").arg(free), kRoomThatStays});
  }
}

void HubFetch::fetchMore() {
  while (!m_wanted.empty() && m_transfers.size() < kTransfersAtOnce) {
    const HubFile file = m_wanted.front();
    m_wanted.erase(m_wanted.begin());
    startTransfer(file);
  }
  if (!m_transfers.empty()) return tellCome();
  checkCome();
}

void HubFetch::startTransfer(const HubFile& file) {
  auto transfer = std::make_unique<Transfer>(m_cache, file);
  if (transfer->part.size() > file.bytes) transfer->part.clear();
  if (transfer->part.size() == file.bytes) {
    m_come.push_back(file);
    return;
  }
  FetchTarget target{fileAddress(file), file.path, m_token, &transfer->part, file.bytes};
  if (file.kind == BlobHash::kSha256) target.linkedHash = file.hash;
  transfer->fetch = std::make_unique<AddressFetch>(*m_client, m_request.source, target);
  AddressFetch* fetch = transfer->fetch.get();
  Transfer* const raw = transfer.get();
  m_transfers.push_back(std::move(transfer));
  connect(fetch, &AddressFetch::progressed, this, [this, raw] {
    tellCome();
    if (m_headRead || raw->file.path != m_selection.opened) return;
    // Outside of the fetch, which a refusal ends; it may have ended meanwhile.
    QMetaObject::invokeMethod(
        this,
        [this, raw] {
          run([&] {
            const bool there = std::ranges::any_of(m_transfers, [raw](const auto& each) { return each.get() == raw; });
            if (there) requireArchitecture(*raw);
          });
        },
        Qt::QueuedConnection);
  });
  connect(fetch, &AddressFetch::waiting, this, [this](int seconds) { tell(DownloadStage::kWaiting, 0, seconds); });
  connect(fetch, &AddressFetch::finished, this, [this, raw] { run([this, raw] { endTransfer(raw); }); });
  connect(fetch, &AddressFetch::failed, this, [this](const DownloadFault& fault) { run([&] { endOrAskAgain(fault); }); });
  fetch->begin();
}

void HubFetch::endTransfer(Transfer* transfer) {
  requireArchitecture(*transfer);
  m_come.push_back(transfer->file);
  std::erase_if(m_transfers, [transfer](const std::unique_ptr<Transfer>& each) { return each.get() == transfer; });
  fetchMore();
}

void HubFetch::tellCome() {
  qint64 missing = 0;
  for (const HubFile& file : m_wanted) missing += missingOf(file);
  for (const auto& transfer : m_transfers) missing += transfer->file.bytes - transfer->part.size();
  tell(DownloadStage::kDownloading, m_total - missing, m_total);
}

// ---- what has come -----------------------------------------------------------------------------------------------------------------

void HubFetch::checkCome() {
  qint64 total = 0;
  qint64 before = 0;
  for (const HubFile& file : m_come) total += file.bytes;
  for (const HubFile& file : std::exchange(m_come, {})) {
    const HubLock lock(m_cache, file);
    const auto told = [&](qint64 done) { tell(DownloadStage::kChecking, before + done, total); };
    if (blobHashOf(m_cache.incomplete(file), file.kind, interrupt(), told) != file.hash) {
      QFile::remove(m_cache.incomplete(file));
      throw DownloadError({DownloadProblem::kHashDiffers, file.path, QStringLiteral("its hash is another one")});
    }
    m_cache.accept(file);
    before += file.bytes;
  }
  if (m_all) return publish();
  requireFamily();
  wantAll();
}

// Requires of a folder that the engine has its family and that its shards belong to what is wanted.
void HubFetch::requireFamily() {
  const auto here = [this](const QString& name) {
    const HubFile* file = findHubFile(m_selection.files, name);
    if (file == nullptr) return QByteArray();
    const QByteArray blob = contentOf(m_cache.blob(*file));
    return blob.isEmpty() ? contentOf(m_cache.snapshot(m_commit) + QLatin1Char('/') + name) : blob;
  };
  requireKnownFamily(here(QStringLiteral("config.json")), m_request.name.repository);
  const QByteArray index = here(QString::fromLatin1(kShardIndexName));
  if (index.isEmpty()) return;
  for (const HubFile& shard : shardsOf(index, m_tree)) {
    m_selection.files.push_back(shard);
    m_selection.choice.bytes += shard.bytes;
  }
}

// Files that an earlier commit had and this one has unchanged stay in the snapshot.
void HubFetch::publish() {
  const std::vector<HubFile> earlier = m_cache.stored(m_cache.reference());
  for (const HubFile& file : m_tree) {
    const HubFile* before = findHubFile(earlier, file.path);
    if (before != nullptr && before->hash == file.hash && !m_cache.found(file, m_commit).isEmpty()) m_cache.link(file, m_commit);
  }
  // A folder's configuration last: with it the folder is a model.
  std::ranges::stable_partition(m_selection.files, [](const HubFile& file) { return file.path != QLatin1String("config.json"); });
  for (const HubFile& file : m_selection.files) m_cache.link(file, m_commit);
  m_cache.setReference(m_commit);
  const QString snapshot = m_cache.snapshot(m_commit);
  finish(m_selection.opened.isEmpty() ? snapshot : snapshot + QLatin1Char('/') + m_selection.opened);
}

// Everything anew with the token that was typed, if the hub wants one: a file may be refused whose repository was shown.
void HubFetch::endOrAskAgain(const DownloadFault& fault) {
  const bool wanted = fault.status == kUnauthorised || fault.status == kForbidden;
  const bool asks = wanted && m_request.typedToken && !std::exchange(m_askedTyped, wanted);
  const QByteArray typed = asks ? m_request.typedToken(interrupt()) : QByteArray();
  if (typed.isEmpty()) throw DownloadError(hubFault(fault));
  m_token = typed;
  giveUp();
  m_tree.clear();
  m_pages = 0;
  m_come.clear();
  askRevision();
}

// The meaning of a status on the hub.
DownloadFault HubFetch::hubFault(DownloadFault fault) const {
  const QString page = m_request.place.endpoint + QLatin1Char('/') + m_request.name.repository;
  if (fault.code == "GatedRepo" && (fault.status == kUnauthorised || fault.status == kForbidden)) {
    fault.problem = m_token.isEmpty() ? DownloadProblem::kNeedsToken : DownloadProblem::kGated;
    fault.subject = page;
  } else if (fault.status == kUnauthorised) {
    fault.problem = DownloadProblem::kNoSuchModel;
    fault.subject = m_request.name.repository;
    fault.reason = m_token.isEmpty() ? QStringLiteral("no token was sent") : QStringLiteral("the token was not accepted");
  } else if (fault.status == kForbidden) {
    fault.problem = DownloadProblem::kGated;
    fault.subject = page;
  } else if (fault.status == kNotFound) {
    fault.problem = m_commit.isEmpty() ? DownloadProblem::kNoSuchModel : DownloadProblem::kChanged;
    fault.subject = m_request.name.repository;
  }
  return fault;
}

}  // namespace winnow::app
