#include "engine/generation/segment/turn_segment.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/generation/segment/encoded_media.h"
#include "engine/generation/segment/foreseen_positions.h"
#include "engine/generation/segment/turn_pins.h"

namespace winnow {
namespace {

// The tokens of a prompt with those that a recipe leaves unread, whose positions stay free where positions have several axes.
struct WholePrompt {
  std::vector<TokenOrigin> origins;
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> read;  // which of them the decoder gets
};

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
      TokenOrigin origin{.modality = first_segment_ && i < prompt_.system_tokens ? Modality::kSystem : Modality::kText};
      add_token(prompt_.token_ids[i], origin);
    }
  }

  // number: of the medium in the conversation.
  void add_medium(const EncodedMedium& medium, std::int32_t number, std::int64_t placeholder) {
    parts_.push_back(medium.features.features);
    auto unread = medium.all.begin();
    for (std::size_t token = 0; token < medium.features.origins.size(); ++token) {
      TokenOrigin origin = medium.features.origins[token];
      for (; unread != medium.all.end() && *unread != origin; ++unread) add_unread(*unread, number, placeholder);
      if (unread != medium.all.end()) ++unread;
      origin.media = number;
      if (medium.pinned[token]) working_.pinned.push_back(working_.next_original());
      add_token(medium.features.ids.empty() ? placeholder : medium.features.ids[token], origin);
    }
    for (; unread != medium.all.end(); ++unread) add_unread(*unread, number, placeholder);
    segment_.tokens.visual += std::ssize(medium.features.origins);
  }
  const WholePrompt& whole() const { return whole_; }

  // Nothing was added: no rows.
  TurnSegment take() {
    if (!parts_.empty()) segment_.hidden = at::cat(parts_, 0);
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
    whole_.read.push_back(std::ssize(whole_.origins));
    whole_.origins.push_back(origin);
    whole_.ids.push_back(id);
  }
  void add_unread(TokenOrigin origin, std::int32_t number, std::int64_t placeholder) {
    origin.media = number;
    whole_.origins.push_back(origin);
    whole_.ids.push_back(placeholder);
  }

  const TextDecoder& text_;
  const PromptSegment& prompt_;
  Conversation& working_;
  bool first_segment_;
  std::vector<at::Tensor> parts_;
  TurnSegment segment_;
  WholePrompt whole_;
};

TurnSegment assembled(const RequestContext& context, const PromptSegment& prompt, const EncodedMedia& media, Conversation& working,
                      WholePrompt& whole) {
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
  whole = assembly.whole();
  return assembly.take();
}

// Places the segment after what `working` has read. whole (may be null): with what is left unread.
void place(const VisionLanguageModel& network, Conversation& working, TurnSegment& segment, const WholePrompt* whole = nullptr) {
  const auto first = static_cast<std::size_t>(segment.tokens.first_original);
  const auto origins = std::span(working.origins).subspan(first);
  TokensToPlace tokens{origins, working.next_position, working.frame_s, std::span(working.token_ids).subspan(first)};
  if (first > 0 && working.origins[first - 1].modality == Modality::kVisual)
    tokens.beside = working.positions.slice(segment.tokens.first_original - 1, 1)[0].item<std::int64_t>();
  const bool leaves_gaps = whole != nullptr && whole->read.size() < whole->origins.size() && network.info().traits.position_axes > 1;
  if (leaves_gaps) {
    tokens.origins = whole->origins;
    tokens.ids = whole->ids;
  }
  TokenPositions placed = network.positions_for(tokens);
  if (leaves_gaps) {
    const auto last =
        std::find_if(whole->origins.rbegin(), whole->origins.rend(), [](const TokenOrigin& o) { return is_attached(o.modality); });
    const auto media = std::distance(last, whole->origins.rend());
    segment.position_after_media = placed.positions.narrow(1, 0, media).max().item<std::int64_t>() + 1;
    placed.positions = placed.positions.index_select(1, at::tensor(whole->read, at::kLong));
  }
  working.positions.append(placed.positions);
  segment.positions = placed.positions.to(segment.hidden.device());
  segment.next_position = placed.next_position;
  segment.tokens.bidirectional = network.bidirectional_spans(origins);
  segment.work.prefill_tokens = segment.tokens.size();
}

// Advice on what would fit instead, of what is attached.
std::string smaller(const Turn& turn) {
  bool videos = false, documents = false;
  for (const Message& message : turn.messages) {
    for (const Item& item : message.items) {
      const auto* media = std::get_if<MediaItem>(&item);
      videos = videos || (media != nullptr && media->media.kind == MediaKind::kVideo);
      documents = documents || (media != nullptr && media->media.kind == MediaKind::kDocument);
    }
  }
  return std::string(documents ? "less of the document, " : "") +
         (videos      ? "fewer frames or "
          : documents ? "or "
                      : "") +
         "a shorter answer";
}

// The prompt has a question behind all of the media.
bool begins_with(const PromptSegment& prompt, const MediaRead& read) {
  return prompt.media_at.size() == read.media.size() && prompt.token_ids.size() > read.ids_to_media.size() &&
         std::equal(read.ids_to_media.begin(), read.ids_to_media.end(), prompt.token_ids.begin());
}

}  // namespace

void require_context(const RequestContext& context, const Turn& turn, std::int64_t next_position) {
  const std::int64_t limit = context.network().info().context_tokens;
  const int answer = turn.sampling.needed_tokens();
  if (next_position + answer <= limit) return;
  throw Exception(ErrorCode::kContextFull, "",
                  "the model reads " + std::to_string(limit) + " tokens; this would need " + std::to_string(next_position) + " and " +
                      std::to_string(answer) + " for the answer (what would need less: " + smaller(turn) + ")");
}

