// The place of the hub and its cache on this machine, taken from the environment as its own tools do.
//
// Used by hub_fetch.h, and by app/library/models, which looks for models there. Reading the token touches the disk. No errors. Threads:
// any.
#pragma once

#include <QByteArray>
#include <QString>

namespace winnow::app {

struct HubPlace {
  QString endpoint;      // HF_ENDPOINT, else https://huggingface.co; without a slash at its end
  QString cache;         // HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, $HF_HOME/hub, else ~/.cache/huggingface/hub
  QByteArray token;      // HF_TOKEN, else the file of HF_TOKEN_PATH or $HF_HOME/token; empty: none
  bool offline = false;  // HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE

  static HubPlace fromEnvironment();
};

// HubPlace::cache alone; `home`: of the user.
QString hubCacheFolder(const QString& home);

}  // namespace winnow::app
