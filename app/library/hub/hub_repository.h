// The hub's facts about a repository: its commit, and its files with sizes and hashes; and the hash of a file that is here, as the hub has
// it.
//
// Used by hub_fetch.h and hub_choice.h. All of it is a stranger's: names that could lead out of a folder, negative sizes and what is no
// hash are refused, long lists are cut off. Errors: DownloadError; kOtherAnswer where the text is not what the hub sends (a captive
// portal's page). Threads: any.
#pragma once

#include <QByteArray>
#include <QString>
#include <QUrl>
#include <functional>
#include <optional>
#include <vector>

#include "engine/base/interrupt.h"

namespace winnow::app {

enum class BlobHash : int { kSha256 = 1, kGitBlob = 2 };

struct HubFile {
  QString path;  // within the repository, with slashes
  qint64 bytes = 0;
  BlobHash kind = BlobHash::kGitBlob;
  QByteArray hash{};  // lower-case hexadecimal; the name of its blob

  friend bool operator==(const HubFile&, const HubFile&) = default;
};

struct HubRevision {
  QString commit;
  QString gguf{};  // its architecture, where the hub has looked into it; empty: it has not
};

inline constexpr std::size_t kMostHubFiles = 10'000;

bool isCommit(const QString& text);
// 64 hexadecimal digits, or the 40 of a git blob.
std::optional<BlobHash> hashKind(const QByteArray& hash);

// `host`: who answered, for faults.
HubRevision readRevision(const QByteArray& json, const QString& host);
// One page of the list, in its order; folders are left out.
std::vector<HubFile> readTree(const QByteArray& json, const QString& host);
// The address of the next page, by the header Link; nothing: this was the last.
std::optional<QUrl> nextPage(const QByteArray& link, const QUrl& page);

// The hash by which the hub names a file's bytes: SHA-256, or the id that git gives a blob.
//
// Errors: DownloadError(kUnwritable) of a file that cannot be read; Interrupted.
QByteArray blobHashOf(const QString& path, BlobHash kind, const InterruptToken& interrupt,
                      const std::function<void(qint64 done)>& progress);

}  // namespace winnow::app
