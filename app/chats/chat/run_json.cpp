#include "app/chats/chat/run_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "app/chats/chat/figure_json.h"

namespace winnow::app {

WINNOW_FIELDS(SampledTimes, askedS, actualS, tokens, linesS, linesDigest, notices, planned, pageLines, readWidthPx, readHeightPx)

namespace {

using Json = nlohmann::json;

struct SampledForm : ChatForm {
  using ChatForm::read, ChatForm::written;

  static bool leaves_out(const char* /*name*/, const auto& value) { return value == std::remove_cvref_t<decltype(value)>{}; }
  static Json written(const char* /*name*/, const QByteArray& text) { return text.toStdString(); }
  static bool read(const Json& from, QByteArray& text, const fields::Path& /*at*/) {
    if (from.is_string()) text = QByteArray::fromStdString(from.get<std::string>());
    return from.is_string();
  }
};

template <class Field>
Field fieldFrom(const QByteArray& text) {
  Field field{};
  fields::read<ChatForm>(parsedJson(text), field, kInChats);
  return field;
}

// Every number of a turn under its stored name: "prompt_tokens", "kv_bytes_full", "media_ms". One list for both directions.
template <typename Figures, typename Visit>
void visitFigures(Figures& f, Visit visit) {
  visit_fields(f.tokens, [&](const std::string& name, auto& count) { visit(name + "_tokens", count); });
  visit_fields(f.kv_bytes, [&](const std::string& name, auto& bytes) { visit("kv_bytes_" + name, bytes); });
  visit_fields(f.timings_ms, [&](const std::string& name, auto& ms) { visit(name == "decode_total" ? "decode_ms" : name + "_ms", ms); });
  visit("tokens_per_s", f.tokens_per_s);
  visit("achieved_retention", f.achieved_retention);
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

// Fills in what versions before 0.2 did not save of an answer, from what they did.
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

using Json = nlohmann::json;

template <class Value>
bool fits(const Json& stored, const SamplingField& field) {
  if (std::is_same_v<Value, double> ? !stored.is_number() : !stored.is_number_integer()) return false;
  if (std::is_unsigned_v<Value>) return stored.is_number_unsigned();
  const auto number = stored.get<double>();
  return std::isfinite(number) && number >= field.least && number <= field.most;
}

using Json = nlohmann::json;

// Answers are what a model wrote: their words need not be whole characters.
QByteArray dumped(const Json& json) { return QByteArray::fromStdString(json.dump(-1, ' ', false, Json::error_handler_t::replace)); }

std::string textOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

QByteArray bytesOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() ? dumped(*found) : QByteArray();
}

}  // namespace

QByteArray figuresToJson(const Run& run) {
  Json json = Json::object();
  visitFigures(run.figures, [&](const std::string& name, const auto& value) { json[name] = value; });
  if (!run.figures.notes.empty()) json["notes"] = fields::written<ChatForm>("notes", run.figures.notes);
  for (const TimelinePoint& point : run.timeline.points) json["timeline"].push_back(toJson(point));
  json["stop_reason"] = static_cast<int>(run.stopReason);
  for (const QString& name : run.begunBy) json["begun_by"].push_back(name.toStdString());
  if (!run.family.isEmpty()) json["family"] = run.family.toStdString();
  if (run.guard != Guard::kKeep) json["guard"] = static_cast<int>(run.guard);
  if (const QByteArray sampling = samplingToJson(run.sampling); !sampling.isEmpty()) json["sampling"] = parsedJson(sampling);
  return QByteArray::fromStdString(json.dump());
}

TurnTimeline timelineFromJson(const QByteArray& text) {
  const Json json = parsedJson(text);
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
  const Json json = parsedJson(text);
  if (!json.is_object()) return;
  visitFigures(run.figures, [&](const std::string& name, auto& value) { readField(json, name, value); });
  readField(json, "notes", run.figures.notes);
  run.timeline = timelineFromJson(text);
  const auto reason = json.find("stop_reason");
  if (reason != json.end() && *reason == Json(static_cast<int>(StopReason::kLength))) run.stopReason = StopReason::kLength;
  std::vector<std::string> writers;
  readField(json, "begun_by", writers);
  for (const std::string& name : writers) run.begunBy << QString::fromStdString(name);
  run.family = QString::fromStdString(textOf(json, "family"));
  readField(json, "guard", run.guard);
  if (const auto sampling = json.find("sampling"); sampling != json.end())
    run.sampling = samplingFromJson(QByteArray::fromStdString(sampling->dump()));
  fillOlder(json, run);
}

QByteArray keptPerHeadToJson(const std::vector<std::int64_t>& kept) { return QByteArray::fromStdString(Json(kept).dump()); }

std::vector<std::int64_t> keptPerHeadFromJson(const QByteArray& text) { return fieldFrom<std::vector<std::int64_t>>(text); }

QByteArray reasonsToJson(const NamedNumbers& reasons) { return QByteArray::fromStdString(fields::written<ChatForm>("", reasons).dump()); }

NamedNumbers reasonsFromJson(const QByteArray& text) { return fieldFrom<NamedNumbers>(text); }

QByteArray slotCountsToJson(const SlotCounts& counts) { return QByteArray::fromStdString(fields::written<ChatForm>("", counts).dump()); }

SlotCounts slotCountsFromJson(const QByteArray& text) { return fieldFrom<SlotCounts>(text); }

QByteArray sampledToJson(const SampledTimes& times) {
  const Json json = fields::written_fields<SampledForm>(times);
  return QByteArray::fromStdString(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

SampledTimes sampledFromJson(const QByteArray& text) {
  SampledTimes times;
  fields::read_fields<SampledForm>(parsedJson(text), times, kInChats);
  return times;
}

QByteArray pinsToJson(const PinnedRanges& pins) {
  if (pins.empty()) return {};
  Json json = Json::array();
  for (const PinnedRange& range : pins) json.push_back({range.fromS, range.toS});
  return QByteArray::fromStdString(json.dump());
}

PinnedRanges pinsFromJson(const QByteArray& text) {
  const Json json = parsedJson(text);
  PinnedRanges pins;
  if (!json.is_array()) return pins;
  for (const Json& range : json) {
    const bool numbers = range.is_array() && range.size() == 2 && range[0].is_number() && range[1].is_number();
    if (numbers && range[0].get<double>() <= range[1].get<double>())
      pins = withRange(pins, {range[0].get<double>(), range[1].get<double>()});
  }
  return pins;
}

using Json = nlohmann::json;

Json makersToJson(const QList<RunMaker>& makers) {
  Json list = Json::array();
  for (const RunMaker& maker : makers)
    list.push_back({{"recipe", Json::parse(recipeToJson(maker.recipe, -1))}, {"attached", maker.attached}});
  return list;
}

QList<RunMaker> makersFromJson(const Json& json) {
  QList<RunMaker> makers;
  if (!json.is_array()) return makers;
  try {
    for (const Json& each : json) makers.push_back({recipeFromJson(each.at("recipe").dump(), "chats"), each.at("attached").get<bool>()});
  } catch (const std::exception&) {
    return {};
  }
  return makers;
}

QByteArray makersToText(const QList<RunMaker>& makers) {
  return makers.isEmpty() ? QByteArray() : QByteArray::fromStdString(makersToJson(makers).dump());
}

QList<RunMaker> makersFromText(const QByteArray& text) { return makersFromJson(parsedJson(text)); }

QByteArray samplingToJson(const SamplingChoice& choice) {
  return choice.empty() ? QByteArray() : QByteArray::fromStdString(fieldsToJson(choice).dump());
}

SamplingChoice samplingFromJson(const QByteArray& text) {
  SamplingChoice choice;
  const Json json = parsedJson(text);
  if (!json.is_object()) return choice;
  visit_choices(choice, [&json](const SamplingField& field, auto& value) {
    using Value = typename std::remove_reference_t<decltype(value)>::value_type;
    const auto stored = json.find(field.name);
    if (stored != json.end() && fits<Value>(*stored, field)) value = stored->template get<Value>();
  });
  return choice;
}

QByteArray agreementToJson(const std::optional<Agreement>& agreement) {
  if (!agreement) return {};
  return dumped(fieldsToJson(*agreement));
}

std::optional<Agreement> agreementFromJson(const QByteArray& text) {
  const Json json = parsedJson(text);
  if (!json.is_object()) return std::nullopt;
  Agreement agreement;
  fieldsFromJson(json, agreement);
  return agreement;
}

QByteArray runToJson(const Run& run) {
  Json layers = Json::array();
  for (const LayerFigures& layer : run.figures.layers) layers.push_back(fieldsToJson(layer));
  Json json = {{"model_name", run.modelName.toStdString()}, {"model_folder", run.modelFolder.toStdString()},
               {"device", run.device.toStdString()},        {"recipe", parsedJson(QByteArray::fromStdString(recipeToJson(run.recipe, -1)))},
               {"makers", makersToJson(run.makers)},        {"method", run.figures.method},
               {"retention", run.figures.retention},        {"seed", run.figures.seed},
               {"figures", parsedJson(figuresToJson(run))}, {"layers", layers}};
  if (run.agreement) json["agreement"] = parsedJson(agreementToJson(run.agreement));
  if (run.selection) json["selection"] = fieldsToJson(*run.selection);
  return dumped(json);
}

Run runFromJson(const QByteArray& text) {
  Run run;
  const Json json = parsedJson(text);
  if (!json.is_object()) return run;
  run.modelName = QString::fromStdString(textOf(json, "model_name"));
  run.modelFolder = QString::fromStdString(textOf(json, "model_folder"));
  run.device = QString::fromStdString(textOf(json, "device"));
  figuresFromJson(bytesOf(json, "figures"), run);
  run.figures.method = textOf(json, "method");
  readField(json, "retention", run.figures.retention);
  readField(json, "seed", run.figures.seed);
  run.recipe.spec.method = run.figures.method;
  run.recipe.spec.retention = run.figures.retention;
  try {
    const QByteArray recipe = bytesOf(json, "recipe");
    run.recipe = recipeFromJson({recipe.constData(), static_cast<std::size_t>(recipe.size())}, "chats");
  } catch (const Exception&) {  // of a newer program: told by its method and share alone
  }
  if (const auto makers = json.find("makers"); makers != json.end()) run.makers = makersFromJson(*makers);
  readField(json, "layers", run.figures.layers);
  run.agreement = agreementFromJson(bytesOf(json, "agreement"));
  if (const auto selection = json.find("selection"); selection != json.end() && selection->is_object())
    fieldsFromJson(*selection, run.selection.emplace());
  return run;
}

}  // namespace winnow::app
