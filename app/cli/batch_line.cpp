#include "app/cli/batch_line.h"

#include <map>

#include "app/cli/option_checks.h"
#include "engine/base/json_document.h"
#include "engine/base/line_reader.h"

namespace winnow::cli {
namespace {

constexpr std::size_t kMaxText = LineReader::kLongestLine;
constexpr std::size_t kMaxQuestions = 100'000;

// Of the method, by name; numbers and true/false need no quotes.
std::map<std::string, std::string> method_options(const JsonObject& line) {
  const Json& given = line.value("options");
  if (!given.is_object()) line.refuse(ErrorCode::kDamagedFile, "options", "it must be an object of names and values");
  std::map<std::string, std::string> options;
  for (const auto& [name, value] : given.items()) {
    if (!value.is_string() && !value.is_number() && !value.is_boolean())
      line.refuse(ErrorCode::kDamagedFile, "options", "each must be a text, a number, true or false");
    options[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return options;
}

TurnOptions line_options(const JsonObject& line, const TurnOptions& defaults) {
  TurnOptions options = defaults;
  if (line.has("video")) options.videos = {line.string("video", kMaxText)};
  if (line.has("image")) options.images = {line.string("image", kMaxText)};
  FramePlan& plan = options.plan;
  plan.frame_count = static_cast<int>(line.integer("frames", 1, kMostFrames, plan.frame_count));
  plan.every_s = line.real("every", 0.0, kLongestS, plan.every_s);
  plan.from_s = line.real("from", 0.0, kLongestS, plan.from_s);
  plan.to_s = line.real("to", 0.0, kLongestS, plan.to_s);
  RecipeSpec& recipe = options.recipe;
  recipe.method = line.string("method", kMaxText, recipe.method);
  if (line.has("options")) recipe.options = method_options(line);
  if (line.has("retention")) {
    recipe.retention = line.real("retention", 0.0, 1.0);
    if (!(recipe.retention > 0.0)) line.refuse(ErrorCode::kDamagedFile, "retention", "it must lie in (0, 1]");
    recipe.budget_tokens.reset();  // of the command
  }
  if (line.has("budget")) recipe.budget_tokens = static_cast<int>(line.integer("budget", 1, kMostSlots));
  options.sampling.seed = recipe.seed = line.natural("seed", recipe.seed);
  options.sampling.max_new_tokens = static_cast<int>(line.integer("max_tokens", 1, kMostTokens, options.sampling.max_new_tokens));
  return options;
}

}  // namespace

BatchLine read_batch_line(std::string_view text, const std::string& where, const TurnOptions& defaults) {
  const Json given = parse_json(text, where, {.max_bytes = kMaxText});
  const JsonObject line(given, where);
  return {line_options(line, defaults), line.strings("questions", kMaxText, kMaxQuestions)};
}

}  // namespace winnow::cli
