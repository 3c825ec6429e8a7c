// A name of a model on the hub, as a person types it: OWNER/NAME[@REVISION][:QUANTISATION], or an address of its pages or files.
//
// Used by the terminal program and the window. No errors: what is no name is nothing. Threads: any.
#pragma once

#include <QString>
#include <optional>

namespace winnow::app {

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
