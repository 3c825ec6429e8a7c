// Agreement of an answer with the full cache, and a whole Run, as JSON.
//
// Used by ChatDatabase: the agreement beside a run's figures, the run of a comparison's column. Unknown members are ignored and missing
// ones stay at their defaults; text that is no JSON gives nothing. Threads: any.
#pragma once

#include <QByteArray>
#include <optional>

#include "app/chats/chat/conversation.h"

namespace winnow::app {

// Empty for nothing.
QByteArray agreementToJson(const std::optional<Agreement>& agreement);
std::optional<Agreement> agreementFromJson(const QByteArray& json);

// Model, recipe, figures with their layers, agreement.
QByteArray runToJson(const Run& run);
Run runFromJson(const QByteArray& json);

}  // namespace winnow::app
