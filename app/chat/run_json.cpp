#include "app/chat/run_json.h"

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

}  // namespace

QByteArray figuresToJson(const TurnFigures& figures) {
  Json json = Json::object();
  visitFigures(figures, [&](const char* name, const auto& value) { json[name] = value; });
  return QByteArray::fromStdString(json.dump());
}

void figuresFromJson(const QByteArray& text, TurnFigures& figures) {
  const Json json = Json::parse(text.constData(), text.constData() + text.size(), nullptr, false);
  if (!json.is_object()) return;
  visitFigures(figures, [&](const char* name, auto& value) {
    const auto found = json.find(name);
    if (found != json.end() && found->is_number()) found->get_to(value);
  });
}

QByteArray keptPerHeadToJson(const std::vector<std::int64_t>& kept) { return QByteArray::fromStdString(Json(kept).dump()); }

std::vector<std::int64_t> keptPerHeadFromJson(const QByteArray& text) {
  const Json json = Json::parse(text.constData(), text.constData() + text.size(), nullptr, false);
  std::vector<std::int64_t> kept;
  if (!json.is_array()) return kept;
  for (const Json& value : json) kept.push_back(value.is_number_integer() ? value.get<std::int64_t>() : 0);
  return kept;
}

}  // namespace winnow::app
