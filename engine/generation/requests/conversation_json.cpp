#include "engine/generation/requests/conversation_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace winnow {

// The allocator's reasons and best scores of one layer, which an outcome has in two lists.
struct KeptLayer {
  std::vector<std::pair<std::string, double>> reasons;
  std::vector<double> best_scores;
};
WINNOW_FIELDS(KeptLayer, reasons, best_scores)

template <FieldsOf<Conversation> F>
void visit_fields(F& f, auto&& visit) {
  visit("pruned_tokens", f.pruned_tokens);
  visit("before", f.before);
  visit("next_position", f.next_position);
  visit("media_count", f.media_count);
  visit("media_hashes", f.media_hashes);
  visit("frame_s", f.frame_s);
  visit("media_kinds", f.media_kinds);
  visit("compressed", f.compressed);
  visit("answer_ids", f.answer_ids);
  visit("answer_open", f.answer_open);
  visit("thinking", f.settings.thinking);
  visit("day", f.settings.day);
  visit("pins", f.pins);
  visit("makers", f.makers);
  visit("thread", f.thread);
}

template <FieldsOf<PreparedContext> F>
void visit_fields(F& f, auto&& visit) {
  visit("recipe", f.recipe);
  visit("ids_to_media", f.ids_to_media);
  visit("outcome", f.outcome);
  visit("media", f.media);
  visit("description", f.description.words);
  visit("description_useful", f.description.useful);
}

