#include "engine/generation/requests/run_watch.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/compression/closed_ranks.h"
#include "engine/generation/reading/read_in_clips.h"
#include "engine/generation/requests/run_turn.h"
#include "engine/generation/segment/prompt.h"

namespace winnow {
namespace {

constexpr std::int64_t kQuestionTokens = 512;  // positions that are left free for a question beside its answer

[[noreturn]] void refuse(ErrorCode code, const std::string& subject, const std::string& reason) { throw Exception(code, subject, reason); }

// The only medium of the message.
const MediaRequest& source_of(const Turn& turn) {
  const MediaRequest* source = nullptr;
  for (const Item& item : turn.messages.back().items) {
    const auto* media = std::get_if<MediaItem>(&item);
    if (media == nullptr) continue;
    if (source != nullptr) refuse(ErrorCode::kInvalidArgument, media->media.path, "one source is watched at a time");
    source = &media->media;
  }
  if (source == nullptr || source->kind != MediaKind::kVideo || !(source->plan.every_s > 0.0))
    refuse(ErrorCode::kInvalidArgument, "", "a source that is watched is a video with a time between frames");
  return *source;
}

void require_watchable(const WatchClip& clip, const Recipe& recipe) {
  if (!recipe.streams())
    refuse(ErrorCode::kIllegalRecipe, "method",
           clip.turn.recipe.method +
               " reads media as a whole; while they still come choose self-study-stream, kvzip-stream, infinipot-v or "
               "keydiff with event=clips");
  if (!recipe.budget().tokens) refuse(ErrorCode::kIllegalRecipe, "budget", "a source without an end is held within a number of slots");
  if (clip.turn.recipe.full_layers > 0)
    refuse(ErrorCode::kIllegalRecipe, "full_layers", "a layer that keeps everything grows with a stream");
  if (!clip.turn.pins.empty()) refuse(ErrorCode::kInvalidArgument, "pin", "frames of a source that is still running cannot be pinned");
  if (clip.frames.empty()) refuse(ErrorCode::kInvalidArgument, source_of(clip.turn).path, "a clip has frames");
}

// A clip on its way into a state that nobody else sees yet.
class Watcher {
 public:
  Watcher(const RequestContext& context, const Turn& turn, const Recipe& recipe) : context_(context), turn_(turn), recipe_(recipe) {}

  // Reads what the prompt has before the source's first frame.
  void begin(Conversation start, double first_s) {
    const MediaRequest& source = source_of(turn_);
    const PromptMedia media{.videos = {{source.plan.every_s, 1, {first_s}, true}}};
    const PromptSegment prompt = build_prompt({context_.model, turn_.messages, turn_.prompt, start}, media);
    require(prompt.media_at.size() == 1, "run_watch: a prompt has one source");
    const std::size_t at = prompt.media_at.front();
    TurnSegment lead = segment_before_media(context_, prompt, start);
    const auto end = prompt.token_ids.begin() + static_cast<std::ptrdiff_t>(at) + 1;
    made_.emplace(std::move(start));
    made_->recipe = turn_.recipe;
    note_maker(made_->state.makers, turn_.recipe, /*attached=*/true);
    made_->tokens = lead.tokens;
    made_->ids_to_media.assign(prompt.token_ids.begin(), end);
    Conversation& working = made_->state;
    working.settings = turn_.prompt;
    working.media_count += 1;
    working.media_hashes.emplace_back();
    working.frame_s.push_back(source.plan.every_s);
    working.media_kinds.push_back(source.kind);
    made_->media.push_back({source.path, source.kind, 0.0, {}, {}, source.plan});
    made_->media.back().endless = true;
    made_->media.back().detail = source.detail;
    if (lead.tokens.size() > 0) ClipReading(context_, recipe_, *made_).read(std::move(lead));
    watched_.emplace(
        WatchedSource{ClipStream(recipe_, working.cache, working.next_original()), 0, {working.next_position, 1, source.plan.every_s}});
  }

  // A copy of what is there: blocks are shared.
  void go_on(const PreparedContext& prepared, const WatchedSource& watched) {
    made_.emplace(prepared.fork());
    watched_ = watched;
  }

