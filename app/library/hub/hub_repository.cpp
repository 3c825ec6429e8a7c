#include "app/library/hub/hub_repository.h"

#include <QRegularExpression>
#include <algorithm>

#include "app/library/downloads/download_fault.h"
#include "app/library/downloads/file_hash.h"
#include "engine/base/json_document.h"

namespace winnow::app {
namespace {

constexpr std::uint64_t kMostJsonBytes = std::uint64_t{32} << 20;
constexpr std::size_t kMostNameBytes = 512;
constexpr std::size_t kHashBytes = 64;
constexpr qsizetype kMostArchitecture = 64;
constexpr std::int64_t kMostFileBytes = std::int64_t{1} << 44;

// Anything that `read` cannot make out was not written by the hub.
template <typename Read>
auto answered(const QByteArray& json, const QString& host, const Read& read) {
  try {
    return read(parse_json(json.toStdString(), host.toStdString(), {kMostJsonBytes}));
  } catch (const Exception& problem) {
    const bool page = json.trimmed().startsWith('<');
    throw DownloadError(
        {DownloadProblem::kOtherAnswer, host,
         page ? QStringLiteral("it sent a web page where a list of files belongs")
              : QStringLiteral("it sent something other than the hub does: %1").arg(QString::fromStdString(problem.error().reason))});
  }
}

// No path that leads out of its folder, and none that a file system or a terminal would take for something else.
bool isPlainPath(const QString& path) {
  if (path.isEmpty() || path.startsWith(QLatin1Char('/')) || path.contains(QLatin1Char('\\'))) return false;
  if (std::ranges::any_of(path, [](QChar c) { return c.category() == QChar::Other_Control || c.category() == QChar::Other_Format; }))
    return false;
  const QStringList parts = path.split(QLatin1Char('/'));
  return std::ranges::none_of(parts, [](const QString& part) {
    return part.isEmpty() || part == QLatin1String(".") || part == QLatin1String("..") || part.toUtf8().size() > 255;
  });
}

bool isHex(const QByteArray& text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

HubFile fileOf(const JsonObject& item) {
  HubFile file{.path = QString::fromStdString(item.string("path", kMostNameBytes))};
  const std::optional<JsonObject> large = item.optional_object("lfs");
  file.bytes = large ? large->integer("size", 0, kMostFileBytes) : item.integer("size", 0, kMostFileBytes);
  file.hash = QByteArray::fromStdString(large ? large->string("oid", kHashBytes + 8) : item.string("oid", kHashBytes));
  if (file.hash.startsWith("sha256:")) file.hash = file.hash.mid(7);
  const std::optional<BlobHash> kind = hashKind(file.hash);
  if (!kind || (large && *kind != BlobHash::kSha256)) item.refuse(ErrorCode::kDamagedFile, "oid", "is not a hash");
  if (!isPlainPath(file.path)) item.refuse(ErrorCode::kDamagedFile, "path", "is not a file name");
  file.kind = *kind;
  return file;
}

}  // namespace

bool isCommit(const QString& text) {
  constexpr qsizetype kCommitDigits = 40;
  return text.size() == kCommitDigits && isHex(text.toLatin1());
}

std::optional<BlobHash> hashKind(const QByteArray& hash) {
  constexpr qsizetype kSha1Digits = 40;
  constexpr qsizetype kSha256Digits = 64;
  if (!isHex(hash)) return std::nullopt;
  if (hash.size() == kSha256Digits) return BlobHash::kSha256;
  if (hash.size() == kSha1Digits) return BlobHash::kGitBlob;
  return std::nullopt;
}

HubRevision readRevision(const QByteArray& json, const QString& host) {
  return answered(json, host, [&](const Json& document) {
    const JsonObject root(document, host.toStdString());
    HubRevision revision{.commit = QString::fromStdString(root.string("sha", kHashBytes))};
    if (!isCommit(revision.commit)) root.refuse(ErrorCode::kDamagedFile, "sha", "is not a commit");
    const auto gguf = document.find("gguf");
    if (gguf == document.end() || !gguf->is_object()) return revision;
    const auto architecture = gguf->find("architecture");
    if (architecture != gguf->end() && architecture->is_string())
      revision.gguf = QString::fromStdString(architecture->get<std::string>()).left(kMostArchitecture);
    return revision;
  });
}

std::vector<HubFile> readTree(const QByteArray& json, const QString& host) {
  return answered(json, host, [&](const Json& document) {
    if (!document.is_array()) throw Exception(ErrorCode::kDamagedFile, host.toStdString(), "not a list");
    std::vector<HubFile> files;
    for (const Json& each : document) {
      const JsonObject item(each, host.toStdString());
      if (item.string("type", kMostNameBytes) != "file") continue;
      try {
        files.push_back(fileOf(item));
      } catch (const Exception& problem) {  // the hub's own form, but no file that could be fetched
        throw DownloadError(
            {DownloadProblem::kNotReadable, host,
             QStringLiteral("%1 lists a file that is none: %2 (%3)")
                 .arg(host, QString::fromStdString(problem.error().reason), QString::fromStdString(problem.error().subject))});
      }
    }
    return files;
  });
}

std::optional<QUrl> nextPage(const QByteArray& link, const QUrl& page) {
  static const QRegularExpression next(QStringLiteral("<([^>]+)>\\s*;[^,]*rel=\"?next\"?"));
  const QRegularExpressionMatch match = next.match(QString::fromUtf8(link));
  if (!match.hasMatch()) return std::nullopt;
  return page.resolved(QUrl::fromEncoded(match.captured(1).toUtf8(), QUrl::StrictMode));
}

QByteArray blobHashOf(const QString& path, BlobHash kind, const InterruptToken& interrupt,
                      const std::function<void(qint64 done)>& progress) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) throw DownloadError({DownloadProblem::kUnwritable, path, file.errorString()});
  QCryptographicHash hash(kind == BlobHash::kSha256 ? QCryptographicHash::Sha256 : QCryptographicHash::Sha1);
  if (kind == BlobHash::kGitBlob) {
    hash.addData("blob " + QByteArray::number(file.size()));
    hash.addData(QByteArrayView("\0", 1));
  }
  if (!addToHash(hash, file, interrupt, progress)) throw DownloadError({DownloadProblem::kUnwritable, path, file.errorString()});
  return hash.result().toHex();
}

}  // namespace winnow::app
