#include "engine/generation/reading/prepared_turn.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "engine/generation/reading/media_reading.h"

namespace winnow {
namespace {

// The first `rows` rows, of a prompt that goes on with text.
void cut_after(BegunTurn& begun, std::int64_t rows) {
  TurnSegment& segment = begun.segment;
  Conversation& conversation = begun.conversation;
  const auto end = static_cast<std::size_t>(segment.tokens.first_original + rows);
  segment.hidden = segment.hidden.narrow(0, 0, rows);
  segment.positions = segment.positions.narrow(1, 0, rows);
  // The next position follows the largest on any axis: a line's end right after a picture may lie before it (MiniCPM-V 4.7).
  segment.next_position = std::max(segment.positions.max().item<std::int64_t>() + 1, segment.position_after_media);
  segment.originals.resize(static_cast<std::size_t>(rows));
  conversation.origins.resize(end);
  conversation.token_ids.resize(end);
  conversation.positions.cut(static_cast<std::int64_t>(end));
}

void add(TimingsMs& all, const TimingsMs& more) {
  all.media += more.media;
  all.preprocess += more.preprocess;
  all.vision += more.vision;
  all.prefill += more.prefill;
  all.statistics += more.statistics;
  all.compress += more.compress;
}

// Reads the question after the media in `working`.
ReadyTurn read_question(const RequestContext& context, const PreparedContext& prepared, TurnSegment& question, Conversation working) {
  const Recipe recipe = recipe_for(prepared.recipe, context.network().info());
  return media_reading(recipe)->read_question(context, prepared, question, std::move(working));
}

}  // namespace

std::optional<PreparedContext> prepare_context(const RequestContext& context, const Turn& turn, const Recipe& recipe, BegunTurn& begun) {
  const auto reading = media_reading(recipe);
  if (reading == nullptr) return std::nullopt;
  const SegmentTokens judged = judged_tokens(recipe, begun.segment.tokens);
  SegmentCompression compression(recipe, judged, context.network().info(), begun.conversation);
  if (!compression.compressor().will_compress()) return std::nullopt;
  require(judged.size() < begun.segment.tokens.size(), "prepare_context: a template that writes nothing after the media");
  cut_after(begun, judged.size());
  PreparedContext prepared = reading->prepare(context, {turn, begun, judged, compression});
  note_maker(prepared.state.makers, turn.recipe, /*attached=*/true);
  for (const Message& message : std::span(turn.messages).subspan(prepared.state.thread.size())) {
    for (const Item& item : message.items) {
      if (const auto* medium = std::get_if<MediaItem>(&item)) prepared.contents.push_back(medium->media.content);
    }
  }
  return prepared;
}

bool same_media(const PreparedMedia& prepared, const Message& message) {
  const std::vector<MediaSampled>& media = prepared.media;
  std::size_t at = 0;
  for (const Item& item : message.items) {
    const auto* asked = std::get_if<MediaItem>(&item);
    if (asked == nullptr) continue;
    if (at == media.size()) return false;
    const std::string content = at < prepared.contents.size() ? prepared.contents[at] : std::string();
    const MediaSampled& read = media[at++];
    const MediaRequest& wanted = asked->media;
    if (wanted.path != read.path || wanted.kind != read.kind) return false;
    if (wanted.kind == MediaKind::kVideo && wanted.plan != read.plan) return false;
    if (!content.empty() && !wanted.content.empty() && wanted.content != content) return false;  // replaced under its name
    if (wanted.most_tokens != read.most_tokens || wanted.detail != read.detail) return false;
    if (wanted.pages != read.pages) return false;
    if (wanted.subtitles != read.subtitles || wanted.encoding != read.encoding) return false;
  }
  return at == media.size();
}

std::vector<Message> media_thread(const PreparedContext& prepared) {
  std::vector<Message> thread = prepared.state.thread;
  thread.push_back({Role::kUser, {}});
  for (const MediaSampled& medium : prepared.media)
    thread.back().items.emplace_back(MediaItem{
        {medium.path, medium.kind, medium.plan, medium.most_tokens, medium.subtitles, medium.encoding, {}, medium.detail, medium.pages}});
  return thread;
}

CacheReport prepared_report(const PreparedContext& prepared) {
  CacheReport report = cache_report(prepared.outcome, prepared.state);
  report.description = prepared.description;
  return report;
}

ReadyTurn ready_context_turn(const RequestContext& context, const Turn& turn, PreparedContext& made) {
  Conversation working = std::move(made.state);
  made.state = working.fork();
  TurnSegment question = question_segment(context, turn, made.read(), working);
  ReadyTurn ready = read_question(context, made, question, std::move(working));
  add(ready.timings, made.timings);
  const TokenCounts read = made.tokens.counts();
  ready.tokens.prompt += read.prompt;
  ready.tokens.visual += read.visual;
  ready.tokens.text += read.text;
  ready.work.prefill_tokens += made.work.prefill_tokens;
  ready.work.video_frames = made.work.video_frames;
  ready.work.image_tokens = made.work.image_tokens;
  return ready;
}

ReadyTurn ready_prepared_turn(const RequestContext& context, const Turn& turn, const PreparedContext& prepared) {
  Conversation working = prepared.state.fork();
  TurnSegment question = question_segment(context, turn, prepared.read(), working);
  require_context(context, turn, question.next_position);
  for (const MediaSampled& medium : prepared.media) context.emit(medium);
  return read_question(context, prepared, question, std::move(working));
}

ReadyTurn ready_single_turn(const RequestContext& context, const Turn& turn, const Recipe& recipe, Conversation start,
                            const ChooseFirst& first) {
  BegunTurn begun = begin_turn(context, turn, &recipe, std::move(start));
  if (std::optional<PreparedContext> made = prepare_context(context, turn, recipe, begun)) return ready_context_turn(context, turn, *made);
  return TurnPrefill(context, std::move(begun), {&recipe}, Compaction::kLayerByLayer).ready(first);
}

}  // namespace winnow
