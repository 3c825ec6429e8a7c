#include "app/cli/answer_json.h"

#include <nlohmann/json.hpp>

#include "engine/base/error.h"

namespace winnow::cli {

using nlohmann::ordered_json;

namespace {

const char* note_name(CompressionNote note) {
  switch (note) {
    case CompressionNote::kFallbackRows:
      return "fallback_rows";
    case CompressionNote::kRaisedToFloor:
      return "raised_to_floor";
    case CompressionNote::kNonFinite:
      return "non_finite";
    case CompressionNote::kPinsAboveBudget:
      return "pins_above_budget";
    case CompressionNote::kShortText:
      return "short_text";
  }
  return "unknown";
}

}  // namespace

const char* stop_reason_name(StopReason reason) {
  switch (reason) {
    case StopReason::kStopToken:
      return "stop";
    case StopReason::kLength:
      return "length";
    case StopReason::kStopString:
      return "stop_string";
    case StopReason::kInterrupted:
      return "interrupted";
  }
  return "stop";
}

ordered_json answer_json(const ConsoleSink& sink, const ModelInfo& model) {
  require(sink.finished.has_value(), "an answer must be finished");
  const Finished& finished = *sink.finished;
  const TurnFigures& f = finished.figures;
  ordered_json media = ordered_json::array();
  for (const MediaSampled& item : sink.media) {
    media.push_back({{"path", item.path},
                     {"kind", item.kind == MediaKind::kVideo ? "video" : "image"},
                     {"duration_s", item.duration_s},
                     {"asked_s", item.asked_s},
                     {"frames_s", item.actual_s}});
  }
  ordered_json layers = ordered_json::array();
  for (const LayerFigures& layer : f.layers) {
    ordered_json why = ordered_json::object();
    for (const auto& [name, value] : layer.why) why[name] = value;
    layers.push_back({{"budget", layer.budget},
                      {"kept", layer.kept},
                      {"kept_visual", layer.kept_visual},
                      {"kept_text", layer.kept_text},
                      {"kept_per_head", layer.kept_per_head},
                      {"bytes", layer.bytes},
                      {"why", why},
                      {"end", {{"visual", layer.end.visual}, {"text", layer.end.text}, {"generated", layer.end.generated}}}});
  }
  ordered_json notes = ordered_json::array();
  for (const CompressionNote note : f.notes) notes.push_back(note_name(note));
  return {
      {"answer", finished.answer},
      {"model", model.folder},
      {"device", model.device},
      {"dtype", model.dtype},
      {"method", f.method},
      {"retention", f.retention},
      {"achieved_retention", f.achieved_retention},
      {"seed", f.seed},
      {"media", media},
      {"tokens", {{"prompt", f.tokens.prompt}, {"visual", f.tokens.visual}, {"text", f.tokens.text}, {"generated", f.tokens.generated}}},
      {"kv_bytes",
       {{"full", f.kv_bytes.full},
        {"after_event", f.kv_bytes.after_event},
        {"end", f.kv_bytes.end},
        {"peak", f.kv_bytes.peak},
        {"allocated", f.kv_bytes.allocated},
        {"metadata", f.kv_bytes.metadata},
        {"full_end", f.kv_bytes.full_end}}},
      {"pinned", sink.report ? sink.report->pinned.size() : 0},
      {"layers", layers},
      {"notes", notes},
      {"timings_ms",
       {{"media", f.timings_ms.media},
        {"preprocess", f.timings_ms.preprocess},
        {"vision", f.timings_ms.vision},
        {"prefill", f.timings_ms.prefill},
        {"statistics", f.timings_ms.statistics},
        {"compress", f.timings_ms.compress},
        {"ttft", f.timings_ms.ttft},
        {"decode_total", f.timings_ms.decode_total}}},
      {"tokens_per_s", f.tokens_per_s},
      {"stop_reason", stop_reason_name(finished.reason)}};
}

ordered_json agreement_json(const Agreement& agreement) {
  ordered_json differences = ordered_json::array();
  for (const WordDifference& each : agreement.differences) {
    differences.push_back({{"word", each.word},
                           {"text", each.text},
                           {"full_text", each.full_text},
                           {"probability", each.probability},
                           {"full_probability", each.full_probability},
                           {"full_choice_probability", each.full_choice_probability}});
  }
  ordered_json first;  // null: every choice is the full cache's
  if (agreement.first_diverging_word) first = *agreement.first_diverging_word;
  return {{"tokens", agreement.tokens},
          {"top1", agreement.top1},
          {"mean_kl", agreement.mean_kl},
          {"first_diverging_word", first},
          {"differences", differences}};
}

ordered_json selection_json(const SelectionFigures& selection) {
  ordered_json hit_rate;  // null: the prompt has other tokens than the full cache's
  if (selection.hit_rate) hit_rate = *selection.hit_rate;
  return {{"hit_rate", hit_rate},
          {"output_error", selection.output_error},
          {"visual_contribution", selection.visual_contribution},
          {"visual_coverage", selection.visual_coverage},
          {"sparsity", selection.sparsity}};
}

std::string json_line(const ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace winnow::cli
