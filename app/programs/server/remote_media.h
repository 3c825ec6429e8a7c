// Fetches a picture, a video or a document that a request names by an http or https address.
//
// The name is resolved once, every address that it has must be public, and the connection goes to one of these addresses, so that a name
// that means something else a moment later leads nowhere. Redirects are not followed, no proxy is asked. Size and time are limited, for all
// that one request names together. What the file is its bytes say later, not the server. Errors: ApiRefusal (400), which tells nothing but
// the kind of fault; also once the interrupt is raised. Threads: one for each object; fetch() waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/programs/server/public_address.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

struct RemoteMediaLimits {
  std::int64_t bytes = std::int64_t{256} << 20;
  int silenceMs = 10'000;
  int wholeMs = 60'000;
  // Tests have their own.
  std::function<std::vector<std::string>(const std::string& host)> resolve;  // to numeric addresses; empty: the machine's way
  std::function<bool(const std::string& address)> allowed = isPublicAddress;
};

// The media that one request names.
class RemoteMedia {
 public:
  RemoteMedia(RemoteMediaLimits limits, InterruptToken interrupt);

  // param: the field, for refusals.
  std::vector<std::uint8_t> fetch(const std::string& url, const std::string& param);

 private:
  const RemoteMediaLimits m_limits;
  const InterruptToken m_interrupt;
  const std::chrono::steady_clock::time_point m_begun;
  std::int64_t m_bytes = 0;  // that have come
};

}  // namespace winnow::app
