#include "app/library/network/machine_proxies.h"

#include "app/library/network/addresses.h"

namespace winnow::app {

QList<QNetworkProxy> MachineProxies::queryProxy(const QNetworkProxyQuery& query) {
  return isLoopback(query.peerHostName()) ? QList<QNetworkProxy>{QNetworkProxy::NoProxy} : systemProxyForQuery(query);
}

}  // namespace winnow::app
