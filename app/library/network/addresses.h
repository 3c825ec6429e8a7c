// Facts about addresses: whether one leads to this very machine, so that what is sent there crosses no network, and whether two are of one
// server. Threads: any.
#pragma once

#include <QString>
#include <QUrl>

namespace winnow::app {

bool isLoopback(const QString& host);  // a numeric address of this machine, or localhost

// Tells if two addresses are of one server: scheme, host and port are the same.
//
// Decides who is told a token.
inline bool sameOrigin(const QUrl& a, const QUrl& b) { return a.scheme() == b.scheme() && a.host() == b.host() && a.port() == b.port(); }

}  // namespace winnow::app