TurnSegment prepare_segment(const RequestContext& context, const Turn& turn, const Recipe* recipe, Conversation& working) {
  const VisionLanguageModel& network = context.network();
  const MediaEncoder encoder(context);
  const std::size_t cached = working.thread.size();

  // Media are opened before the prompt is built, because time instructions and the context check need their plans.
  const Stopwatch opening;
  std::vector<OpenedMedia> media = encoder.open_all(std::span(turn.messages).subspan(cached));
  const double opening_ms = media.empty() ? 0.0 : opening.elapsed_ms();
  const bool documents = std::ranges::any_of(media, [](const OpenedMedia& item) { return item.request.kind == MediaKind::kDocument; });
  require_pictures(media, turn.recipe.before);
  if (documents && recipe != nullptr && recipe->reads_frames())
    throw Exception(ErrorCode::kIllegalRecipe, turn.recipe.method, "it reads media frame by frame, and a document has no frames");
  require_pins(turn.pins, working.media_count + static_cast<std::int32_t>(media.size()));
  const PromptSegment prompt = build_prompt({context.model, turn.messages, turn.prompt, working}, prompt_media(media));
  require_tokens(prompt);
  require_context(context, turn, foreseen_position(network, prompt, media, working.next_position, turn.recipe.before));

  const EncodedMedia encoded = encode_media(encoder, media, working.media_count, turn, recipe);
  WholePrompt whole;
  TurnSegment segment = assembled(context, prompt, encoded, working, whole);
  segment.work = encoded.work;
  for (const OpenedMedia& item : media) working.frame_s.push_back(item.frame_s());
  place(network, working, segment, &whole);
  require_context(context, turn, segment.next_position);
  segment.media = encoded.sampled;
  if (!prompt.media_at.empty()) {
    const auto end = prompt.token_ids.begin() + static_cast<std::ptrdiff_t>(prompt.media_at.back()) + 1;
    segment.ids_to_media.assign(prompt.token_ids.begin(), end);
  }
  segment.pins_above_budget = encoded.pins_above_budget;
  segment.timings = encoded.timings;
  segment.timings.media += opening_ms;
  if (recipe != nullptr && recipe->context_event() && !recipe->retrieves() && recipe->needs().probe && segment.tokens.visual > 0)
    segment.probe =
        probe_prompts({context.model, turn.messages, turn.prompt, working}, prompt_media(media), asked_instead(*recipe->needs().probe));
  working.pruned_tokens += encoded.pruned_tokens;
  working.media_hashes.insert(working.media_hashes.end(), encoded.hashes.begin(), encoded.hashes.end());
  for (const OpenedMedia& item : media) working.media_kinds.push_back(item.request.kind);
  working.pins = turn.pins;
  working.settings = turn.prompt;
  if (!media.empty()) working.before = turn.recipe.before;
  working.media_count += static_cast<std::int32_t>(media.size());
  return segment;
}

BegunTurn begin_turn(const RequestContext& context, const Turn& turn, const Recipe* recipe, Conversation start) {
  const Stopwatch watch;
  BegunTurn begun{std::move(start), {}, 0.0};
  KvCache& cache = begun.conversation.cache;
  const at::Device device = context.network().text().kv_shape().device;
  if (cache.shape().device != device) cache = cache.on_device(device);
  begun.segment = prepare_segment(context, turn, recipe, begun.conversation);
  begun.elapsed_ms = watch.elapsed_ms();
  return begun;
}

TurnSegment segment_before_media(const RequestContext& context, const PromptSegment& prompt, Conversation& working) {
  Assembly assembly(context.network().text(), prompt, working);
  assembly.add_text(0, prompt.media_at.front());
  TurnSegment segment = assembly.take();
  if (segment.tokens.size() > 0) place(context.network(), working, segment);
  return segment;
}

bool goes_on_behind(const ThreadToRead& thread, const MediaRead& read) {
  return goes_on(thread) && begins_with(build_prompt(thread, prompt_media(read.media)), read);
}

TurnSegment question_segment(const RequestContext& context, const Turn& turn, const MediaRead& read, Conversation& working) {
  const VisionLanguageModel& network = context.network();
  const ThreadToRead thread{context.model, turn.messages, turn.prompt, working};
  const PromptMedia media = prompt_media(read.media);
  const PromptSegment prompt = build_prompt(thread, media);
  require(begins_with(prompt, read), "question_segment: another turn's media");
  const std::size_t known = read.ids_to_media.size();
  Assembly assembly(network.text(), prompt, working);
  if (read.closing != nullptr && !read.closing->origins.empty()) {
    const EncodedMedium closing{*read.closing, std::vector<bool>(read.closing->origins.size(), false)};
    assembly.add_medium(closing, working.media_count - 1, read.ids_to_media.back());
  }
  assembly.add_text(known, prompt.token_ids.size());
  TurnSegment segment = assembly.take();
  if (read.wants_words) {
    const TokenRange asked = words_asked(thread, media, prompt);
    const auto row_of = [&](std::size_t token) { return segment.originals.size() - (prompt.token_ids.size() - std::max(token, known)); };
    segment.words = {row_of(asked.begin), row_of(asked.end)};
  }
  place(network, working, segment);
  return segment;
}

}  // namespace winnow
