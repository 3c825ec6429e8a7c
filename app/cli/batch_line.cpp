#include "app/cli/batch_line.h"

#include "app/cli/option_checks.h"
#include "engine/base/json_document.h"
#include "engine/base/line_reader.h"

namespace winnow::cli {
namespace {

constexpr std::size_t kMaxText = LineReader::kLongestLine;
constexpr std::size_t kMaxQuestions = 100'000;

TurnOptions line_options(const JsonObject& line, const TurnOptions& defaults) {
  TurnOptions options = defaults;
  if (line.has("video")) options.videos = {line.string("video", kMaxText)};
  if (line.has("image")) options.images = {line.string("image", kMaxText)};
  options.frames = static_cast<int>(line.integer("frames", 1, kMostFrames, options.frames));
  options.every_s = line.real("every", 0.0, kLongestS, options.every_s);
  options.from_s = line.real("from", 0.0, kLongestS, options.from_s);
  options.to_s = line.real("to", 0.0, kLongestS, options.to_s);
  options.method = line.string("method", kMaxText, options.method);
  if (line.has("retention")) {
    options.retention = line.real("retention", 0.0, 1.0);
    if (!(options.retention > 0.0)) line.refuse(ErrorCode::kDamagedFile, "retention", "it must lie in (0, 1]");
    options.budget_tokens = 0;  // of the command
  }
  if (line.has("budget")) options.budget_tokens = static_cast<int>(line.integer("budget", 1, kMostSlots));
  options.seed = line.natural("seed", options.seed);
  options.max_new_tokens = static_cast<int>(line.integer("max_tokens", 1, kMostTokens, options.max_new_tokens));
  return options;
}

}  // namespace

BatchLine read_batch_line(std::string_view text, const std::string& where, const TurnOptions& defaults) {
  const Json given = parse_json(text, where, {.max_bytes = kMaxText});
  const JsonObject line(given, where);
  return {line_options(line, defaults), line.strings("questions", kMaxText, kMaxQuestions)};
}

}  // namespace winnow::cli
