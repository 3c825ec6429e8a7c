// HTTP/1.1 on a TCP port: whole requests in, answers out at once or piece by piece.
//
// Used by ApiServer, which knows what the requests mean; this file knows no more than HTTP. By Boost.Beast, on one thread of its own.
// Limits hold before memory is taken: bytes of a header, of a body, connections, and the time that the other side may take to send or to
// take anything. A body takes the memory of what has come of it, not of what is announced. A connection serves one request after another;
// what is wrong as HTTP is answered with 400, 413, 431 or 501 and closed; whoever is too slow is closed. When there are too many
// connections, the one that waits longest without a whole header makes room for a new one.
// Errors: the constructor throws Exception(kInvalidArgument) where the address cannot be listened on, saying why.
// Threads: the handler is called on the listener's thread and must not block; HttpAnswer may be used from any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace winnow::app {

struct HttpRequest {
  std::string method;   // "GET"
  std::string path{};   // from "/" on, without the query; as sent
  std::string query{};  // after the "?"
  std::string host{};
  std::string origin{};         // empty: none
  std::string authorization{};  // likewise
  std::string session{};        // header Winnow-Session; likewise
  std::string type{};           // Content-Type; likewise
  bool announcesBody = false;
  std::string body{};
};

struct HttpReply {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // beside those that HTTP itself wants
};

// The answer to one request: send() alone, or begin(), write() any number of times, end(). Dropped without either: 500.
class HttpAnswer {
 public:
  virtual ~HttpAnswer() = default;
  virtual void send(HttpReply reply) = 0;
  virtual void begin(HttpReply head) = 0;  // its body is the first piece
  virtual void write(std::string piece) = 0;
  virtual void end() = 0;
  // Called once, on the listener's thread, if the other side is gone before the answer has ended, or was gone already. One that only sends
  // nothing more is still there.
  virtual void whenGone(std::function<void()> tell) = 0;
};

struct HttpLimits {
  std::size_t headerBytes = 16 << 10;
  std::uint64_t bodyBytes = std::uint64_t{256} << 20;
  std::uint64_t allBodyBytes = std::uint64_t{512} << 20;  // that have come of all connections together; beyond it: 503
  std::uint64_t leastBytesPerS = 4 << 10;                 // of a body, from silenceMs after its header on
  int connections = 128;
  std::int64_t headerMs = 10'000;       // until a header is whole, and between two requests
  std::int64_t silenceMs = 20'000;      // in which not a byte of a body comes, or not a byte of an answer is taken
  std::size_t waitingBytes = 64 << 20;  // of an answer that nobody takes; beyond it the other side counts as gone
};

class HttpListener {
 public:
  // Judges a header before its body is read: nothing, or the refusal.
  using Gate = std::function<std::optional<HttpReply>(const HttpRequest& withoutBody)>;
  using Handler = std::function<void(HttpRequest request, std::shared_ptr<HttpAnswer> answer)>;

  // address: numeric, IPv4 or IPv6; port 0: any that is free.
  HttpListener(const std::string& address, std::uint16_t port, const HttpLimits& limits, Gate gate, Handler handler);
  ~HttpListener();  // closes every connection and joins
  HttpListener(const HttpListener&) = delete;
  HttpListener& operator=(const HttpListener&) = delete;

  std::uint16_t port() const;

 private:
  class Loop;
  std::unique_ptr<Loop> m_loop;
};

}  // namespace winnow::app
