#include "app/server/api_access.h"

#include <algorithm>

#include "app/server/api_json.h"

namespace winnow::app {
namespace {

// "localhost:8642" -> "localhost", "[::1]:8642" -> "[::1]".
std::string nameOf(const std::string& host) {
  const std::size_t closing = host.find(']');
  const std::size_t colon = host.find(':', closing == std::string::npos ? 0 : closing);
  return host.substr(0, colon);
}

bool isThisMachine(const std::string& host) {
  const std::string name = nameOf(host);
  return name == "localhost" || name == "[::1]" || name == "127.0.0.1";
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
  if (access.key.empty()) {
    if (isThisMachine(request.host)) return std::nullopt;
    return errorReply(403, "the Host header names another machine", {}, "host_not_allowed");
  }
  if (request.path == "/health" || request.method == "OPTIONS") return std::nullopt;
  if (equalSecrets(request.authorization, "Bearer " + access.key)) return std::nullopt;
  HttpReply reply = errorReply(401, "the API key is missing or wrong", {}, "invalid_api_key");
  reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  return reply;
}

}  // namespace winnow::app
