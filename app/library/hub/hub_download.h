// A model of the hub by name, fetched into the hub's cache on a thread of its own.
//
// Made by the terminal program and the window. Its `finished` names what the engine opens: a GGUF file of the snapshot, or the snapshot.
// Errors and threads: download_steps.h.
#pragma once

#include "app/library/downloads/download_source.h"
#include "app/library/downloads/download_steps.h"
#include "app/library/hub/hub_place.h"

namespace winnow::app {

struct HubRequest {
  HubName name;
  HubPlace place;
  DownloadSource source;
  qint64 memoryBytes = 0;  // of this machine or its GPU, whichever has more; 0: not known
  // A token that was typed, where the hub wants one or another one than the environment's; empty: there is none. Asked on the download's
  // thread, and waits. Null: nobody is asked.
  std::function<QByteArray(const InterruptToken&)> typedToken = nullptr;

  // A request as the environment asks for it.
  static HubRequest of(const HubName& name, qint64 memoryBytes);
};

class HubDownload final : public ThreadedDownload {
  Q_OBJECT
 public:
  explicit HubDownload(const HubRequest& request);
};

}  // namespace winnow::app
