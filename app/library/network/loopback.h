// Tells if an address leads to this very machine, so that what is sent there crosses no network. Threads: any.
#pragma once

#include <QString>

namespace winnow::app {

bool isLoopback(const QString& host);  // a numeric address of this machine, or localhost

}  // namespace winnow::app
