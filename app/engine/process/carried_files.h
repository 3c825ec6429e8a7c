// The files that the engine's messages name: between machines they are named by the hash of their bytes, "sha256:<64 hex digits>".
//
// Used on both sides of app/programs/server/wire_service.h. A new kind of message that names a file has its line here. Pure; threads: any.
#pragma once

#include <string>
#include <string_view>

#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow::app {

inline constexpr std::string_view kCarriedPrefix = "sha256:";

inline std::string carriedName(const std::string& sha256) { return std::string(kCarriedPrefix) + sha256; }
// Empty: it is no such name.
inline std::string carriedHash(const std::string& name) {
  const bool is = name.size() == kCarriedPrefix.size() + 64 && name.starts_with(kCarriedPrefix) &&
                  name.find_first_not_of("0123456789abcdef", kCarriedPrefix.size()) == std::string::npos;
  return is ? name.substr(kCarriedPrefix.size()) : std::string();
}

// Calls visit(MediaRequest&) for every attachment of a request.
template <class Visit>
void visitMedia(RequestBody& body, const Visit& visit) {
  const auto look = [&](std::vector<Message>& messages) {
    for (Message& message : messages) {
      for (Item& item : message.items) {
        if (auto* media = std::get_if<MediaItem>(&item)) visit(media->media);
      }
    }
  };
  std::visit(
      [&]<class Kind>(Kind& request) {
        if constexpr (requires { request.messages; }) look(request.messages);
        if constexpr (requires { request.turn.messages; }) look(request.turn.messages);
      },
      body);
}

// Calls visit(std::string& path) for every file that a request, or an event, names.
template <class Visit>
void visitFiles(RequestBody& body, const Visit& visit) {
  visitMedia(body, [&](MediaRequest& media) {
    visit(media.path);
    if (!media.subtitles.empty()) visit(media.subtitles);
  });
}
template <class Visit>
void visitFiles(EventBody& body, const Visit& visit) {
  if (auto* sampled = std::get_if<MediaSampled>(&body)) {
    visit(sampled->path);
    if (!sampled->subtitles.empty()) visit(sampled->subtitles);
  }
  if (auto* failed = std::get_if<Failed>(&body)) visit(failed->error.subject);
}

}  // namespace winnow::app
