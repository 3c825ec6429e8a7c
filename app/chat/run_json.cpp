#include "app/chat/run_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace winnow::app {

namespace {

using Json = nlohmann::json;

// Visits every stored field with its name: one list for both directions.
template <typename Figures, typename Visitor>
void visitFigures(Figures& f, Visitor&& visit) {
  visit("prompt_tokens", f.tokens.prompt);
  visit("visual_tokens", f.tokens.visual);
  visit("text_tokens", f.tokens.text);
  visit("generated_tokens", f.tokens.generated);
  visit("kv_bytes_full", f.kv_bytes.full);
  visit("kv_bytes_after_event", f.kv_bytes.after_event);
  visit("kv_bytes_end", f.kv_bytes.end);
  visit("kv_bytes_peak", f.kv_bytes.peak);
  visit("kv_bytes_allocated", f.kv_bytes.allocated);
  visit("kv_bytes_metadata", f.kv_bytes.metadata);
  visit("media_ms", f.timings_ms.media);
  visit("preprocess_ms", f.timings_ms.preprocess);
  visit("vision_ms", f.timings_ms.vision);
  visit("prefill_ms", f.timings_ms.prefill);
  visit("statistics_ms", f.timings_ms.statistics);
  visit("compress_ms", f.timings_ms.compress);
  visit("ttft_ms", f.timings_ms.ttft);
  visit("decode_ms", f.timings_ms.decode_total);
  visit("tokens_per_s", f.tokens_per_s);
  visit("achieved_retention", f.achieved_retention);
}

constexpr CompressionNote kNotes[] = {CompressionNote::kFallbackRows, CompressionNote::kRaisedToFloor, CompressionNote::kNonFinite,
                                      CompressionNote::kPinsAboveBudget};

std::vector<CompressionNote> notesFrom(const Json& stored) {
  std::vector<CompressionNote> notes;
  for (const CompressionNote note : kNotes) {
    if (std::find(stored.begin(), stored.end(), Json(static_cast<int>(note))) != stored.end()) notes.push_back(note);
  }
  return notes;
}

std::vector<double> timesFrom(const Json& stored, const char* name) {
  std::vector<double> times;
  const auto found = stored.find(name);
  if (found == stored.end() || !found->is_array()) return times;
  for (const Json& value : *found) times.push_back(value.is_number() ? value.get<double>() : 0.0);
  return times;
}

}  // namespace

QByteArray figuresToJson(const TurnFigures& figures) {
  Json json = Json::object();
  visitFigures(figures, [&](const char* name, const auto& value) { json[name] = value; });
  for (const CompressionNote note : figures.notes) json["notes"].push_back(static_cast<int>(note));
  return QByteArray::fromStdString(json.dump());
}

void figuresFromJson(const QByteArray& text, TurnFigures& figures) {
  const Json json = Json::parse(text.constData(), text.constData() + text.size(), nullptr, false);
  if (!json.is_object()) return;
  visitFigures(figures, [&](const char* name, auto& value) {
    const auto found = json.find(name);
    if (found != json.end() && found->is_number()) found->get_to(value);
  });
  if (const auto notes = json.find("notes"); notes != json.end() && notes->is_array()) figures.notes = notesFrom(*notes);
}

QByteArray keptPerHeadToJson(const std::vector<std::int64_t>& kept) { return QByteArray::fromStdString(Json(kept).dump()); }

std::vector<std::int64_t> keptPerHeadFromJson(const QByteArray& text) {
  const Json json = Json::parse(text.constData(), text.constData() + text.size(), nullptr, false);
  std::vector<std::int64_t> kept;
  if (!json.is_array()) return kept;
  for (const Json& value : json) kept.push_back(value.is_number_integer() ? value.get<std::int64_t>() : 0);
  return kept;
}

QByteArray reasonsToJson(const std::vector<std::pair<std::string, double>>& reasons) {
  Json json = Json::array();
  for (const auto& [name, value] : reasons) json.push_back({name, value});
  return QByteArray::fromStdString(json.dump());
}

std::vector<std::pair<std::string, double>> reasonsFromJson(const QByteArray& text) {
  const Json json = Json::parse(text.constData(), text.constData() + text.size(), nullptr, false);
  std::vector<std::pair<std::string, double>> reasons;
  if (!json.is_array()) return reasons;
  for (const Json& pair : json) {
    if (pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_number()) {
      reasons.emplace_back(pair[0].get<std::string>(), pair[1].get<double>());
    }
  }
  return reasons;
}

QByteArray slotCountsToJson(const SlotCounts& counts) {
  return QByteArray::fromStdString(Json::array({counts.visual, counts.text, counts.generated}).dump());
}

SlotCounts slotCountsFromJson(const QByteArray& text) {
  const Json json = Json::parse(text.constData(), text.constData() + text.size(), nullptr, false);
  const auto number = [&](std::size_t place) { return json[place].is_number() ? json[place].get<double>() : 0.0; };
  return json.is_array() && json.size() == 3 ? SlotCounts{number(0), number(1), number(2)} : SlotCounts{};
}

QByteArray sampledToJson(const SampledTimes& times) {
  return QByteArray::fromStdString(Json{{"asked_s", times.askedS}, {"actual_s", times.actualS}}.dump());
}

SampledTimes sampledFromJson(const QByteArray& text) {
  const Json json = Json::parse(text.constData(), text.constData() + text.size(), nullptr, false);
  if (!json.is_object()) return {};
  return {timesFrom(json, "asked_s"), timesFrom(json, "actual_s")};
}

QByteArray pinsToJson(const PinnedRanges& pins) {
  if (pins.empty()) return {};
  Json json = Json::array();
  for (const PinnedRange& range : pins) json.push_back({range.fromS, range.toS});
  return QByteArray::fromStdString(json.dump());
}

PinnedRanges pinsFromJson(const QByteArray& text) {
  const Json json = Json::parse(text.constData(), text.constData() + text.size(), nullptr, false);
  PinnedRanges pins;
  if (!json.is_array()) return pins;
  for (const Json& range : json) {
    const bool numbers = range.is_array() && range.size() == 2 && range[0].is_number() && range[1].is_number();
    if (numbers && range[0].get<double>() <= range[1].get<double>()) pins = withRange(std::move(pins), {range[0].get<double>(), range[1].get<double>()});
  }
  return pins;
}

}  // namespace winnow::app
