// What a person types to name a model of the hub: OWNER/NAME, OWNER/NAME:QUANTISATION, or the address of its page.
//
// Used by the terminal program and the window. No errors: what is no name is nothing. Threads: any.
#pragma once

#include <QString>
#include <optional>

namespace winnow::app {

struct HubName {
  QString repository;    // "owner/name", with characters that a path and an address may hold
  QString quantisation;  // or the name of a file; empty: whichever suits

  QString text() const { return quantisation.isEmpty() ? repository : repository + QLatin1Char(':') + quantisation; }
  friend bool operator==(const HubName&, const HubName&) = default;
};

std::optional<HubName> readHubName(const QString& typed);

}  // namespace winnow::app