  void add(std::vector<SampledFrame> frames) {
    Conversation& working = made_->state;
    MediaSampled& source = made_->media.front();
    const auto count = static_cast<std::int64_t>(frames.size());
    for (const SampledFrame& frame : frames) {
      source.asked_s.push_back(frame.asked_s);
      source.actual_s.push_back(frame.actual_s);
    }
    source.duration_s = source.plan.every_s * static_cast<double>(source.asked_s.size());
    MediaFeatures clip = MediaEncoder(context_).encode_clip(std::move(frames), watched_->frames, source.detail, made_->timings);
    take_closing(clip);
    const std::int64_t tokens = std::ssize(clip.origins);
    for (TokenOrigin& origin : clip.origins) {
      origin.modality = Modality::kVisual;
      origin.media = working.media_count - 1;
      origin.frame += static_cast<std::int32_t>(watched_->frames);
    }
    make_room(count, clip.origins);
    working.origins.insert(working.origins.end(), clip.origins.begin(), clip.origins.end());
    if (clip.ids.empty()) clip.ids.assign(clip.origins.size(), made_->ids_to_media.back());
    working.token_ids.insert(working.token_ids.end(), clip.ids.begin(), clip.ids.end());
    made_->tokens.modality.insert(made_->tokens.modality.end(), static_cast<std::size_t>(tokens), Modality::kVisual);
    made_->tokens.visual += tokens;
    watched_->frames += count;
    TurnSegment segment;
    segment.hidden = clip.features.clone();
    const TokenPositions placed = context_.network().positions_of_stream(clip.origins, watched_->stream);
    working.positions.append(placed.positions);
    segment.positions = placed.positions.to(segment.hidden.device());
    segment.next_position = placed.next_position;
    segment.originals.resize(static_cast<std::size_t>(tokens));
    std::iota(segment.originals.begin(), segment.originals.end(), working.next_original() - static_cast<std::int32_t>(tokens));
    ClipReading reading(context_, recipe_, *made_);
    reading.read(std::move(segment));

    const PromptMedia media = prompt_media(made_->media);
    const std::optional<ProbeNeed>& need = recipe_.needs().probe;
    const ProbePrompts prompts =
        need ? probe_prompts({context_.model, turn_.messages, turn_.prompt, working}, media, asked_instead(*need)) : ProbePrompts();
    const auto origins = std::span<const TokenOrigin>(working.origins).last(static_cast<std::size_t>(tokens));
    reading.compress(watched_->clips, {clip.features, origins, prompts});
  }

  Watched report() const {
    const Conversation& state = made_->state;
    const KvShape& shape = state.cache.shape();
    Watched watched;
    watched.frames = watched_->frames;
    watched.seen_s = made_->media.front().duration_s;
    watched.tokens = made_->tokens.visual;
    watched.most_slots = *recipe_.budget().tokens;
    watched.shares.assign(static_cast<std::size_t>(watched.frames), 0.0);
    // Counts, for each frame that a token may show, its tokens and those of them that are left.
    std::vector<double> all(watched.shares.size(), 0.0);
    const auto add = [&](std::vector<double>& sums, const TokenOrigin& origin) {
      if (origin.media != state.media_count - 1 || origin.frame < 0) return;
      const auto end = std::min(watched.frames, origin.frame + context_.network().info().traits.joined_frames);
      for (std::int64_t frame = origin.frame; frame < end; ++frame) sums[static_cast<std::size_t>(frame)] += 1.0;
    };
    for (const TokenOrigin& origin : state.origins) add(all, origin);
    for (LayerId layer{0}; layer < shape.layers; ++layer) {
      watched.slots.push_back(watched_->clips.slots(state.cache, layer));
      for (KvHead head{0}; head < shape.kv_heads; ++head) {
        for (const std::int32_t token : state.cache.original(layer, head))
          add(watched.shares, state.origins[static_cast<std::size_t>(token)]);
      }
    }
    for (std::size_t frame = 0; frame < all.size(); ++frame)
      watched.shares[frame] /= std::max(1.0, all[frame] * static_cast<double>(shape.layers * shape.kv_heads));
    watched.kv_bytes = state.cache.bytes_in_use();
    watched.kv_bytes_full = state.cache.shape().full_bytes(state.full_tokens());
    watched.frames_per_position = watched_->stream.frames_per_position;
    watched.description = made_->description;
    return watched;
  }

  void keep_in(ConversationStates& states) {
    states.prepared = std::move(made_);
    states.watched = std::move(watched_);
  }