namespace {

using fields::Path;

constexpr std::string_view kByteTexts[] = {"path", "subtitles", "bytes"};
// Fields of changed media, which the files themselves show; fields of sources that are not kept; what the engine sets for a reading; and
// those that this form writes among the other fields.
constexpr std::string_view kNotKept[] = {"content", "frames_per_position", "endless", "picture", "visual_tokens", "most_pixels"};

// Fields that older files lack, with the value that they would have there: of a video that was read whole, of a size that nobody told.
struct YoungField {
  std::string_view name;
  int when_missing;
};
constexpr YoungField kYoungFields[] = {{"taken", 0}, {"set_frames", 1}, {"planned_frames", 0}, {"read_width_px", 0}, {"read_height_px", 0}};

bool is_among(std::span<const std::string_view> names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

// By the end of a field's name: the first that fits.
struct Range {
  std::string_view name;
  double least;
  double most;
};
constexpr double kMostS = 1e9;
constexpr double kMostTokens = 0x1p32;
constexpr double kMostCount = std::numeric_limits<int>::max();
constexpr Range kRanges[] = {{"every_s", 0.0, kMostS},
                             {"duration_s", 0.0, kMostS},
                             {"frame_s", 0.0, kMostS},
                             {"_s", -kMostS, kMostS},
                             {"_px", 0.0, 65'536.0},
                             {"budget_tokens", 1.0, kMostCount},
                             {"tokens", 0.0, kMostTokens},
                             {"set_frames", 1.0, kMostCount},
                             {"frames", 0.0, kMostCount},
                             {"taken", 0.0, kMostCount},
                             {"first", 0.0, kMostCount},
                             {"last", 0.0, kMostCount},
                             {"ids_to_media", static_cast<double>(kVideoPlaceholder), kMostTokens},
                             {"answer_ids", 0.0, kMostTokens},
                             {"budgets", 0.0, kMostTokens},
                             {"next_position", 0.0, kMostTokens},
                             {"media_count", 0.0, kMostCount},
                             {"media", -1.0, kMostCount},
                             {"frame", -1.0, kMostCount},
                             {"retention", 0.0, 1.0},
                             {"mass", 0.0, 1.0 + 1e-6}};

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

struct KeptForm {
  using Json = winnow::Json;
  static constexpr bool kComplete = true;

  // A detail of its own, a part of a plan, tokens that are never read and pages are younger than the other fields, and files without them
  // have none.
  template <class T>
  static bool leaves_out(const char* name, const T& value) {
    if constexpr (std::is_same_v<T, MediaDetail> || std::is_same_v<T, BeforeDecoder> || std::is_same_v<T, PageRange>) return value == T();
    if constexpr (std::is_same_v<T, std::vector<std::int32_t>>) {
      if (std::string_view(name) == "page_lines") return value.empty();
    }
    if constexpr (std::is_same_v<T, int>) {
      const auto* const young = std::ranges::find(kYoungFields, std::string_view(name), &YoungField::name);
      if (young != std::end(kYoungFields)) return value == young->when_missing;
    }
    return is_among(kNotKept, name);
  }

  static void check(std::string_view name, double number, const Path& at) {
    const auto* const range = std::ranges::find_if(kRanges, [&](const Range& each) { return name.ends_with(each.name); });
    if (range != std::end(kRanges) && !(number >= range->least && number <= range->most)) fields::refused<KeptForm>(at, "is out of range");
    for (const WholeSetting& setting : kWholeSettings) {
      if (name == setting.name && !(number >= setting.least && number <= setting.most)) fields::refused<KeptForm>(at, "is out of range");
    }
  }

  static Json written(const char* /*name*/, std::same_as<double> auto number) { return std::isfinite(number) ? Json(number) : Json(); }

  static Json written(const char* name, const std::string& text) { return is_among(kByteTexts, name) ? hex(text) : text; }
  static bool read(const Json& from, std::string& into, const Path& at) {
    if (!from.is_string()) return fields::refused<KeptForm>(at, "must be text");
    const auto& text = from.get_ref<const std::string&>();
    if (!is_among(kByteTexts, at.name)) return into = text, true;
    if (text.size() % 2 != 0) fields::refused<KeptForm>(at, "half a byte");
    into.clear();
    for (std::size_t i = 0; i < text.size(); i += 2) {
      unsigned value = 0;
      const auto [end, problem] = std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
      if (problem != std::errc() || end != text.data() + i + 2) fields::refused<KeptForm>(at, "no hexadecimal number");
      into += static_cast<char>(value);
    }
    return true;
  }

  static Json written(const char* /*name*/, const std::pair<std::string, double>& reason) {
    return {{"name", reason.first}, {"value", reason.second}};
  }
  static bool read(const Json& from, std::pair<std::string, double>& reason, const Path& at) {
    if (!from.is_object()) fields::refused<KeptForm>(at, "must be a map");
    fields::read_field<KeptForm>(from, "name", reason.first, at);
    fields::read_field<KeptForm>(from, "value", reason.second, at);
    return true;
  }

  // A medium is its request, without a name of its own.
  static Json written(const char* /*name*/, const MediaItem& item) { return fields::written_fields<KeptForm>(item.media); }
  static bool read(const Json& from, Item& item, const Path& at) {
    if (from.is_object() && from.contains("text")) return fields::read_fields<KeptForm>(from, item.emplace<TextItem>(), at);
    return fields::read_fields<KeptForm>(from, item.emplace<MediaItem>().media, at);
  }

  // A picture's size stands among the other fields.
  static Json written(const char* /*name*/, const MediaSampled& sampled) {
    Json medium = fields::written_fields<KeptForm>(sampled);
    medium.update(fields::written_fields<KeptForm>(sampled.picture));
    return medium;
  }
  static bool read(const Json& from, MediaSampled& sampled, const Path& at) {
    return fields::read_fields<KeptForm>(from, sampled, at) && fields::read_fields<KeptForm>(from, sampled.picture, at);
  }

  static Json written(const char* /*name*/, const EventOutcome& outcome) {
    std::vector<KeptLayer> layers;
    for (std::size_t i = 0; i < outcome.why.size(); ++i) layers.push_back({outcome.why[i], outcome.best_scores[i]});
    return {{"budgets", outcome.budgets},
            {"why", fields::written<KeptForm>("why", layers)},
            {"mass", fields::written<KeptForm>("mass", outcome.retained_mass)},
            {"notes", fields::written<KeptForm>("notes", outcome.notes)}};
  }
  static bool read(const Json& from, EventOutcome& outcome, const Path& at) {
    if (!from.is_object()) fields::refused<KeptForm>(at, "must be a map");
    std::vector<KeptLayer> layers;
    fields::read_field<KeptForm>(from, "budgets", outcome.budgets, at);
    fields::read_field<KeptForm>(from, "why", layers, at);
    fields::read_field<KeptForm>(from, "mass", outcome.retained_mass, at);
    fields::read_field<KeptForm>(from, "notes", outcome.notes, at);
    for (KeptLayer& layer : layers) {
      outcome.why.push_back(std::move(layer.reasons));
      outcome.best_scores.push_back(std::move(layer.best_scores));
    }
    return true;
  }
};

}  // namespace

Json conversation_json(const Conversation& conversation) {
  Json json = fields::written_fields<KeptForm>(conversation);
  json["kv_storage"] = static_cast<int>(conversation.cache.shape().storage);
  return json;
}

void read_conversation_json(const Json& from, const Path& at, Conversation& conversation) {
  fields::read_fields<KeptForm>(from, conversation, at);
  conversation.frame_s.resize(conversation.media_hashes.size());  // as its readers expect, whatever the file says
  if (std::ssize(conversation.media_kinds) != conversation.media_count)
    fields::refused<KeptForm>({&at, "media_kinds"}, "another number than there are media");
}

Json prepared_json(const PreparedContext& prepared) {
  Json json = fields::written_fields<KeptForm>(prepared);
  json["first_original"] = prepared.tokens.first_original;
  json["tokens"] = prepared.tokens.size();
  return json;
}

void read_prepared_json(const Json& from, const Path& at, PreparedContext& prepared) {
  fields::read_fields<KeptForm>(from, prepared, at);
  const auto all = std::ssize(prepared.state.origins);
  std::int64_t first = 0;
  std::int64_t tokens = 0;
  fields::read_field<KeptForm>(from, "first_original", first, at);
  fields::read_field<KeptForm>(from, "tokens", tokens, at);
  if (first < 0 || first > all) fields::refused<KeptForm>({&at, "first_original"}, "is out of range");
  if (tokens != all - first) fields::refused<KeptForm>({&at, "tokens"}, "another number than the conversation has");
  prepared.tokens.first_original = static_cast<std::int32_t>(first);
  for (auto i = static_cast<std::size_t>(first); i < prepared.state.origins.size(); ++i) {
    const Modality modality = prepared.state.origins[i].modality;
    prepared.tokens.modality.push_back(modality);
    if (is_attached(modality)) ++prepared.tokens.visual;
  }
  prepared.tokens.pinned = prepared.state.pinned;
  const auto budgets = std::ssize(prepared.outcome.budgets);
  if (budgets != 0 && budgets != prepared.state.cache.shape().layers)
    fields::refused<KeptForm>({&at, "outcome"}, "budgets of another number of layers than the model has");
}

}  // namespace winnow
