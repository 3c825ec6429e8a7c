#include "app/network/machine_proxies.h"

#include "app/network/loopback.h"

namespace winnow::app {

QList<QNetworkProxy> MachineProxies::queryProxy(const QNetworkProxyQuery& query) {
  return isLoopback(query.peerHostName()) ? QList<QNetworkProxy>{QNetworkProxy::NoProxy} : systemProxyForQuery(query);
}

}  // namespace winnow::app
