// A page of a "simple" package index (PEP 503): which address a file of a project has.
//
// Used by package_fetch.h. The page comes from a server that nobody vouches for: what is found is checked by size and hash later, and its
// address as every other (secure_client.h). No errors. Threads: any.
#pragma once

#include <QByteArray>
#include <QString>
#include <QUrl>
#include <optional>

namespace winnow::app {

// `index`: with or without a slash at its end.
QUrl projectPage(const QString& index, const QString& project);

struct IndexedFile {
  QUrl address;       // without its fragment
  QByteArray sha256;  // lower-case hexadecimal; empty: the page says none
};

// The link whose file is `name`; relative ones go out from `pageAddress`. Nothing: there is none.
std::optional<IndexedFile> findFile(const QByteArray& page, const QUrl& pageAddress, const QString& name);

}  // namespace winnow::app
