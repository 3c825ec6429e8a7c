#include "engine/generation/requests/conversation_json.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace winnow {
namespace {

constexpr std::size_t kMostText = std::size_t{16} << 20;
constexpr std::size_t kMostEntries = 1'000'000;
constexpr std::int64_t kMostTokens = std::int64_t{1} << 32;
constexpr double kMostS = 1e9;
constexpr std::int64_t kMostSidePx = 65'536;
constexpr std::int64_t kMostCode = 65'536;

std::string hex(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

std::string bytes_of(const JsonObject& from, const char* key) {
  const std::string text = from.string(key, kMostText);
  if (text.size() % 2 != 0) from.refuse(ErrorCode::kDamagedFile, key, "half a byte");
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    unsigned value = 0;
    const auto [end, problem] = std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
    if (problem != std::errc() || end != text.data() + i + 2) from.refuse(ErrorCode::kDamagedFile, key, "no hexadecimal number");
    bytes += static_cast<char>(value);
  }
  return bytes;
}

template <class Enum>
Enum word(const JsonObject& from, const char* key, Enum first, Enum last) {
  return static_cast<Enum>(from.integer(key, static_cast<int>(first), static_cast<int>(last)));
}

// Calls read for each object of a list.
template <class Read>
void each(const JsonObject& from, const char* key, Read read) {
  std::size_t number = 0;
  for (const Json& value : from.list(key, kMostEntries))
    read(JsonObject(value, from.file(), std::string(key) + "." + std::to_string(number++)));
}

Json json_of(const FramePlan& plan) {
  return {{"frames", plan.frame_count},
          {"every_s", plan.every_s},
          {"from_s", plan.from_s},
          {"to_s", plan.to_s},
          {"max_frames", plan.max_frames}};
}

FramePlan frame_plan_of(const JsonObject& from) {
  constexpr int kMost = std::numeric_limits<int>::max();
  FramePlan plan;
  plan.frame_count = static_cast<int>(from.integer("frames", 0, kMost));
  plan.every_s = from.real("every_s", 0.0, kMostS);
  plan.from_s = from.real("from_s", 0.0, kMostS);
  plan.to_s = from.real("to_s", -1.0, kMostS);
  plan.max_frames = static_cast<int>(from.integer("max_frames", 0, kMost));
  return plan;
}

Json json_of(const Item& item) {
  if (const auto* text = std::get_if<TextItem>(&item)) return {{"text", text->text}};
  const MediaRequest& media = std::get<MediaItem>(item).media;
  return {{"path", hex(media.path)},          {"kind", static_cast<int>(media.kind)}, {"plan", json_of(media.plan)},
          {"most_tokens", media.most_tokens}, {"subtitles", hex(media.subtitles)},    {"encoding", media.encoding}};
}

Item item_of(const JsonObject& from) {
  if (from.has("text")) return TextItem{from.string("text", kMostText)};
  return MediaItem{{bytes_of(from, "path"), word(from, "kind", MediaKind::kImage, MediaKind::kDocument), frame_plan_of(from.object("plan")),
                    from.integer("most_tokens", 0, kMostTokens, 0), from.has("subtitles") ? bytes_of(from, "subtitles") : std::string(),
                    from.string("encoding", kMostText, "")}};
}

Json json_of(const Pin& pin) {
  return {{"media", pin.media}, {"from_s", pin.from_s}, {"to_s", std::isinf(pin.to_s) ? Json() : Json(pin.to_s)}};
}

Pin pin_of(const JsonObject& from) {
  Pin pin;
  pin.media = static_cast<std::int32_t>(from.integer("media", 0, std::numeric_limits<std::int32_t>::max()));
  pin.from_s = from.real("from_s", -kMostS, kMostS);
  if (from.has("to_s")) pin.to_s = from.real("to_s", -kMostS, kMostS);
  return pin;
}

Json json_of(const RecipeSpec& recipe) {
  Json json = {{"method", recipe.method},
               {"retention", recipe.retention},
               {"budget_tokens", recipe.budget_tokens ? Json(*recipe.budget_tokens) : Json()},
               {"turn_policy", static_cast<int>(recipe.turn_policy)},
               {"seed", recipe.seed},
               {"options", recipe.options}};
  for (const WholeSetting& setting : kWholeSettings) json[setting.name] = recipe.*setting.value;
  for (const PartSetting& part : kPartSettings) json[part.kind] = recipe.*part.name;
  return json;
}

RecipeSpec recipe_of(const JsonObject& from) {
  RecipeSpec recipe;
  recipe.method = from.string("method", kMostText);
  recipe.retention = from.real("retention", 0.0, 1.0);
  if (from.has("budget_tokens")) recipe.budget_tokens = static_cast<int>(from.integer("budget_tokens", 1, std::numeric_limits<int>::max()));
  recipe.turn_policy = word(from, "turn_policy", TurnPolicy::kSegment, TurnPolicy::kFirstOnly);
  recipe.seed = from.natural("seed");
  const JsonObject options = from.object("options");
  for (const auto& [name, value] : from.value("options").items()) recipe.options[name] = options.string(name.c_str(), kMostText);
  for (const WholeSetting& setting : kWholeSettings) {
    if (!setting.always_written && !from.has(setting.name)) continue;  // a file from before it existed
    recipe.*setting.value = static_cast<int>(from.integer(setting.name, setting.least, setting.most));
  }
  for (const PartSetting& part : kPartSettings) recipe.*part.name = from.string(part.kind, kMostText);
  return recipe;
}

Json json_of(const std::vector<MediaNotice>& notices) {
  Json json = Json::array();
  for (const MediaNotice& notice : notices)
    json.push_back({{"code", static_cast<int>(notice.code)}, {"amount", notice.amount}, {"of", notice.of}, {"name", notice.name}});
  return json;
}

Json json_of(const MediaSampled& sampled) {
  Json lines = Json::array();
  for (const TimedLine& line : sampled.lines) lines.push_back({{"start_s", line.start_s}, {"end_s", line.end_s}, {"text", line.text}});
  return {{"path", hex(sampled.path)},
          {"kind", static_cast<int>(sampled.kind)},
          {"duration_s", sampled.duration_s},
          {"asked_s", sampled.asked_s},
          {"told_s", sampled.told_s},
          {"actual_s", sampled.actual_s},
          {"plan", json_of(sampled.plan)},
          {"tokens", sampled.tokens},
          {"all_tokens", sampled.all_tokens},
          {"most_tokens", sampled.most_tokens},
          {"subtitles", hex(sampled.subtitles)},
          {"lines", std::move(lines)},
          {"width_px", sampled.picture.width_px},
          {"height_px", sampled.picture.height_px},
          {"notices", json_of(sampled.notices)},
          {"encoding", sampled.encoding}};
}

MediaSampled medium_of(const JsonObject& from) {
  MediaSampled sampled;
  sampled.path = bytes_of(from, "path");
  sampled.kind = word(from, "kind", MediaKind::kImage, MediaKind::kDocument);
  sampled.duration_s = from.real("duration_s", 0.0, kMostS);
  sampled.asked_s = from.reals("asked_s", -kMostS, kMostS, kMostEntries);
  sampled.actual_s = from.reals("actual_s", -kMostS, kMostS, kMostEntries);
  if (from.has("told_s")) sampled.told_s = from.reals("told_s", -kMostS, kMostS, kMostEntries);
  sampled.plan = frame_plan_of(from.object("plan"));
  sampled.tokens = from.integer("tokens", 0, kMostTokens, 0);
  sampled.all_tokens = from.integer("all_tokens", 0, kMostTokens, 0);
  sampled.most_tokens = from.integer("most_tokens", 0, kMostTokens, 0);
  sampled.picture.width_px = static_cast<int>(from.integer("width_px", 0, kMostSidePx, 0));
  sampled.picture.height_px = static_cast<int>(from.integer("height_px", 0, kMostSidePx, 0));
  if (from.has("notices")) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    each(from, "notices", [&](const JsonObject& notice) {
      sampled.notices.push_back({static_cast<NoticeCode>(notice.integer("code", 0, kMostCode)), notice.integer("amount", 0, kMost),
                                 notice.integer("of", 0, kMost), notice.string("name", kMostText)});
    });
  }
  if (from.has("subtitles")) sampled.subtitles = bytes_of(from, "subtitles");
  sampled.encoding = from.string("encoding", kMostText, "");
  if (from.has("lines")) {
    each(from, "lines", [&](const JsonObject& line) {
      sampled.lines.push_back({line.real("start_s", -kMostS, kMostS), line.real("end_s", -kMostS, kMostS), line.string("text", kMostText)});
    });
  }
  return sampled;
}

