#include "app/network/machine_proxies.h"

#include <QHostAddress>

namespace winnow::app {

bool isLoopback(const QString& host) { return host == QLatin1String("localhost") || QHostAddress(host).isLoopback(); }

QList<QNetworkProxy> MachineProxies::queryProxy(const QNetworkProxyQuery& query) {
  return isLoopback(query.peerHostName()) ? QList<QNetworkProxy>{QNetworkProxy::NoProxy} : systemProxyForQuery(query);
}

}  // namespace winnow::app
