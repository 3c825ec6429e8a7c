#include "app/programs/cli/batch_line.h"

#include <algorithm>
#include <utility>

#include "app/ground/recipes/recipe_json.h"
#include "app/media/files/text_encoding.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/media_options.h"
#include "app/programs/cli/media_reading.h"
#include "app/programs/cli/option_checks.h"
#include "engine/base/json_document.h"
#include "engine/base/line_reader.h"
#include "engine/messages/choice_words.h"
#include "engine/recipes/method_info.h"

namespace winnow::cli {
namespace {

constexpr std::size_t kMaxText = LineReader::kLongestLine;
constexpr std::size_t kMaxQuestions = 100'000;
constexpr std::size_t kMostFieldBytes = 64;  // of a name that is told

// The fields that a line may have. The last two are its writer's own and come back as they are.
constexpr std::string_view kFields[] = {"image",   "video", "document",       "subtitles",    "encoding", "frames",    "every",
                                        "from",    "to",    "picture_detail", "frame_detail", "method",   "retention", "budget",
                                        "options", "seed",  "max_tokens",     "think",        "recipe",   "recipes",   "together",
                                        "guard",   "check", "given",          "questions",    "id",       "about"};

// A name that nothing reads would look as if it counted.
void require_known_fields(const Json& line, const JsonObject& subject) {
  for (const auto& [field, value] : line.items()) {
    if (std::ranges::find(kFields, field) != std::end(kFields)) continue;
    const std::vector<std::string> known(std::begin(kFields), std::end(kFields));
    subject.refuse(ErrorCode::kInvalidArgument, field.substr(0, kMostFieldBytes),
                   "unknown field; use one of " + joined_words(known) + " (id and about are for your own data)");
  }
}

RecipeSpec recipe_in(const Json& value, const std::string& subject) {
  return with_its_share(app::recipeFromJson(value.dump(), subject).spec);
}

TurnOptions line_options(const JsonObject& line, const TurnOptions& defaults) {
  TurnOptions options = defaults;
  if (line.has("video")) options.videos = {line.string("video", kMaxText)};
  if (line.has("document")) options.documents = {line.string("document", kMaxText)};
  if (line.has("image")) options.images = {line.string("image", kMaxText)};
  // Nobody reads a hint for every line.
  options.subtitles = line.string("subtitles", kMaxText, options.subtitles.empty() ? "none" : options.subtitles);
  if (line.has("encoding")) {
    const std::optional<std::string> encoding = app::encodingNamed(line.string("encoding", kMaxText));
    if (!encoding) line.refuse(ErrorCode::kDamagedFile, "encoding", "it is not a known encoding");
    options.encoding = *encoding;
  }
  FramePlan& plan = options.plan;
  plan.frame_count = static_cast<int>(line.integer("frames", 1, kMostFrames, plan.frame_count));
  plan.every_s = line.real("every", 0.0, kLongestS, plan.every_s);
  plan.from_s = line.real("from", 0.0, kLongestS, plan.from_s);
  plan.to_s = line.real("to", 0.0, kLongestS, plan.to_s);
  for (const auto& [field, detail] : {std::pair{"picture_detail", &options.detail.pictures}, {"frame_detail", &options.detail.frames}}) {
    if (!line.has(field)) continue;
    const Json& value = line.value(field);
    const std::string word = value.is_number_integer() ? value.dump() : line.string(field, kMaxText);
    if (const std::string problem = detail_problem(word); !problem.empty()) line.refuse(ErrorCode::kDamagedFile, field, "it " + problem);
    *detail = *detail_of(word);
  }
  RecipeSpec& recipe = options.recipe;
  if (line.has("recipe")) recipe = recipe_in(line.value("recipe"), line.subject("recipe"));
  recipe.method = line.string("method", kMaxText, recipe.method);
  if (line.has("options")) {
    recipe.options = app::optionsFromJson(line.value("options"), kMaxText, [&](const std::string& field, const std::string& reason) {
      line.refuse(ErrorCode::kDamagedFile, field, "it " + reason);
    });
  }
  if (line.has("retention")) {
    recipe.retention = line.real("retention", 0.0, 1.0);
    if (!(recipe.retention > 0.0)) line.refuse(ErrorCode::kDamagedFile, "retention", "it must be above 0 and at most 1");
    recipe.budget_tokens.reset();  // of the command
  }
  if (line.has("budget")) recipe.budget_tokens = static_cast<int>(line.integer("budget", 1, kMostSlots));
  options.sampling.seed = recipe.seed = line.natural("seed", recipe.seed);
  options.seed_given = options.seed_given || line.has("seed");
  if (line.has("max_tokens")) {
    options.sampling.limit(static_cast<int>(line.integer("max_tokens", 1, kMostTokens, options.sampling.max_new_tokens)));
    options.answer_length_given = true;
  }
  if (line.has("think")) {
    const Json& value = line.value("think");
    const std::string word = value.is_number_integer() ? value.dump() : line.string("think", kMaxText);
    if (const std::string problem = think_problem(word); !problem.empty()) line.refuse(ErrorCode::kDamagedFile, "think", "it " + problem);
    set_think(options.sampling, word);
  }
  if (line.has("guard")) {
    const std::optional<Guard> guard = value_of(kGuardWords, line.string("guard", kMaxText));
    if (!guard) line.refuse(ErrorCode::kDamagedFile, "guard", "it must be " + listed(kGuardWords));
    options.guard = *guard;
  }
  return options;
}

MediaItem attached(const std::string& path, const TurnOptions& options) {
  switch (media_reader().detectKind(path)) {
    case MediaKind::kVideo: return {video_request(path, options.plan, {}, options)};
    case MediaKind::kDocument: return {document_request(path, options)};
    case MediaKind::kImage: break;
  }
  return {image_request(path, options)};
}

// A text, or a list of texts and {"media": FILE} in prompt order.
std::vector<Item> question_of(const Json& value, const JsonObject& line, const TurnOptions& options) {
  std::vector<Item> items;
  for (const Json& piece : value.is_array() ? value : Json::array({value})) {
    if (piece.is_string()) {
      items.emplace_back(TextItem{piece.get<std::string>()});
    } else if (piece.is_object() && value.is_array()) {
      items.emplace_back(attached(JsonObject(piece, line.file(), "questions").string("media", kMaxText), options));
    } else {
      line.refuse(ErrorCode::kDamagedFile, "questions", "it must be a string, or a list of strings and media");
    }
  }
  return items;
}

}  // namespace

BatchLine read_batch_line(std::string_view text, const std::string& where, const TurnOptions& defaults, bool together) {
  const Json given = parse_json(text, where, {.max_bytes = kMaxText});
  const JsonObject line(given, where);
  require_known_fields(given, line);
  BatchLine read{line_options(line, defaults), {}, line.boolean("together", together), {}, line.boolean("check", false), {}};
  for (const Json& question : line.list("questions", kMaxQuestions)) read.questions.push_back(question_of(question, line, read.turn));
  if (line.has("given")) read.given = line.string("given", kMaxText);
  if (!line.has("recipes")) return read;
  for (const Json& recipe : line.list("recipes", Compare::kMostRecipes)) {
    read.recipes.push_back(recipe_in(recipe, line.subject("recipes")));
    if (const std::optional<Error> problem = recipe_problem(read.recipes.back())) throw Exception(*problem);
  }
  if (read.together || read.given)
    line.refuse(ErrorCode::kInvalidArgument, "recipes", "these are compared, each question by itself: name one as recipe");
  return read;
}

}  // namespace winnow::cli
