#include "app/library/network/addresses.h"

#include <QHostAddress>

namespace winnow::app {

bool isLoopback(const QString& host) { return host == QLatin1String("localhost") || QHostAddress(host).isLoopback(); }

}  // namespace winnow::app
