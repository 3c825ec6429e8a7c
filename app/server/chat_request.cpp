#include "app/server/chat_request.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "app/recipes/option_json.h"
#include "app/server/api_refusal.h"
#include "engine/base/json_document.h"
#include "engine/messages/choice_words.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostMessages = 4096;
constexpr std::size_t kMostParts = 4096;
constexpr std::size_t kMostStops = 16;
constexpr int kMostFrames = 4096;
constexpr std::size_t kMostName = 256;

// Read, or refused where they ask for something.
constexpr std::string_view kKnown[] = {"model",
                                       "messages",
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
                                       "stop",
                                       "max_completion_tokens",
                                       "n",
                                       "logprobs",
                                       "top_logprobs",
                                       "logit_bias",
                                       "presence_penalty",
                                       "frequency_penalty",
                                       "response_format",
                                       "tool_choice",
                                       "chat_template_kwargs",
                                       "reasoning_effort",
                                       "media_io_kwargs",
                                       "mm_processor_kwargs",
                                       "winnow",
                                       "functions",
                                       "function_call",
                                       "modalities"};
// About the caller, its account or its display: nothing that could be done otherwise.
constexpr std::string_view kAboutTheCaller[] = {
    "user", "metadata", "store", "service_tier", "parallel_tool_calls", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"};

bool holds(std::span<const std::string_view> list, const std::string& name) { return std::ranges::find(list, name) != list.end(); }

// An object of the request, by the names that its sender gave its fields.
class Fields {
 public:
  Fields(const Json& value, std::string path) : m_value(value), m_path(std::move(path)) {
    if (!value.is_object()) throw ApiRefusal(400, "must be an object", m_path);
  }

  std::string path(const std::string& name) const { return m_path.empty() ? name : m_path + "." + name; }
  // Null where it is left out; null itself says nothing.
  const Json* find(const char* name) const {
    const auto found = m_value.find(name);
    return found == m_value.end() || found->is_null() ? nullptr : &*found;
  }
  bool boolean(const char* name, bool otherwise) const {
    const Json* value = find(name);
    if (value == nullptr) return otherwise;
    if (!value->is_boolean()) throw ApiRefusal(400, "must be true or false", path(name));
    return value->get<bool>();
  }
  std::optional<double> real(const char* name, double least, double most) const {
    const Json* value = find(name);
    if (value == nullptr) return std::nullopt;
    const double number = value->is_number() ? value->get<double>() : std::nan("");
    if (!(number >= least && number <= most))
      throw ApiRefusal(400, "must be a number from " + told(least) + " to " + told(most), path(name));
    return number;
  }
  std::optional<std::int64_t> whole(const char* name, std::int64_t least, std::int64_t most) const {
    const Json* value = find(name);
    if (value == nullptr) return std::nullopt;
    const bool fits = value->is_number_integer() && !(value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX) &&
                      value->get<std::int64_t>() >= least && value->get<std::int64_t>() <= most;
    if (!fits) throw ApiRefusal(400, "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most), path(name));
    return value->get<std::int64_t>();
  }
  std::optional<std::string> text(const char* name) const {
    const Json* value = find(name);
    if (value == nullptr) return std::nullopt;
    if (!value->is_string()) throw ApiRefusal(400, "must be a text", path(name));
    return value->get<std::string>();
  }
  std::string neededText(const char* name) const {
    std::optional<std::string> value = text(name);
    if (!value) throw ApiRefusal(400, "is missing", path(name));
    return *std::move(value);
  }
  std::optional<Fields> object(const char* name) const {
    const Json* value = find(name);
    if (value == nullptr) return std::nullopt;
    return Fields(*value, path(name));
  }
  const Json* list(const char* name, std::size_t most) const {
    const Json* value = find(name);
    if (value == nullptr) return nullptr;
    if (!value->is_array()) throw ApiRefusal(400, "must be a list", path(name));
    if (value->size() > most) throw ApiRefusal(400, "has more than " + std::to_string(most) + " entries", path(name));
    return value;
  }
  const Json& value() const { return m_value; }

 private:
  static std::string told(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", number);
    return text;
  }

  const Json& m_value;
  std::string m_path;
};

[[noreturn]] void notSupported(const std::string& param, const std::string& what) {
  throw ApiRefusal(400, what + " is not supported", param, "unsupported_parameter");
}

// A value that asks for what is done anyway.
bool asksNothing(const Json& value) {
  return value.is_null() || (value.is_boolean() && !value.get<bool>()) || (value.is_number() && value.get<double>() == 0.0) ||
         ((value.is_object() || value.is_array()) && value.empty());
}

void refuseWhatIsNotDone(const Fields& body) {
  if (body.whole("n", 0, 1'000'000).value_or(1) != 1) notSupported("n", "more than one answer to a request");
  for (const char* name : {"logprobs", "top_logprobs", "logit_bias", "presence_penalty", "frequency_penalty", "functions"}) {
    if (const Json* value = body.find(name); value != nullptr && !asksNothing(*value)) notSupported(name, "this parameter");
  }
  if (const auto format = body.object("response_format")) {
    if (format->neededText("type") != "text") notSupported("response_format", "an answer of a given form");
  }
  if (const Json* choice = body.find("tool_choice")) {
    if (*choice != "none" && *choice != "auto") notSupported("tool_choice", "calling a tool");
  }
  if (const Json* kinds = body.list("modalities", 8)) {
    for (const Json& kind : *kinds) {
      if (kind != "text") notSupported("modalities", "an answer in anything but text");
    }
  }
}

void readSampling(const Fields& body, ChatRequest& request) {
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
  if (const auto seed = body.whole("seed", INT64_MIN, INT64_MAX)) sampling.seed = static_cast<std::uint64_t>(*seed);
  for (const char* name : {"max_tokens", "max_completion_tokens"}) {
    const auto most = body.whole(name, 1, Sampling::kMostNewTokens);
    if (most) sampling.max_new_tokens = static_cast<int>(*most);
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

void readThinking(const Fields& body, ChatRequest& request) {
  std::optional<bool> thinks;
  if (const auto effort = body.text("reasoning_effort")) {
    constexpr std::string_view kWords[] = {"none", "minimal", "low", "medium", "high", "xhigh"};
    if (!holds(kWords, *effort)) throw ApiRefusal(400, "must be none, minimal, low, medium, high or xhigh", "reasoning_effort");
    if (*effort == "none" || *effort == "minimal") thinks = false;
  }
  if (const auto settings = body.object("chat_template_kwargs")) {
    for (const auto& [name, value] : settings->value().items()) {
      if (name != "enable_thinking") request.ignored.push_back("chat_template_kwargs." + name.substr(0, kMostName));
    }
    if (settings->find("enable_thinking") != nullptr) thinks = settings->boolean("enable_thinking", true);
  }
  if (!thinks) return;
  if (!*thinks) request.turn.sampling.thought_tokens = 0;
  request.turn.prompt.thinking = *thinks ? Thinking::kOn : Thinking::kOff;
}

void refusePixels(const Fields& settings) {
  for (const char* name : {"min_pixels", "max_pixels", "total_pixels", "size", "resized_height", "resized_width"}) {
    if (settings.find(name) != nullptr) notSupported(settings.path(name), "another size of pictures than the model's own");
  }
}

// vLLM's and transformers' ways to say which frames of a video are looked at; the later wins over the defaults, and one over the other.
FramePlan readPlan(const Fields& body, FramePlan plan) {
  const auto read = [&](const Fields& settings) {
    refusePixels(settings);
    if (const auto frames = settings.whole("num_frames", -1, kMostFrames); frames && *frames > 0) {
      plan.frame_count = static_cast<int>(*frames);
      plan.every_s = 0.0;
    }
    if (const auto fps = settings.real("fps", -1.0, 1000.0); fps && *fps > 0.0) {
      plan.frame_count = 0;
      plan.every_s = 1.0 / *fps;
    }
  };
  if (const auto kinds = body.object("media_io_kwargs")) {
    if (const auto video = kinds->object("video")) read(*video);
  }
  if (const auto settings = body.object("mm_processor_kwargs")) read(*settings);
  return plan;
}

RecipeSpec readRecipe(const Fields& own, RecipeSpec recipe) {
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
  if (const Json* options = own.find("options")) {
    recipe.options = optionsFromJson(
        *options, kMostName, [&](const std::string& field, const std::string& reason) { throw ApiRefusal(400, reason, own.path(field)); });
  }
  if (recipe.method == "full") {
    recipe.retention = 1.0;
    recipe.budget_tokens.reset();
  }
  return recipe;
}

std::vector<Pin> readPins(const Fields& own) {
  std::vector<Pin> pins;
  const Json* list = own.list("pins", kMostParts);
  if (list == nullptr) return pins;
  for (const Json& each : *list) {
    const Fields fields(each, own.path("pins"));
    Pin pin;
    pin.media = static_cast<std::int32_t>(fields.whole("media", 0, INT32_MAX).value_or(0));
    pin.from_s = fields.real("from_s", 0.0, 1e9).value_or(pin.from_s);
    pin.to_s = fields.real("to_s", 0.0, 1e9).value_or(pin.to_s);
    pins.push_back(pin);
  }
  return pins;
}

void readOwn(const Fields& body, ChatRequest& request) {
  const auto own = body.object("winnow");
  if (!own) return;
  constexpr std::string_view kFields[] = {"method", "retention", "budget", "options", "guard", "pins"};
  for (const auto& [name, value] : own->value().items()) {
    if (!holds(kFields, name)) throw ApiRefusal(400, "is not known", own->path(name.substr(0, kMostName)));
  }
  request.turn.recipe = readRecipe(*own, request.turn.recipe);
  request.turn.pins = readPins(*own);
  if (const auto word = own->text("guard")) {
    const std::optional<Guard> guard = value_of(kGuardWords, *word);
    if (!guard) throw ApiRefusal(400, "must be " + listed(kGuardWords), own->path("guard"));
    request.turn.guard = *guard;
  }
}

// The parts of messages, in the order in which the model reads them.
class Parts {
 public:
  Parts(RequestMedia& media, const MediaReader& reader, const FramePlan& plan) : m_media(media), m_reader(reader), m_plan(plan) {}

  std::vector<Item> read(const Json& content, const std::string& path) {
    if (content.is_string()) return {TextItem{content.get<std::string>()}};
    if (!content.is_array()) throw ApiRefusal(400, "must be a text or a list of parts", path);
    if (content.size() > kMostParts) throw ApiRefusal(400, "has more than " + std::to_string(kMostParts) + " parts", path);
    std::vector<Item> items;
    for (std::size_t i = 0; i < content.size(); ++i) items.push_back(part(Fields(content[i], path + "[" + std::to_string(i) + "]")));
    return items;
  }

 private:
  Item part(const Fields& part) {
    const std::string type = part.neededText("type");
    if (type == "text" || type == "input_text") return TextItem{part.neededText("text")};
    if (type == "image_url") return medium(address(part, "image_url"), MediaKind::kImage, part.path("image_url.url"));
    if (type == "video_url") return medium(address(part, "video_url"), MediaKind::kVideo, part.path("video_url.url"));
    if (type == "input_video") return inputVideo(part);
    if (type == "file") return file(part);
    if (type == "input_audio" || type == "audio_url") notSupported(part.path("type"), "sound");
    throw ApiRefusal(400, "must be text, image_url, video_url, input_video or file", part.path("type"));
  }

  // {"url": ...}, or the address itself as some clients send it.
  static std::string address(const Fields& part, const char* name) {
    if (const Json* value = part.find(name); value != nullptr && value->is_string()) return value->get<std::string>();
    const auto object = part.object(name);
    if (!object) throw ApiRefusal(400, "is missing", part.path(name));
    return object->neededText("url");
  }

  Item inputVideo(const Fields& part) {
    const auto video = part.object("input_video");
    const Fields& from = video ? *video : part;
    if (const auto data = from.text("data"))
      return item(m_media.pathOfBase64(*data, from.path("data")), MediaKind::kVideo, from.path("data"));
    return medium(from.neededText("url"), MediaKind::kVideo, from.path("url"));
  }

  Item file(const Fields& part) {
    const auto file = part.object("file");
    if (!file) throw ApiRefusal(400, "is missing", part.path("file"));
    if (file->find("file_id") != nullptr) notSupported(file->path("file_id"), "a file that was uploaded before");
    const std::string data = file->neededText("file_data");
    const std::string param = file->path("file_data");
    const std::string path = data.starts_with("data:") ? m_media.pathOf(data, param) : m_media.pathOfBase64(data, param);
    return item(path, kindOf(path, param), param);
  }

  Item medium(const std::string& url, MediaKind kind, const std::string& param) { return item(m_media.pathOf(url, param), kind, param); }

  Item item(const std::string& path, MediaKind kind, const std::string& param) {
    if (kindOf(path, param) != kind)
      throw ApiRefusal(400, kind == MediaKind::kImage ? "is not a picture" : "is not a video", param, "invalid_media");
    return MediaItem{{path, kind, kind == MediaKind::kVideo ? m_plan : FramePlan()}};
  }

  MediaKind kindOf(const std::string& path, const std::string& param) const {
    try {
      return m_reader.detectKind(path);
    } catch (const Exception& exception) {
      throw ApiRefusal(400, exception.error().reason, param, "invalid_media");
    }
  }

  RequestMedia& m_media;
  const MediaReader& m_reader;
  const FramePlan m_plan;
};

Message readMessage(const Fields& message, Parts& parts) {
  const std::string role = message.neededText("role");
  Message read;
  if (role == "system" || role == "developer")
    read.role = Role::kSystem;
  else if (role == "user")
    read.role = Role::kUser;
  else if (role == "assistant")
    read.role = Role::kAssistant;
  else if (role == "tool" || role == "function")
    notSupported(message.path("role"), "the result of a tool");
  else
    throw ApiRefusal(400, "must be system, developer, user or assistant", message.path("role"));
  if (const Json* calls = message.find("tool_calls"); calls != nullptr && !asksNothing(*calls))
    notSupported(message.path("tool_calls"), "a call of a tool");
  for (const char* name : {"reasoning", "reasoning_content"}) {
    if (auto thought = message.text(name); thought && read.role == Role::kAssistant) read.thought = *std::move(thought);
  }
  const Json* content = message.find("content");
  if (content == nullptr && read.role != Role::kAssistant) throw ApiRefusal(400, "is missing", message.path("content"));
  if (content != nullptr) read.items = parts.read(*content, message.path("content"));
  const auto isMedium = [](const Item& item) { return std::holds_alternative<MediaItem>(item); };
  if (read.role != Role::kUser && std::ranges::any_of(read.items, isMedium))
    throw ApiRefusal(400, "pictures, videos and files stand in messages of the user", message.path("content"));
  return read;
}

}  // namespace

ChatRequest chatRequestOf(std::string_view body, const RequestDefaults& defaults, RequestMedia& media, const MediaReader& reader) {
  Json document;
  try {
    document = parse_json(body, "the body", {.max_bytes = body.size() + 1, .max_depth = 64, .max_elements = 200'000});
  } catch (const Exception& exception) {
    throw ApiRefusal(400, "the body is not usable JSON: " + exception.error().reason);
  }
  const Fields fields(document, "");
  ChatRequest request;
  request.turn.recipe = defaults.recipe;
  request.turn.sampling = defaults.sampling;
  request.model = fields.text("model").value_or("");
  request.stream = fields.boolean("stream", false);
  if (const auto options = fields.object("stream_options")) request.usageInStream = options->boolean("include_usage", false);
  refuseWhatIsNotDone(fields);
  readSampling(fields, request);
  readThinking(fields, request);
  readOwn(fields, request);
  for (const auto& [name, value] : document.items()) {
    if (!holds(kKnown, name) && !holds(kAboutTheCaller, name)) request.ignored.push_back(name.substr(0, kMostName));
  }
  const Json* messages = fields.list("messages", kMostMessages);
  if (messages == nullptr || messages->empty()) throw ApiRefusal(400, "there must be at least one message", "messages");
  Parts parts(media, reader, readPlan(fields, defaults.plan));
  std::vector<Message>& thread = request.turn.messages;
  for (std::size_t i = 0; i < messages->size(); ++i)
    thread.push_back(readMessage(Fields((*messages)[i], "messages[" + std::to_string(i) + "]"), parts));
  if (thread.back().role != Role::kUser) throw ApiRefusal(400, "the last message must be the user's", "messages");
  if (thread.back().items.empty()) throw ApiRefusal(400, "the last message is empty", "messages");
  return request;
}

}  // namespace winnow::app