Json json_of(const EventOutcome& outcome) {
  Json json = {{"budgets", outcome.budgets}, {"why", Json::array()}, {"mass", Json::array()}, {"notes", Json::array()}};
  for (std::size_t i = 0; i < outcome.why.size(); ++i) {
    const auto& layer = outcome.why[i];
    Json reasons = Json::array();
    for (const auto& [name, value] : layer) reasons.push_back({{"name", name}, {"value", value}});
    json["why"].push_back({{"reasons", std::move(reasons)}, {"best_scores", outcome.best_scores[i]}});
  }
  for (const RetainedMass& mass : outcome.retained_mass) json["mass"].push_back({{"retention", mass.retention}, {"mass", mass.mass}});
  for (const CompressionNote note : outcome.notes) json["notes"].push_back(static_cast<int>(note));
  return json;
}

EventOutcome outcome_of(const JsonObject& from) {
  EventOutcome outcome;
  outcome.budgets = from.integers("budgets", 0, kMostTokens, kMostEntries);
  each(from, "why", [&](const JsonObject& layer) {
    constexpr double kMost = std::numeric_limits<double>::max();
    outcome.best_scores.push_back(layer.reals("best_scores", -kMost, kMost, kMostEntries));
    auto& reasons = outcome.why.emplace_back();
    each(layer, "reasons", [&](const JsonObject& reason) {
      reasons.emplace_back(reason.string("name", 256),
                           reason.real("value", -std::numeric_limits<double>::max(), std::numeric_limits<double>::max()));
    });
  });
  each(from, "mass", [&](const JsonObject& mass) {
    outcome.retained_mass.push_back({mass.real("retention", 0.0, 1.0), mass.real("mass", 0.0, 1.0 + 1e-6)});
  });
  for (const std::int64_t note : from.integers("notes", static_cast<int>(CompressionNote::kFallbackRows),
                                               static_cast<int>(CompressionNote::kShortText), kMostEntries)) {
    outcome.notes.push_back(static_cast<CompressionNote>(note));
  }
  return outcome;
}

}  // namespace

