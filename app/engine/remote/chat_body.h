// A turn as the body of POST /v1/chat/completions, in the words of the kind of server. Pure; threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "app/engine/remote/sent_media.h"
#include "engine/messages/requests.h"

namespace winnow::app {

// media: the parts of an attachment; called once for each, in the order of the thread.
nlohmann::json chatBody(const Turn& turn, const ServerTraits& traits, const std::function<SentMedium(const MediaRequest&)>& media);

std::string bodyText(const nlohmann::json& body);  // bytes that are not UTF-8 become U+FFFD

}  // namespace winnow::app
