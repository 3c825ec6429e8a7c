#include "app/programs/server/public_address.h"

#include <QHostAddress>
#include <algorithm>
#include <iterator>

namespace winnow::app {
namespace {

// From IANA's registries of special-purpose addresses.
constexpr const char* kSetAside[] = {"0.0.0.0/8",     "10.0.0.0/8",      "100.64.0.0/10",  "127.0.0.0/8",    "169.254.0.0/16",
                                     "172.16.0.0/12", "192.0.0.0/24",    "192.0.2.0/24",   "192.88.99.0/24", "192.168.0.0/16",
                                     "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",    "240.0.0.0/4",
                                     "2001::/23",     "2001:db8::/32",   "2002::/16",      "3fff::/20"};
constexpr char kGlobalUnicast[] = "2000::/3";

bool isIn(const QHostAddress& address, const char* network) {
  return address.isInSubnet(QHostAddress::parseSubnet(QLatin1String(network)));
}

}  // namespace

bool isPublicAddress(const std::string& numeric) {
  const QHostAddress address(QString::fromStdString(numeric));
  if (address.isNull()) return false;
  bool holdsIpv4 = false;
  const QHostAddress ipv4(address.toIPv4Address(&holdsIpv4));
  const QHostAddress& judged = holdsIpv4 ? ipv4 : address;
  if (!holdsIpv4 && !isIn(judged, kGlobalUnicast)) return false;
  return std::none_of(std::begin(kSetAside), std::end(kSetAside), [&](const char* network) { return isIn(judged, network); });
}

}  // namespace winnow::app