Json conversation_json(const Conversation& conversation) {
  Json json = {{"pruned_tokens", conversation.pruned_tokens},
               {"next_position", conversation.next_position},
               {"media_count", conversation.media_count},
               {"media_hashes", conversation.media_hashes},
               {"frame_s", conversation.frame_s},
               {"media_kinds", Json::array()},
               {"compressed", conversation.compressed},
               {"kv_storage", static_cast<int>(conversation.cache.shape().storage)},
               {"answer_ids", conversation.answer_ids},
               {"answer_open", conversation.answer_open},
               {"thinking", static_cast<int>(conversation.settings.thinking)},
               {"day", conversation.settings.day},
               {"pins", Json::array()},
               {"makers", Json::array()},
               {"thread", Json::array()}};
  for (const MediaKind kind : conversation.media_kinds) json["media_kinds"].push_back(static_cast<int>(kind));
  for (const Pin& pin : conversation.pins) json["pins"].push_back(json_of(pin));
  for (const CacheMaker& maker : conversation.makers)
    json["makers"].push_back({{"recipe", json_of(maker.recipe)}, {"attached", maker.attached}});
  for (const Message& message : conversation.thread) {
    Json items = Json::array();
    for (const Item& item : message.items) items.push_back(json_of(item));
    json["thread"].push_back({{"role", static_cast<int>(message.role)}, {"items", std::move(items)}, {"thought", message.thought}});
  }
  return json;
}

