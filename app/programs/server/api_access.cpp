#include "app/programs/server/api_access.h"

#include <algorithm>
#include <string_view>

#include "app/programs/server/api_json.h"

namespace winnow::app {
namespace {

std::string lowered(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) { return letter >= 'A' && letter <= 'Z' ? letter + 32 : letter; });
  return text;
}

// "Localhost:8642" -> "localhost", "[::1]:8642" -> "[::1]"; empty: no host and port.
std::string hostNameOf(const std::string& host) {
  const std::size_t closing = host.find(']');
  const std::size_t colon = std::min(host.find(':', closing == std::string::npos ? 0 : closing), host.size());
  if (host.find_first_not_of("0123456789", std::min(colon + 1, host.size())) != std::string::npos) return {};
  return lowered(host.substr(0, colon));
}

bool isThisMachine(const std::string& host) {
  const std::string name = hostNameOf(host);
  return name == "localhost" || name == "[::1]" || name == "127.0.0.1";
}

// "Bearer KEY"; the scheme's name has no case.
bool namesKey(const std::string& authorization, const std::string& key) {
  constexpr std::string_view kScheme = "bearer ";
  return lowered(authorization.substr(0, kScheme.size())) == kScheme && equalSecrets(authorization.substr(kScheme.size()), key);
}

// Watchdogs have no key, nor have browsers that ask whether a page may ask. Neither has anything to send.
bool needsNoKey(const HttpRequest& request) {
  return request.method == "OPTIONS" || (request.method == "GET" && request.path == "/health");
}

}  // namespace

bool equalSecrets(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return different == 0;
}

std::optional<HttpReply> refusedAccess(const HttpRequest& request, const ApiAccess& access) {
  if (!request.origin.empty() && std::ranges::find(access.origins, request.origin) == access.origins.end())
    return errorReply(403, "pages of this origin may not ask (--allow-origin)", {}, "origin_not_allowed");
  if (needsNoKey(request) && request.announcesBody) return errorReply(413, "this endpoint takes no body");
  if (access.key.empty()) {
    if (isThisMachine(request.host)) return std::nullopt;
    return errorReply(403, "the Host header names another machine", {}, "host_not_allowed");
  }
  if (needsNoKey(request) || namesKey(request.authorization, access.key)) return std::nullopt;
  HttpReply reply = errorReply(401, "the API key is missing or wrong", {}, "invalid_api_key");
  reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  return reply;
}

}  // namespace winnow::app
