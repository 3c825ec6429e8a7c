// HTTP to one server: requests out, whole answers or a stream in, until they end or are interrupted.
//
// Certificates are verified, redirects are not followed (a key would go along), answers are bounded. None is asked for compressed; one
// that is all the same is read (gzip, zlib) or refused. A call runs an event loop of its own and returns when the answer is there; an
// interrupt closes the connection at the next look (awaited_reply.h). Errors: Exception (kServerUnreachable, kServerUntrusted,
// kServerNotUnderstood, kServerBrokeOff) with the host as subject, Interrupted. A status is no error here: server_fault.h. Threads: the one
// that made it.
#pragma once

#include <QNetworkAccessManager>
#include <QNetworkRequest>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/engine/remote/server_address.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

struct ServerPatience {
  int connectMs = 20'000;   // until the request is sent, without a byte of it taken
  int answerMs = 15'000;    // of a question about the server: until the whole answer is there
  int silenceMs = 600'000;  // of a stream: without a byte; a slow machine reads a long prompt
};

struct ServerReply {
  int status = 0;
  std::string type{};        // "application/json", without parameters, lower case
  std::string retryAfter{};  // header
  std::string location{};    // header
  std::string body{};        // empty of what was streamed
};

class ServerConnection {
 public:
  static constexpr std::size_t kMostBodyBytes = 8 << 20;

  ServerConnection(ServerAddress address, std::string key, ServerPatience patience = {});

  const ServerAddress& address() const { return m_address; }
  const ServerPatience& patience() const { return m_patience; }
  void moveTo(std::string url) { m_address.url = std::move(url); }  // of the same server
  // url: whole. body: JSON to POST.
  ServerReply ask(const std::string& url, const std::optional<std::string>& body, const InterruptToken& interrupt);

  // With every request from now on.
  void alwaysSay(const std::string& header, const std::string& value) { m_headers.emplace_back(header, value); }
  ServerReply put(const std::string& url, std::string_view bytes, const InterruptToken& interrupt);
  // Posts nothing and waits for no answer; from inside of another call's interrupt or pieces, too.
  void tell(const std::string& url);

  // A successful answer's pieces, as they come; what it throws ends the connection and is thrown on.
  using Take = std::function<void(const ServerReply& head, std::string_view piece)>;
  ServerReply stream(const std::string& url, const std::string& body, const Take& take, const InterruptToken& interrupt);

 private:
  class Exchange;
  QNetworkRequest requestTo(const std::string& url) const;

  ServerAddress m_address;
  const std::string m_key;
  std::vector<std::pair<std::string, std::string>> m_headers;
  const ServerPatience m_patience;
  QNetworkAccessManager m_manager;
};

}  // namespace winnow::app
