#include "tests/support/flooding_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <utility>

namespace winnow::test {
namespace {

constexpr int kLookMs = 20;
constexpr int kHeldBackLooks = 15;  // without a byte taken

bool isReady(int socket, short what) {
  pollfd entry{socket, what, 0};
  return ::poll(&entry, 1, kLookMs) > 0;
}

}  // namespace

FloodingServer::FloodingServer(std::string head, std::string piece) : m_head(std::move(head)), m_piece(std::move(piece)) {
  m_listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(m_listener, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(m_listener, 1) != 0 ||
      ::getsockname(m_listener, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("no port to listen on");
  m_port = ntohs(address.sin_port);
  m_thread = std::thread([this] { serve(); });
}

FloodingServer::~FloodingServer() {
  m_quit.store(true);
  m_thread.join();
  ::close(m_listener);
}

void FloodingServer::serve() {
  while (!m_quit.load() && !isReady(m_listener, POLLIN)) {
  }
  if (m_quit.load()) return;
  const int socket = ::accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  const int buffer = 64 << 10;  // little stays in the kernel
  ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
  while (!m_quit.load() && !isReady(socket, POLLIN)) {
  }
  std::string bytes = m_head;
  while (bytes.size() < m_head.size() + (std::size_t{1} << 18)) bytes += m_piece;
  std::size_t at = 0;
  for (int looks = 0; !m_quit.load() && m_sentBytes.load() < kMostBytes;) {
    m_heldBack.store(looks >= kHeldBackLooks);
    if (!isReady(socket, POLLOUT)) {
      ++looks;
      continue;
    }
    const ssize_t sent = ::send(socket, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (sent <= 0) break;
    looks = 0;
    m_sentBytes.fetch_add(sent);
    at += static_cast<std::size_t>(sent);
    if (at == bytes.size()) at = m_head.size();
  }
  m_heldBack.store(true);
  while (!m_quit.load()) isReady(m_listener, 0);
  ::close(socket);
}

}  // namespace winnow::test