void read_conversation_json(const JsonObject& from, Conversation& conversation) {
  conversation.pruned_tokens = from.integer("pruned_tokens", 0, kMostTokens);
  conversation.next_position = from.integer("next_position", 0, kMostTokens);
  conversation.media_count = static_cast<std::int32_t>(from.integer("media_count", 0, std::numeric_limits<std::int32_t>::max()));
  conversation.media_hashes = from.strings("media_hashes", 256, kMostEntries);
  if (from.has("frame_s")) conversation.frame_s = from.reals("frame_s", 0.0, kMostS, kMostEntries);
  conversation.frame_s.resize(conversation.media_hashes.size());  // files of before it was written: of models without time
  for (const std::int64_t kind : from.integers("media_kinds", 1, static_cast<int>(MediaKind::kDocument), kMostEntries))
    conversation.media_kinds.push_back(static_cast<MediaKind>(kind));
  if (std::ssize(conversation.media_kinds) != conversation.media_count)
    from.refuse(ErrorCode::kDamagedFile, "media_kinds", "another number than there are media");
  conversation.compressed = from.boolean("compressed");
  conversation.answer_ids = from.integers("answer_ids", 0, kMostTokens, kMostEntries);
  conversation.answer_open = from.boolean("answer_open", false);  // files of before it was written: what is cut is read again
  if (from.has("thinking")) {
    conversation.settings.thinking = word(from, "thinking", Thinking::kAsTheTemplateHasIt, Thinking::kOff);
    conversation.settings.day = from.string("day", 10);
  }
  each(from, "pins", [&](const JsonObject& pin) { conversation.pins.push_back(pin_of(pin)); });
  each(from, "makers", [&](const JsonObject& maker) {
    conversation.makers.push_back({recipe_of(maker.object("recipe")), maker.boolean("attached")});
  });
  each(from, "thread", [&](const JsonObject& object) {
    Message message{word(object, "role", Role::kSystem, Role::kAssistant), {}, object.string("thought", kMostText, "")};
    each(object, "items", [&](const JsonObject& item) { message.items.push_back(item_of(item)); });
    conversation.thread.push_back(std::move(message));
  });
}

Json prepared_json(const PreparedContext& prepared) {
  Json json = {{"recipe", json_of(prepared.recipe)},   {"first_original", prepared.tokens.first_original},
               {"tokens", prepared.tokens.size()},     {"ids_to_media", prepared.ids_to_media},
               {"outcome", json_of(prepared.outcome)}, {"media", Json::array()},
               {"description", Json::array()},         {"description_useful", prepared.description.useful}};
  for (const MediaSampled& medium : prepared.media) json["media"].push_back(json_of(medium));
  for (const DescribedWord& said : prepared.description.words)
    json["description"].push_back({{"bytes", hex(said.bytes)}, {"media", said.media}, {"frame", said.frame}});
  return json;
}

void read_prepared_json(const JsonObject& from, PreparedContext& prepared) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  prepared.recipe = recipe_of(from.object("recipe"));
  const auto tokens = std::ssize(prepared.state.origins);
  prepared.tokens.first_original = static_cast<std::int32_t>(from.integer("first_original", 0, tokens));
  if (from.integer("tokens", 0, kMost) != tokens - prepared.tokens.first_original)
    from.refuse(ErrorCode::kDamagedFile, "tokens", "another number than the conversation has");
  for (auto i = static_cast<std::size_t>(prepared.tokens.first_original); i < prepared.state.origins.size(); ++i) {
    const Modality modality = prepared.state.origins[i].modality;
    prepared.tokens.modality.push_back(modality);
    if (is_attached(modality)) ++prepared.tokens.visual;
  }
  prepared.tokens.pinned = prepared.state.pinned;
  prepared.ids_to_media = from.integers("ids_to_media", kVideoPlaceholder, kMostTokens, kMostEntries);
  prepared.outcome = outcome_of(from.object("outcome"));
  const auto budgets = std::ssize(prepared.outcome.budgets);
  if (budgets != 0 && budgets != prepared.state.cache.shape().layers)
    from.refuse(ErrorCode::kDamagedFile, "outcome", "budgets of another number of layers than the model has");
  each(from, "media", [&](const JsonObject& medium) { prepared.media.push_back(medium_of(medium)); });
  each(from, "description", [&](const JsonObject& said) {
    prepared.description.words.push_back({bytes_of(said, "bytes"), static_cast<std::int32_t>(said.integer("media", -1, kMost)),
                                          static_cast<std::int32_t>(said.integer("frame", -1, kMost))});
  });
  prepared.description.useful = from.boolean("description_useful");
}

}  // namespace winnow
