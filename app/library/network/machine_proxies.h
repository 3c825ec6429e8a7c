// The way into the network that this machine has: what the desktop and the environment say (https_proxy and its kin), and none on the way
// to this very machine.
//
// Given to every QNetworkAccessManager of the program, which owns it then. Threads: any.
#pragma once

#include <QNetworkProxyFactory>

namespace winnow::app {

class MachineProxies : public QNetworkProxyFactory {
 public:
  QList<QNetworkProxy> queryProxy(const QNetworkProxyQuery& query) override;
};

}  // namespace winnow::app
