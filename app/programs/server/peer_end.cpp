#include "app/programs/server/peer_end.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <string>

namespace winnow::app {
namespace {

struct Place {
  unsigned port = 0;
  bool loopback = false;
};

using NameOf = int (*)(int, sockaddr*, socklen_t*);

std::optional<Place> placeOf(int socket, NameOf name) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  if (name(socket, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return std::nullopt;
  if (address.ss_family == AF_INET) {
    const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(address);
    return Place{ntohs(ipv4.sin_port), ntohl(ipv4.sin_addr.s_addr) >> 24 == 127};
  }
  const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(address);
  return Place{ntohs(ipv6.sin6_port), IN6_IS_ADDR_LOOPBACK(&ipv6.sin6_addr) != 0};
}

enum class Held : int { kByAProcess = 1, kByNobody = 2, kNotListed = 3 };

// A socket between these two ports, as a table of the kernel lists it. What is between two processes of this machine stands there twice.
Held heldIn(const char* table, unsigned port, unsigned towards) {
  std::ifstream lines(table);
  std::string line;
  while (std::getline(lines, line)) {
    unsigned from = 0, to = 0;
    unsigned long inode = 0;
    const int read = std::sscanf(line.c_str(), "%*u: %*[0-9A-F]:%X %*[0-9A-F]:%X %*X %*X:%*X %*X:%*X %*X %*u %*d %lu", &from, &to, &inode);
    if (read == 3 && from == port && to == towards) return inode != 0 ? Held::kByAProcess : Held::kByNobody;
  }
  return Held::kNotListed;
}

}  // namespace

void askWhetherPeerIsThere(int socket) {
  const int on = 1, seconds = 1, times = 3;
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

bool peerIsGone(int socket) {
  int error = 0;
  socklen_t bytes = sizeof error;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0 || error != 0) return true;
  const std::optional<Place> own = placeOf(socket, ::getsockname), peer = placeOf(socket, ::getpeername);
  if (!own || !peer) return true;
  if (!peer->loopback) return false;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const Held held = heldIn(table, peer->port, own->port);
    if (held != Held::kNotListed) return held == Held::kByNobody;
  }
  return std::ifstream("/proc/net/tcp").good();  // not listed any more, unless there is no table
}

}  // namespace winnow::app
