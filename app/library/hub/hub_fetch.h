// The steps of a download from the hub: which commit, which files, what of them is here, two at a time the rest, their hashes, the
// snapshot.
//
// Everything is asked for at one commit, so that what is put on the hub meanwhile changes nothing. Each file grows as
// `blobs/<hash>.incomplete` and is taken up where it ended, in this try or after a kill. The snapshot and the reference are written when
// every byte is here and checked; a file with a wrong hash is removed, since taking it up again would not help. What lies in the cache
// already is hashed before it is used for the first time, and fetched again where it is something else. Without the network what is here is
// found by the same choice. Errors and threads: download_steps.h.
#pragma once

#include <QTimer>
#include <memory>
#include <set>
#include <vector>

#include "app/library/downloads/address_fetch.h"
#include "app/library/downloads/download_steps.h"
#include "app/library/hub/hub_cache.h"
#include "app/library/hub/hub_choice.h"
#include "app/library/hub/hub_download.h"

namespace winnow::app {

class HubFetch final : public DownloadSteps {
  Q_OBJECT
 public:
  HubFetch(HubRequest request, const InterruptToken& interrupt);
  ~HubFetch() override;

 private:
  struct Transfer;

  void prepare() override;
  void giveUp() override;
  void askRevision();
  void askTree(const QUrl& page);
  void readTreePage();
  void choose();
  void wantDocuments();
  void wantAll();
  void want(const std::vector<HubFile>& files);
  // Those that are here, byte for byte. Hashes what has no stamp.
  std::set<QByteArray> hereOf(const std::vector<HubFile>& files);
  qint64 missingOf(const HubFile& file) const;
  void requireRoom() const;
  void watchRoom();
  void fetchMore();
  void startTransfer(const HubFile& file);
  void endTransfer(Transfer* transfer);
  void checkCome();
  void requireFamily();
  void requireArchitecture(const Transfer& transfer);
  void publish();
  bool finishWithStored();
  void tellCome();
  void endOrAskAgain(const DownloadFault& fault);
  DownloadFault hubFault(DownloadFault fault) const;
  QUrl apiAddress(const QString& path) const;
  QUrl fileAddress(const HubFile& file) const;
  void askPage(const QUrl& address, const QString& name, void (HubFetch::*read)());
  void readRevisionAnswer();

  const HubRequest m_request;
  const HubCache m_cache;
  QByteArray m_token;         // empty: none is known
  bool m_askedTyped = false;  // for one that was typed
  QString m_commit;
  QString m_gguf;           // architecture, as the hub says
  bool m_headRead = false;  // of the model's GGUF file, which says it better
  std::vector<HubFile> m_tree;
  HubSelection m_selection;
  bool m_all = false;             // everything is wanted: the snapshot follows
  std::vector<HubFile> m_wanted;  // not begun
  std::vector<HubFile> m_come;    // whole, not checked
  qint64 m_total = 0;
  std::unique_ptr<SecureClient> m_client;
  std::unique_ptr<AddressFetch> m_page;
  int m_pages = 0;
  std::vector<std::unique_ptr<Transfer>> m_transfers;
  QTimer m_room;
};

}  // namespace winnow::app
