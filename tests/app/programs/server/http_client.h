// A client that sends exactly the bytes it is told to: for tests of what listens.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "app/ground/process/open_file.h"

namespace winnow::test {

class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port) : m_socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(port);
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    m_connected = ::connect(m_socket.descriptor(), reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0;
    const timeval patience{20, 0};
    ::setsockopt(m_socket.descriptor(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  bool connected() const { return m_connected; }

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(m_socket.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  // Nothing more is sent; what comes is still read.
  void finish() const { ::shutdown(m_socket.descriptor(), SHUT_WR); }
  // Until the other side closes, or the text has come.
  std::string receive(std::string_view until = {}) const {
    std::string all;
    char bytes[4096];
    while (until.empty() || all.find(until) == std::string::npos) {
      const ssize_t got = ::recv(m_socket.descriptor(), bytes, sizeof bytes, 0);
      if (got <= 0) break;
      all.append(bytes, static_cast<std::size_t>(got));
    }
    return all;
  }

 private:
  const app::OpenFile m_socket;
  bool m_connected = false;
};

inline std::string request(std::string_view line, std::string_view body = {}, std::string_view headers = {}) {
  std::string text = std::string(line) + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + std::string(headers);
  if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return text + "\r\n" + std::string(body);
}

}  // namespace winnow::test
