// Tells if two addresses are of one server: scheme, host and port are the same.
//
// Decides who is told a token. No errors. Threads: any.
#pragma once

#include <QUrl>

namespace winnow::app {

inline bool sameOrigin(const QUrl& a, const QUrl& b) { return a.scheme() == b.scheme() && a.host() == b.host() && a.port() == b.port(); }

}  // namespace winnow::app