 private:
  // The family's tokens after a video's last frame are read when a question comes.
  void take_closing(MediaFeatures& clip) {
    std::size_t frames = clip.origins.size();
    while (frames > 0 && clip.origins[frames - 1].frame < 0) --frames;
    const auto count = static_cast<std::int64_t>(frames);
    MediaFeatures& closing = made_->closing;
    closing.features = clip.features.narrow(0, count, clip.features.size(0) - count).clone();
    closing.origins.assign(clip.origins.begin() + count, clip.origins.end());
    clip.features = clip.features.narrow(0, 0, count);
    clip.origins.resize(frames);
    if (clip.ids.empty()) return;
    closing.ids.assign(clip.ids.begin() + count, clip.ids.end());
    clip.ids.resize(frames);
  }

  // So that `more` frames, a question and its answer end within what the model can tell apart. coming: their tokens.
  void make_room(std::int64_t more, std::span<const TokenOrigin> coming) {
    const ModelInfo& info = context_.network().info();
    const StreamPositions& stream = watched_->stream;
    const std::int64_t limit = info.context_tokens - kQuestionTokens - turn_.sampling.needed_tokens();
    const auto position_of = [&](std::int64_t frame) { return frame / stream.frames_per_position; };
    const auto fits = [&] {
      const bool as_trained = info.video_frames == 0 || position_of(watched_->frames + more - 1) < info.video_frames;
      return as_trained && context_.network().positions_of_stream(coming, stream).next_position <= limit;
    };
    while (!fits()) {
      if (position_of(watched_->frames) == 0)
        refuse(ErrorCode::kContextFull, "", "the model's " + std::to_string(info.context_tokens) + " positions leave no room for a source");
      halve_positions();
    }
    made_->media.front().frames_per_position = static_cast<int>(stream.frames_per_position);
  }

  // Keys go where the model has their tokens when twice as many frames share a place.
  void halve_positions() {
    Conversation& working = made_->state;
    const KvShape& shape = working.cache.shape();
    watched_->stream.frames_per_position *= 2;
    const std::int64_t first = watched_->clips.first_original();
    const auto origins = std::span<const TokenOrigin>(working.origins).subspan(static_cast<std::size_t>(first));
    const at::Tensor placed = context_.network().positions_of_stream(origins, watched_->stream).positions;
    const at::Tensor still = at::zeros({placed.size(0), first}, at::kLong);
    const at::Tensor rotations = at::cat({still, placed - working.positions.slice(first, std::ssize(origins))}, 1);
    for (LayerId layer{0}; layer < shape.layers; ++layer) {
      for (KvHead head{0}; head < shape.kv_heads; ++head) {
        const std::span<const std::int32_t> slots = working.cache.original(layer, head);
        const std::vector<std::int64_t> tokens(slots.begin(), slots.end());
        move_keys(working.cache, layer, head, rotations.index_select(1, at::tensor(tokens, at::kLong)));
      }
    }
    working.positions.cut(first);
    working.positions.append(placed);
  }

  const RequestContext& context_;
  const Turn& turn_;
  const Recipe& recipe_;
  std::optional<PreparedContext> made_;
  std::optional<WatchedSource> watched_;
};

}  // namespace

Watched run_watch(const RequestContext& context, const WatchClip& clip, ConversationStates& states) {
  require_question(clip.turn.messages);
  const Stopwatch watch;
  const Turn turn = as_asked(clip.turn);
  const Recipe recipe = recipe_for(turn.recipe, context.network().info());
  require_watchable(clip, recipe);
  Watcher watcher(context, turn, recipe);
  if (clip.begins) {
    Conversation start = fork_start(states, start_without_prepared(states, turn, context.model), context.network(), turn.recipe);
    watcher.begin(std::move(start), clip.frames.front().asked_s);
  } else {
    if (!follows_watched(states, turn, context.model))
      refuse(ErrorCode::kInvalidArgument, source_of(turn).path, "nothing has been seen of this source that the clip could go on from");
    watcher.go_on(*states.prepared, *states.watched);
  }
  watcher.add(clip.frames);
  Watched watched = watcher.report();
  watcher.keep_in(states);
  watched.elapsed_ms = watch.elapsed_ms();
  return watched;
}

}  // namespace winnow
