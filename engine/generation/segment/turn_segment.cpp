#include "engine/generation/segment/turn_segment.h"

#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/generation/segment/encoded_media.h"
#include "engine/generation/segment/media_encoder.h"
#include "engine/generation/segment/prompt.h"
#include "engine/generation/segment/turn_pins.h"

namespace winnow {
namespace {

void require_context(std::int64_t used, std::int64_t prompt, int answer, std::int64_t limit) {
  if (used + prompt + answer <= limit) return;
  throw Exception(ErrorCode::kContextFull, "",
                  "the model reads " + std::to_string(limit) + " tokens; this would need " + std::to_string(used + prompt) + " and " +
                      std::to_string(answer) + " for the answer (fewer frames or a shorter answer fit)");
}

// Puts text and media one after the other: embeddings for the decoder, and the tokens' names for the conversation.
class Assembly {
 public:
  Assembly(const TextDecoder& text, const PromptSegment& prompt, Conversation& working)
      : text_(text), prompt_(prompt), working_(working), first_segment_(working.thread.empty()) {
    segment_.tokens.first_original = working.next_original();
  }

  void add_text(std::size_t begin, std::size_t end) {
    if (begin == end) return;
    const std::span<const std::int64_t> ids = std::span(prompt_.token_ids).subspan(begin, end - begin);
    parts_.push_back(text_.embed(at::tensor(std::vector<std::int64_t>(ids.begin(), ids.end()), at::kLong)));
    for (std::size_t i = begin; i < end; ++i) {
      TokenOrigin origin;
      origin.modality = first_segment_ && i < prompt_.system_tokens ? Modality::kSystem : Modality::kText;
      add_token(prompt_.token_ids[i], origin);
    }
  }

  // number: of the medium in the conversation.
  void add_medium(const EncodedMedium& medium, std::int32_t number, std::int64_t placeholder) {
    parts_.push_back(medium.features.features);
    for (std::size_t token = 0; token < medium.features.origins.size(); ++token) {
      TokenOrigin origin = medium.features.origins[token];
      origin.modality = Modality::kVisual;
      origin.media = number;
      if (medium.pinned[token]) working_.pinned.push_back(working_.next_original());
      add_token(placeholder, origin);
    }
    segment_.tokens.visual += std::ssize(medium.features.origins);
  }

  TurnSegment take() {
    segment_.hidden = at::cat(parts_, 0);
    segment_.tokens.pinned = working_.pinned;
    segment_.originals.resize(static_cast<std::size_t>(segment_.tokens.size()));
    std::iota(segment_.originals.begin(), segment_.originals.end(), segment_.tokens.first_original);
    return std::move(segment_);
  }

 private:
  void add_token(std::int64_t id, const TokenOrigin& origin) {
    segment_.tokens.modality.push_back(origin.modality);
    working_.origins.push_back(origin);
    working_.token_ids.push_back(id);
  }

  const TextDecoder& text_;
  const PromptSegment& prompt_;
  Conversation& working_;
  bool first_segment_;
  std::vector<at::Tensor> parts_;
  TurnSegment segment_;
};

TurnSegment assembled(const RequestContext& context, const PromptSegment& prompt, const EncodedMedia& media, Conversation& working) {
  Assembly assembly(context.network().text(), prompt, working);
  std::size_t at = 0;
  for (std::size_t k = 0; k < prompt.media_at.size(); ++k) {
    const std::size_t item = prompt.media_item[k];
    assembly.add_text(at, prompt.media_at[k]);
    assembly.add_medium(media.items[item], working.media_count + static_cast<std::int32_t>(item), prompt.token_ids[prompt.media_at[k]]);
    if (context.trace != nullptr) context.trace->visual_features.push_back(media.items[item].features.features.to(at::kCPU, at::kFloat));
    at = prompt.media_at[k] + 1;
  }
  assembly.add_text(at, prompt.token_ids.size());
  return assembly.take();
}

}  // namespace

TurnSegment prepare_segment(const RequestContext& context, const Turn& turn, const Recipe* recipe, Conversation& working) {
  const VisionLanguageModel& network = context.network();
  const std::int64_t limit = network.info().context_tokens;
  const int answer = turn.sampling.max_new_tokens;
  const MediaEncoder encoder(context);
  const std::size_t cached = working.thread.size();

  // Media are opened before the prompt is built, because time instructions and the context check need their plans.
  std::vector<OpenedMedia> media = encoder.open_all(std::span(turn.messages).subspan(cached));
  require_pins(turn.pins, working.media_count + static_cast<std::int32_t>(media.size()));
  std::int64_t video_tokens = 0;
  for (const OpenedMedia& item : media) video_tokens += item.video_tokens;
  const PromptSegment prompt = build_prompt(context.model, turn.messages, cached, video_times(media));
  const auto text_tokens = static_cast<std::int64_t>(prompt.token_ids.size() - prompt.media_at.size());
  require_context(working.next_position, text_tokens + video_tokens, answer, limit);

  const EncodedMedia encoded = encode_media(encoder, media, working.media_count, turn.pins, recipe);
  TurnSegment segment = assembled(context, prompt, encoded, working);
  const std::int64_t n = segment.tokens.size();
  require_context(working.next_position, n, answer, limit);
  segment.positions = at::arange(working.next_position, working.next_position + n, at::kLong)
                          .to(segment.hidden.device())
                          .expand({network.position_axes(), n});
  segment.pins_above_budget = encoded.pins_above_budget;
  segment.timings = encoded.timings;
  segment.work = encoded.work;
  segment.work.prefill_tokens = n;
  working.pruned_tokens += encoded.pruned_tokens;
  working.pins = turn.pins;
  working.media_count += static_cast<std::int32_t>(media.size());
  return segment;
}

}  // namespace winnow
