// The place of a model of the hub: its name as a person types it, and the place of the hub and its cache, taken from the environment as its
// own tools do.
//
// Used by hub_fetch.h, by the terminal program, and by app/library/models, which looks for models there. Reading the token touches the
// disk. No errors. Threads: any.
#pragma once

#include <QByteArray>
#include <QString>
#include <optional>

namespace winnow::app {

struct HubPlace {
  QString endpoint;      // HF_ENDPOINT, else https://huggingface.co; without a slash at its end
  QString cache{};       // HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, $HF_HOME/hub, else ~/.cache/huggingface/hub
  QByteArray token{};    // HF_TOKEN, else the file of HF_TOKEN_PATH or $HF_HOME/token; empty: none
  bool offline = false;  // HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE

  static HubPlace fromEnvironment();
};

// HubPlace::cache alone; `home`: of the user.
QString hubCacheFolder(const QString& home);

// A name of a model on the hub, as a person types it: OWNER/NAME[@REVISION][:QUANTISATION], or an address of its pages or files.
struct HubName {
  QString repository;    // "owner/name", with characters that a path and an address may hold
  QString quantisation;  // or the name of a file; empty: whichever suits
  QString revision{};    // a branch, a tag or a commit; empty: main

  QString text() const {
    return repository + (revision.isEmpty() ? QString() : QLatin1Char('@') + revision) +
           (quantisation.isEmpty() ? QString() : QLatin1Char(':') + quantisation);
  }
  friend bool operator==(const HubName&, const HubName&) = default;
};

std::optional<HubName> readHubName(const QString& typed);

}  // namespace winnow::app
