#include "app/programs/cli/answer_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/chats/chat/answer_boxes.h"
#include "app/ground/notices/notice_text.h"
#include "engine/base/error.h"
#include "engine/messages/choice_words.h"
#include "engine/messages/field_values.h"
#include "engine/metrics/kept_figures.h"

namespace winnow::cli {

using nlohmann::ordered_json;

namespace {

const char* note_name(CompressionNote note) {
  switch (note) {
    case CompressionNote::kFallbackRows: return "fallback_rows";
    case CompressionNote::kRaisedToFloor: return "raised_to_floor";
    case CompressionNote::kNonFinite: return "non_finite";
    case CompressionNote::kPinsAboveBudget: return "pins_above_budget";
    case CompressionNote::kShortText: return "short_text";
    case CompressionNote::kThreadReadAgain: return "thread_read_again";
    case CompressionNote::kSystemJoinsQuestion: return "system_joins_question";
  }
  return "unknown";
}

// Figures by their lists of fields; null where there is none.
struct TerminalForm {
  using Json = ordered_json;

  static ordered_json written(const char* /*name*/, const std::vector<std::pair<std::string, double>>& named) {
    ordered_json object = ordered_json::object();
    for (const auto& [name, value] : named) object[name] = value;
    return object;
  }
};

ordered_json boxes_json(const std::string& answer, const std::string& family, const std::vector<MediaSampled>& sampled) {
  std::vector<app::BoxMedium> media;
  for (const MediaSampled& each : sampled)
    media.push_back({each.kind, static_cast<int>(each.picture.width_px), static_cast<int>(each.picture.height_px), each.read_width_px,
                     each.read_height_px, each.duration_s});
  ordered_json boxes = ordered_json::array();
  for (const app::AnswerBox& box : app::boxesIn(answer, QString::fromStdString(family), media)) boxes.push_back(app::boxToJson(box));
  return boxes;
}

ordered_json json_of(const auto& figures) { return fields::written<TerminalForm>("", figures); }

}  // namespace

const char* stop_reason_name(StopReason reason) {
  switch (reason) {
    case StopReason::kStopToken: return "stop";
    case StopReason::kLength: return "length";
    case StopReason::kStopString: return "stop_string";
    case StopReason::kInterrupted: return "interrupted";
  }
  return "stop";
}

ordered_json makers_json(const CacheMakers& makers) {
  ordered_json array = ordered_json::array();
  for (const CacheMaker& maker : naming_makers(makers))
    array.push_back({{"method", maker.recipe.method}, {"retention", maker.recipe.retention}, {"before", text_of(maker.recipe.before)}});
  return array;
}

ordered_json media_json(const std::vector<MediaSampled>& sampled) {
  ordered_json media = ordered_json::array();
  for (const MediaSampled& item : sampled) {
    ordered_json notices = ordered_json::array();
    for (const MediaNotice& notice : item.notices) notices.push_back(app::noticeText(notice));
    media.push_back({{"path", item.path},
                     {"kind", word_of(kMediaKindWords, item.kind)},
                     {"tokens", item.tokens},
                     {"all_tokens", item.all_tokens},
                     {"visual_tokens", item.visual_tokens},
                     {"detail", detail_word(item.detail)},
                     {"duration_s", item.duration_s},
                     {"asked_s", item.asked_s},
                     {"frames_s", item.actual_s},
                     {"planned_frames", std::max(item.planned_frames, static_cast<int>(item.asked_s.size()))},
                     {"subtitles", item.subtitles},
                     {"subtitle_lines", item.lines.size()},
                     {"notices", std::move(notices)}});
  }
  return media;
}

ordered_json answer_json(const ConsoleSink& sink, const ModelInfo& model) {
  require(sink.finished.has_value(), "an answer must be finished");
  const Finished& finished = *sink.finished;
  const TurnFigures& f = finished.figures;
  ordered_json notes = ordered_json::array();
  for (const CompressionNote note : f.notes) notes.push_back(note_name(note));
  return {{"answer", finished.answer},
          {"thought", finished.thought},
          {"boxes", boxes_json(finished.answer, model.family, sink.media)},
          {"model", model.folder},
          {"device", model.device},
          {"dtype", model.dtype},
          {"method", f.method},
          {"retention", f.retention},
          {"made_by", makers_json(sink.report ? sink.report->makers : CacheMakers())},
          {"achieved_retention", f.achieved_retention},
          {"seed", f.seed},
          {"media", media_json(sink.media)},
          {"tokens", json_of(f.tokens)},
          {"kept_share", kept_share(f)},
          {"kv_bytes", json_of(f.kv_bytes)},
          {"pinned", sink.report ? sink.report->pinned.size() : 0},
          {"layers", json_of(f.layers)},
          {"notes", notes},
          {"timings_ms", json_of(f.timings_ms)},
          {"tokens_per_s", f.tokens_per_s},
          {"stop_reason", stop_reason_name(finished.reason)}};
}

ordered_json agreement_json(const Agreement& agreement) { return json_of(agreement); }

void add_scores(ordered_json& answer, const ConsoleSink& sink) {
  answer["agreement"] = sink.agreement ? json_of(*sink.agreement) : ordered_json();
  answer["selection"] = sink.selection ? json_of(*sink.selection) : ordered_json();
}

std::string json_line(const ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace winnow::cli
