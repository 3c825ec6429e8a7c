#include "app/chat/run_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

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
  visit("thread_visual_tokens", f.tokens.thread_visual);
  visit("thread_text_tokens", f.tokens.thread_text);
  visit("pinned_tokens", f.tokens.pinned);
  visit("kv_bytes_full", f.kv_bytes.full);
  visit("kv_bytes_after_event", f.kv_bytes.after_event);
  visit("kv_bytes_end", f.kv_bytes.end);
  visit("kv_bytes_peak", f.kv_bytes.peak);
  visit("kv_bytes_allocated", f.kv_bytes.allocated);
  visit("kv_bytes_metadata", f.kv_bytes.metadata);
  visit("kv_bytes_full_end", f.kv_bytes.full_end);
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
                                      CompressionNote::kPinsAboveBudget, CompressionNote::kShortText};

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

// Whole bytes and tenths of milliseconds are enough.
Json toJson(const TimelinePoint& point) {
  const auto whole = [](double value) { return static_cast<std::int64_t>(std::llround(value)); };
  return Json::array({std::round(point.ms * 10.0) / 10.0, whole(point.text), whole(point.image), whole(point.video), whole(point.generated),
                      whole(point.full), std::round(point.tokensPerS * 100.0) / 100.0, static_cast<int>(point.mark)});
}

std::optional<TimelinePoint> pointFrom(const Json& stored) {
  if (!stored.is_array() || stored.size() != 8) return std::nullopt;
  std::array<double, 8> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!stored[i].is_number()) return std::nullopt;
    numbers[i] = stored[i].get<double>();
    if (!std::isfinite(numbers[i]) || numbers[i] < 0.0) return std::nullopt;
  }
  const int mark = numbers[7] <= static_cast<int>(TimelinePoint::Mark::kEnd) ? static_cast<int>(numbers[7]) : 0;
  return TimelinePoint{numbers[0], numbers[1], numbers[2], numbers[3],
                       numbers[4], numbers[5], numbers[6], static_cast<TimelinePoint::Mark>(mark)};
}

// What versions before 0.2 did not save of an answer, from what they did.
void fillOlder(const Json& json, Run& run) {
  TurnFigures& f = run.figures;
  if (!json.contains("kv_bytes_full_end")) {
    const double drawn = run.timeline.empty() ? 0.0 : run.timeline.points.back().full;
    f.kv_bytes.full_end = std::max({f.kv_bytes.full, f.kv_bytes.end, static_cast<std::int64_t>(drawn)});
  }
  if (!json.contains("thread_text_tokens")) {  // right for the first turn of a chat
    f.tokens.thread_visual = f.tokens.visual;
    f.tokens.thread_text = f.tokens.text;
  }
}

}  // namespace

QByteArray figuresToJson(const Run& run) {
  Json json = Json::object();
  visitFigures(run.figures, [&](const char* name, const auto& value) { json[name] = value; });
  for (const CompressionNote note : run.figures.notes) json["notes"].push_back(static_cast<int>(note));
  for (const TimelinePoint& point : run.timeline.points) json["timeline"].push_back(toJson(point));
  json["stop_reason"] = static_cast<int>(run.stopReason);
  return QByteArray::fromStdString(json.dump());
}

TurnTimeline timelineFromJson(const QByteArray& text) {
  const Json json = Json::parse(text.constData(), text.constData() + text.size(), nullptr, false);
  TurnTimeline timeline;
  if (!json.is_object()) return timeline;
  const auto found = json.find("timeline");
  if (found == json.end() || !found->is_array() || found->size() > 2 * TurnTimeline::kMostPoints) return timeline;
  for (const Json& point : *found) {
    if (const auto known = pointFrom(point); known && (timeline.empty() || known->ms >= timeline.points.back().ms))
      timeline.points.push_back(*known);
  }
  return timeline;
}

void figuresFromJson(const QByteArray& text, Run& run) {
  const Json json = Json::parse(text.constData(), text.constData() + text.size(), nullptr, false);
  if (!json.is_object()) return;
  visitFigures(run.figures, [&](const char* name, auto& value) {
    const auto found = json.find(name);
    if (found != json.end() && found->is_number()) found->get_to(value);
  });
  if (const auto notes = json.find("notes"); notes != json.end() && notes->is_array()) run.figures.notes = notesFrom(*notes);
  run.timeline = timelineFromJson(text);
  const auto reason = json.find("stop_reason");
  if (reason != json.end() && *reason == Json(static_cast<int>(StopReason::kLength))) run.stopReason = StopReason::kLength;
  fillOlder(json, run);
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
  return QByteArray::fromStdString(Json::array({counts.visual, counts.text, counts.generated, counts.image}).dump());
}

SlotCounts slotCountsFromJson(const QByteArray& text) {
  const Json json = Json::parse(text.constData(), text.constData() + text.size(), nullptr, false);
  const auto number = [&](std::size_t place) { return json[place].is_number() ? json[place].get<double>() : 0.0; };
  if (!json.is_array() || json.size() < 3 || json.size() > 4) return {};
  return {number(0), number(1), number(2), json.size() == 4 ? number(3) : 0.0};  // images were not counted at first
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
    if (numbers && range[0].get<double>() <= range[1].get<double>())
      pins = withRange(std::move(pins), {range[0].get<double>(), range[1].get<double>()});
  }
  return pins;
}

}  // namespace winnow::app
