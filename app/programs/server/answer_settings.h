// Fields that every request for an answer may have: model, streaming, sampling, and what is Winnow's own under "winnow".
//
// Used by chat_request and completion_request. Errors: ApiRefusal (400), for what would give another answer than was asked for, too.
// Threads: any.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/programs/server/chat_request.h"
#include "app/programs/server/request_fields.h"

namespace winnow::app {

void readAnswerSettings(const RequestFields& body, const RequestDefaults& defaults, ChatRequest& request);
// The names of fields that are neither read above, nor own, nor about the caller (user, metadata).
std::vector<std::string> unknownFields(const RequestFields& body, std::span<const std::string_view> own);

inline constexpr int kMostTopProbabilities = 20;

}  // namespace winnow::app
