// How the server is set up. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/engine/cache_store/keeping_engine.h"
#include "app/programs/server/api_access.h"
#include "app/programs/server/chat_request.h"
#include "app/programs/server/http_listener.h"
#include "app/programs/server/remote_media.h"
#include "app/programs/server/served_sounds.h"

namespace winnow::app {

inline constexpr ConversationId kFirstServedConversation = kFirstUnkeptConversation;

struct ApiOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8642;  // 0: any that is free
  ApiAccess access{};
  RequestDefaults defaults{};
  bool lengthGiven = false;  // of an answer, by defaults.sampling
  std::vector<std::string> mediaFolders{};
  std::optional<RemoteMediaLimits> remoteMedia{};    // nothing: none are fetched
  std::string storeFolder{};                         // of media inside requests
  ServedSounds::Hearing hearing{};                   // of sounds; empty: none are heard
  std::int64_t storedBytes = std::int64_t{4} << 30;  // of them, at most
  std::int64_t keptBytes = std::int64_t{4} << 30;    // of the caches of answered threads, at most
  std::size_t mostWaiting = 16;                      // requests, those that are answered included
  std::size_t atOnce = 1;                            // answers, whose decode steps are shared
  std::string version{};
  HttpLimits limits{};
};

}  // namespace winnow::app
