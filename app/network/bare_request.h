// A request that brings what its address names and nothing else: no redirect is followed, no cookie kept or sent, nothing comes from a
// cache or compressed.
//
// Used by whatever asks the network, so that what is refused and what is told of us is settled once. Threads: any.
#pragma once

#include <QNetworkRequest>

namespace winnow::app {

QNetworkRequest bareRequest(const QUrl& address);

}  // namespace winnow::app
