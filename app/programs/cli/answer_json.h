// An answer with its figures as one JSON object: the documented output of `ask --json`, also of `compare --json` for each column.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "app/programs/cli/console.h"

namespace winnow::cli {

nlohmann::ordered_json answer_json(const ConsoleSink& sink, const ModelInfo& model);
// The methods that made a cache, as the window names an answer by them.
nlohmann::ordered_json makers_json(const CacheMakers& makers);
// The part of each medium that was read, and the notices about it.
nlohmann::ordered_json media_json(const std::vector<MediaSampled>& media);
nlohmann::ordered_json agreement_json(const Agreement& agreement);
// agreement and selection, null where they were not measured.
void add_scores(nlohmann::ordered_json& answer, const ConsoleSink& sink);
const char* stop_reason_name(StopReason reason);

// One line of UTF-8; bytes that are not (file names) become U+FFFD.
std::string json_line(const nlohmann::ordered_json& value, int indent);

}  // namespace winnow::cli
