// Fetches a picture, a video or a document that a request names by an http or https address.
//
// The name is resolved once, every address that it has must be public, and the connection goes to one of these addresses, so that a name
// that means something else a moment later leads nowhere. Redirects are not followed, no proxy is asked, size and time are limited. What
// the file is its bytes say later, not the server. Errors: ApiRefusal (400), which tells nothing but the kind of fault. Threads: one;
// fetch() waits.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/server/public_address.h"

namespace winnow::app {

struct RemoteMediaLimits {
  std::int64_t bytes = std::int64_t{256} << 20;
  int silenceMs = 10'000;
  int wholeMs = 60'000;
  // Tests have their own.
  std::function<std::vector<std::string>(const std::string& host)> resolve;  // to numeric addresses; empty: the machine's way
  std::function<bool(const std::string& address)> allowed = isPublicAddress;
};

// param: the field, for refusals.
std::vector<std::uint8_t> fetchRemoteMedia(const std::string& url, const std::string& param, const RemoteMediaLimits& limits);

}  // namespace winnow::app
