// A request that brings what its address names and nothing else: no redirect is followed, no cookie kept or sent, nothing comes from a
// cache or compressed; and a bound on what is held of its reply.
//
// Used by whatever asks the network, so that what is refused and what is told of us is settled once. Threads: any.
#pragma once

#include <QNetworkReply>
#include <QNetworkRequest>

namespace winnow::app {

inline constexpr qint64 kMostHeldBytes = qint64{256} << 10;

QNetworkRequest bareRequest(const QUrl& address);
// Holds at most kMostHeldBytes of a reply that nobody has read yet: the rest waits with its sender. Called as soon as the reply is made;
// from then on it is read with readAll(), since only a read that finds nothing more tells Qt that there is room again.
void boundHeldBytes(QNetworkReply& reply);

}  // namespace winnow::app
