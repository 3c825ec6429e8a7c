// Tells if an address is one of the public internet: the only ones that media are fetched from, because a request could otherwise read what
// this machine and its network show to themselves. Pure.
#pragma once

#include <string>

namespace winnow::app {

// False for this machine, private and local networks, those set aside for documentation, tests and translation, groups and broadcasts;
// also in the form of IPv6 addresses that
// hold an IPv4 address, and for what is no address.
bool isPublicAddress(const std::string& numeric);

}  // namespace winnow::app
