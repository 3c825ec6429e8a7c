#include "app/programs/server/answer_settings.h"

#include <QRandomGenerator>
#include <algorithm>
#include <optional>

#include "app/ground/recipes/recipe_json.h"
#include "app/programs/server/api_refusal.h"
#include "engine/messages/choice_words.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostStops = 16;
constexpr std::size_t kMostPins = 4096;

// Fields of every request for an answer: read, or refused where they ask for something.
constexpr std::string_view kOfEveryAnswer[] = {"model",
                                               "stream",
                                               "stream_options",
                                               "temperature",
                                               "top_p",
                                               "top_k",
                                               "min_p",
                                               "repetition_penalty",
                                               "repeat_penalty",
                                               "seed",
                                               "max_tokens",
                                               "max_completion_tokens",
                                               "stop",
                                               "n",
                                               "logit_bias",
                                               "presence_penalty",
                                               "frequency_penalty",
                                               "response_format",
                                               "winnow"};

// About the caller, its account or its display: nothing that could be done otherwise.
constexpr std::string_view kAboutTheCaller[] = {
    "user", "metadata", "store", "service_tier", "parallel_tool_calls", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"};

void refuseOtherAnswers(const RequestFields& body) {
  if (body.whole("n", 0, 1'000'000).value_or(1) != 1) refuseUnsupported("n", "more than one answer to a request");
  for (const char* name : {"logit_bias", "presence_penalty", "frequency_penalty", "functions"}) {
    if (const Json* value = body.find(name); value != nullptr && !asksNothing(*value)) refuseUnsupported(name, "this parameter");
  }
  if (const auto format = body.object("response_format")) {
    if (format->neededText("type") != "text") refuseUnsupported("response_format", "an answer of a given form");
  }
  if (const Json* choice = body.find("tool_choice")) {
    if (*choice != "none" && *choice != "auto") refuseUnsupported("tool_choice", "calling a tool");
  }
  if (const Json* kinds = body.list("modalities", 8)) {
    for (const Json& kind : *kinds) {
      if (kind != "text") refuseUnsupported("modalities", "an answer in anything but text");
    }
  }
}

void readSampling(const RequestFields& body, const RequestDefaults& defaults, ChatRequest& request) {
  Sampling& sampling = request.turn.sampling;
  sampling.temperature = body.real("temperature", 0.0, Sampling::kMostTemperature).value_or(sampling.temperature);
  sampling.top_p = body.real("top_p", 0.0, 1.0).value_or(sampling.top_p);
  sampling.min_p = body.real("min_p", 0.0, 1.0).value_or(sampling.min_p);
  // -1 is how vLLM's clients say "off".
  sampling.top_k = static_cast<int>(std::max<std::int64_t>(body.whole("top_k", -1, Sampling::kMostTopK).value_or(sampling.top_k), 0));
  for (const char* name : {"repeat_penalty", "repetition_penalty"}) {
    sampling.repetition_penalty =
        body.real(name, Sampling::kLeastRepetitionPenalty, Sampling::kMostRepetitionPenalty).value_or(sampling.repetition_penalty);
  }
  if (const auto seed = body.whole("seed", INT64_MIN, INT64_MAX)) {
    sampling.seed = static_cast<std::uint64_t>(*seed);
  } else if (sampling.temperature > 0.0 && !defaults.seedGiven) {
    sampling.seed = QRandomGenerator::system()->generate();
  }
  for (const char* name : {"max_tokens", "max_completion_tokens"}) {
    const auto most = body.whole(name, 1, Sampling::kMostNewTokens);
    if (most) sampling.limit(static_cast<int>(*most));
    request.lengthGiven = request.lengthGiven || most.has_value();
  }
  const Json* stop = body.find("stop");
  if (stop != nullptr && stop->is_string()) {
    sampling.stop_strings = {stop->get<std::string>()};
  } else if (const Json* list = body.list("stop", kMostStops)) {
    for (const Json& each : *list) {
      if (!each.is_string()) throw ApiRefusal(400, "must be a text or a list of texts", "stop");
      sampling.stop_strings.push_back(each.get<std::string>());
    }
  }
  if (std::ranges::any_of(sampling.stop_strings, &std::string::empty)) throw ApiRefusal(400, "must not be empty", "stop");
}

RecipeSpec readRecipe(const RequestFields& own, RecipeSpec recipe) {
  if (const auto method = own.text("method")) {
    if (*method != recipe.method) recipe.options.clear();  // another's
    recipe.method = *method;
  }
  if (const auto share = own.real("retention", 0.0, 1.0)) {
    if (!(*share > 0.0)) throw ApiRefusal(400, "must be above 0 and at most 1", own.path("retention"));
    recipe.retention = *share;
    recipe.budget_tokens.reset();
  }
  if (const auto slots = own.whole("budget", 1, 1 << 24)) recipe.budget_tokens = static_cast<int>(*slots);
  if (const auto text = own.text("before")) {
    const std::optional<BeforeDecoder> before = before_of(*text);
    if (!before) throw ApiRefusal(400, std::string("must be ") + kBeforeForm, own.path("before"));
    recipe.before = *before;
  }
  if (const Json* options = own.find("options")) {
    recipe.options = optionsFromJson(*options, kMostFieldName, [&](const std::string& field, const std::string& reason) {
      throw ApiRefusal(400, reason, own.path(field));
    });
  }
  return with_its_share(recipe);
}

std::vector<Pin> readPins(const RequestFields& own) {
  std::vector<Pin> pins;
  const Json* list = own.list("pins", kMostPins);
  if (list == nullptr) return pins;
  for (const Json& each : *list) {
    const RequestFields fields(each, own.path("pins"));
    Pin pin;
    pin.media = static_cast<std::int32_t>(fields.whole("media", 0, INT32_MAX).value_or(0));
    pin.from_s = fields.real("from_s", 0.0, 1e9).value_or(pin.from_s);
    pin.to_s = fields.real("to_s", 0.0, 1e9).value_or(pin.to_s);
    pins.push_back(pin);
  }
  return pins;
}

void readOwn(const RequestFields& body, ChatRequest& request) {
  const auto own = body.object("winnow");
  if (!own) return;
  constexpr std::string_view kFields[] = {"method", "retention", "budget", "before", "options", "guard", "pins"};
  for (const auto& [name, value] : own->value().items()) {
    if (!isAmong(kFields, name)) throw ApiRefusal(400, "is not known", own->path(name.substr(0, kMostFieldName)));
  }
  request.turn.recipe = readRecipe(*own, request.turn.recipe);
  request.turn.pins = readPins(*own);
  if (const auto word = own->text("guard")) {
    const std::optional<Guard> guard = value_of(kGuardWords, *word);
    if (!guard) throw ApiRefusal(400, "must be " + listed(kGuardWords), own->path("guard"));
    request.turn.guard = *guard;
  }
}

}  // namespace

void readAnswerSettings(const RequestFields& body, const RequestDefaults& defaults, ChatRequest& request) {
  request.turn.recipe = defaults.recipe;
  request.turn.sampling = defaults.sampling;
  request.model = body.text("model").value_or("");
  request.stream = body.boolean("stream", false);
  if (const auto options = body.object("stream_options")) request.usageInStream = options->boolean("include_usage", false);
  refuseOtherAnswers(body);
  readSampling(body, defaults, request);
  readOwn(body, request);
}

std::vector<std::string> unknownFields(const RequestFields& body, std::span<const std::string_view> own) {
  std::vector<std::string> names;
  for (const auto& [name, value] : body.value().items()) {
    if (!isAmong(kOfEveryAnswer, name) && !isAmong(own, name) && !isAmong(kAboutTheCaller, name))
      names.push_back(name.substr(0, kMostFieldName));
  }
  return names;
}

}  // namespace winnow::app
