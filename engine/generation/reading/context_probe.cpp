#include "engine/generation/reading/context_probe.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/compression/statistics/expected_attention.h"
#include "engine/generation/conversation/answer_text.h"
#include "engine/generation/conversation/decode_step.h"

namespace winnow {
namespace {

constexpr std::int64_t kQuotedTokens = 8;        // of the part before, that a later part is asked for by
constexpr std::size_t kShortestDescription = 8;  // tokens; a shorter one says nothing
constexpr std::size_t kRepeatedTokens = 8;       // a description that says so many tokens for the third time goes round in circles
constexpr int kMostRepetitions = 3;

const TokenOrigin kWord{Modality::kText, -1, -1, -1, -1};

bool weighs_norms(const WordJudgement& judgement) {
  const auto* attention = std::get_if<ByAttention>(&judgement);
  return attention != nullptr && attention->norms;
}

// Null: attention judges.
const ByExpectation* expectation_of(const ProbeNeed& need) {
  if (const auto* described = std::get_if<DescriptionProbe>(&need)) return std::get_if<ByExpectation>(&described->judgement);
  if (const auto* requested = std::get_if<RequestProbe>(&need)) return std::get_if<ByExpectation>(&requested->judgement);
  return nullptr;
}

// Rows of a probe pass.
struct ProbeRows {
  std::vector<at::Tensor> parts;
  std::vector<TokenOrigin> origins;
};

// Counts those of the last `slots` tokens that a layer still holds for the next one; window 0: all.
std::int64_t held_of(std::int64_t slots, std::int64_t window) { return window == 0 ? slots : std::min(slots, window - 1); }

// Watches passes of a probe and keeps what all of them together think of the slots.
class Judge : public PrefillObserver {
 public:
  // From here on, views are of this pass.
  // follow: where each row looks is summed up over the layers.
  void judge(const ProbedSlots& slots, bool follow) {
    slots_ = slots;
    follows_ = follow;
    looks_ = at::Tensor();
  }
  // fp32 [rows, n_c] of the pass that was followed; undefined where looks are not kept.
  const at::Tensor& looks() const { return looks_; }
  bool wants_views() const override { return true; }
  bool wants_outputs() const override { return slots_.norms; }
  bool keeps_rows() const override { return false; }

 protected:
  // The judged slots that the layer holds: its window may have passed by the first of the context.
  ProbedSlots seen_by(const LayerView& view) const {
    ProbedSlots slots = slots_;
    slots.context = held_of(slots_.context, view.window.tokens);
    const std::int64_t gone = slots_.context - slots.context;
    slots.first = std::max<std::int64_t>(0, slots_.first - gone);
    slots.count = std::max<std::int64_t>(0, slots_.first + slots_.count - gone - slots.first);
    return slots;
  }
  void follow(const LayerView& view) {
    if (!follows_) return;
    const std::int64_t held = seen_by(view).context;
    const at::Tensor here = row_attention(view, held);
    if (!looks_.defined()) looks_ = at::zeros({here.size(0), slots_.context}, here.options());
    looks_.narrow(1, slots_.context - held, held).add_(here);
  }
  ProbedSlots slots_;

 private:
  bool follows_ = false;
  at::Tensor looks_;
};

HeadScores head_scores(const at::Tensor& values) {
  const at::Tensor host = values.to(at::kCPU, at::kFloat).contiguous();
  return {host.size(0), host.size(1), {host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel()}};
}

class ContextVotes : public Judge {
 public:
  // begun: votes of which none is left out; null: none.
  ContextVotes(std::int64_t layers, const PerLayer<at::Tensor>* begun)
      : votes_(begun != nullptr ? *begun : PerLayer<at::Tensor>::of(layers)) {}

  void on_layer(const LayerView& view) override {
    at::Tensor& layer = votes_[view.layer];
    const ProbedSlots slots = seen_by(view);
    if (!layer.defined()) layer = at::zeros({view.key.size(0), slots.context}, view.log_sum_exp.options());
    if (slots.count > 0) {
      at::Tensor judged = layer.narrow(1, slots.first, slots.count);
      judged.copy_(at::maximum(judged, probe_votes(view, slots)));
    }
    follow(view);
  }
  HeadScores of_layer(LayerId layer) const { return head_scores(votes_[layer]); }

 private:
  PerLayer<at::Tensor> votes_;
};

// Judges by what the rows ask for in general, not by what each of them looks at.
class ExpectedVotes : public Judge {
 public:
  ExpectedVotes(std::int64_t layers, const ProbedContext& probed, const ByExpectation& need)
      : probed_(probed), need_(need), moments_(PerLayer<QueryMoments>::of(layers)) {}

  void on_layer(const LayerView& view) override {
    moments_[view.layer].add(view, 0, view.query.size(1));
    follow(view);
  }
  HeadScores of_layer(LayerId layer) const {
    const KvCache& cache = probed_.state.cache;
    std::vector<at::Tensor> keys;
    std::vector<at::Tensor> norms;
    for (KvHead head{0}; head < cache.shape().kv_heads; ++head) {
      const std::int64_t before = cache.slots(layer, head) - held_of(std::ssize(probed_.origins), cache.shape().window(layer));
      keys.push_back(cache.gather_keys(layer, head).slice(0, before));
      norms.push_back(cache.gather_values(layer, head).slice(0, before).to(at::kFloat).norm(2, 1));
    }
    const at::Tensor expected = moments_[layer].expected_attention(keys, probed_.state.next_position, need_.expected);
    return head_scores((expected + need_.epsilon).mul_(at::stack(norms)));
  }

 private:
  const ProbedContext& probed_;
  const ByExpectation& need_;
  PerLayer<QueryMoments> moments_;
};

// Every head has its own number of slots, all of which are judged in every pass.
class ClipVotes : public Judge {
 public:
  explicit ClipVotes(const PerLayer<std::vector<std::int64_t>>& before)
      : before_(before), votes_(PerLayer<std::vector<at::Tensor>>::of(before.layers())) {}

  void on_layer(const LayerView& view) override {
    std::vector<at::Tensor>& votes = votes_[view.layer];
    for (KvHead head{0}; head < view.key.size(0); ++head) {
      const auto index = static_cast<std::size_t>(head);
      ProbedSlots slots = slots_;
      slots.context = view.past_keys[index].size(0) - before_[view.layer][index];
      slots.first = 0;
      slots.count = slots.context;
      const at::Tensor found = head_votes(view, head, slots);
      if (votes.size() == index) {
        votes.push_back(found);
      } else {
        votes[index] = at::maximum(votes[index], found);
      }
    }
  }
  std::vector<std::vector<float>> of_layer(LayerId layer) const {
    std::vector<std::vector<float>> heads;
    for (const at::Tensor& votes : votes_[layer]) {
      const at::Tensor host = votes.to(at::kCPU).contiguous();
      heads.emplace_back(host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel());
    }
    return heads;
  }

 private:
  const PerLayer<std::vector<std::int64_t>>& before_;
  PerLayer<std::vector<at::Tensor>> votes_;  // per kv head
};

class Probe {
 public:
  Probe(const RequestContext& context, const ProbedContext& probed, Judge& votes)
      : context_(context), probed_(probed), text_(context.network().text()), votes_(votes) {}

  // All passes of the need.
  Description vote(const ProbeNeed& need) {
    return std::visit([this](const auto& rows) { return vote_of(rows); }, need);
  }

 private:
  Description vote_of(const RepetitionProbe& rows) {
    if (rows.rows == Repetition::kRunAgain) repeat(rows.chunk, rows.judgement.norms);
    return {};
  }
  // With a description, the context is repeated in one go, since all of it votes on all slots.
  Description vote_of(const DescriptionProbe& rows) {
    Description description;
    for (const std::vector<std::int64_t>& request : probed_.prompts.requests) study(request, rows, description);
    const bool repeated = rows.repetition == Repetition::kAsRead;
    if (!repeated && (rows.repetition || !description.useful)) repeat(0, weighs_norms(rows.judgement));
    return description;
  }
  Description vote_of(const RequestProbe& rows) {
    for (const std::vector<std::int64_t>& request : probed_.prompts.requests)
      say_words(request, ProbeSharing::kEverything, weighs_norms(rows.judgement));
    return {};
  }
  Description vote_of(const TemplateProbe& rows) {
    say_words(probed_.prompts.turn_end, ProbeSharing::kJudgedAlone, rows.judgement.norms);
    return {};
  }
  Description vote_of(const QuestionProbe&) { throw Exception(ErrorCode::kInternal, "", "Probe: a question is read when it comes"); }

  void repeat(std::int64_t chunk, bool norms) {
    const auto chunks = context_chunks(probed_.origins, chunk);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const auto [first, count] = chunks[i];
      say(i, chunks.size());
      ProbeRows rows;
      add_words(rows, i == 0 ? probed_.prompts.repeat : probed_.prompts.repeat_part);
      if (i > 0) {
        add_context(rows, std::max<std::int64_t>(0, first - kQuotedTokens), std::min(kQuotedTokens, first));
        add_words(rows, probed_.prompts.turn_end);
      }
      add_context(rows, first, count);
      const ProbeSharing sharing = chunk > 0 ? ProbeSharing::kBesideJudged : ProbeSharing::kEverything;
      votes_.judge({size(), first, count, sharing, norms}, /*follow=*/false);
      run(rows);
    }
    say(chunks.size(), chunks.size());
  }

  // The answer votes up to where it begins to repeat itself. Answers follow each other on lines of their own.
  void study(std::span<const std::int64_t> request, const DescriptionProbe& need, Description& all) {
    const auto [answer, useful] = own_answer(request, need);
    ProbeRows rows;
    add_words(rows, request);
    add_words(rows, answer);
    votes_.judge({size(), 0, size(), ProbeSharing::kEverything, weighs_norms(need.judgement)}, /*follow=*/true);
    run(rows);
    if (!all.words.empty()) all.words.push_back({"\n", -1, -1});
    const std::vector<DescribedWord> words = described(answer, votes_.looks());
    all.words.insert(all.words.end(), words.begin(), words.end());
    all.useful = all.useful && useful;
  }

  // These words alone vote: among all that they see, or as the mean of what the media alone share.
  void say_words(std::span<const std::int64_t> ids, ProbeSharing sharing, bool norms) {
    ProbeRows rows;
    add_words(rows, ids);
    const bool mean = sharing == ProbeSharing::kJudgedAlone;
    votes_.judge({size(), 0, size(), sharing, norms, mean}, /*follow=*/false);
    run(rows);
  }

  std::int64_t size() const { return std::ssize(probed_.origins); }
  void say(std::uint64_t done, std::uint64_t total) const { context_.emit(Progress{Phase::kProbe, done, total}); }

  at::Tensor embedded(std::span<const std::int64_t> ids) const {
    return text_.embed(at::tensor(std::vector<std::int64_t>(ids.begin(), ids.end()), at::kLong));
  }
  void add_words(ProbeRows& rows, std::span<const std::int64_t> ids) const {
    if (ids.empty()) return;
    rows.parts.push_back(embedded(ids));
    rows.origins.insert(rows.origins.end(), ids.size(), kWord);
  }
  void add_context(ProbeRows& rows, std::int64_t first, std::int64_t count) const {
    rows.parts.push_back(probed_.embeddings.narrow(0, first, count));
    const auto origins = probed_.origins.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    rows.origins.insert(rows.origins.end(), origins.begin(), origins.end());
  }

  // Through all layers behind `cache`; observer may be null. Returns the hidden states.
  at::Tensor through_layers(const ProbeRows& rows, KvCache& cache, PrefillObserver* observer) const {
    at::Tensor hidden = at::cat(rows.parts, 0);
    const Conversation& state = probed_.state;
    const TokenPositions placed = context_.network().positions_for({rows.origins, state.next_position, state.frame_s});
    const at::Tensor positions = placed.positions.to(hidden.device());
    std::vector<std::int32_t> originals(rows.origins.size());
    std::iota(originals.begin(), originals.end(), probed_.state.next_original());
    const AttentionWindow window{.bidirectional = context_.network().bidirectional_spans(rows.origins)};
    for (LayerId layer{0}; layer < text_.layers(); ++layer)
      text_.prefill_layer(layer, hidden, positions, originals, cache, observer, window, context_.interrupt);
    return hidden;
  }
  void run(const ProbeRows& rows) {
    KvCache behind = probed_.state.cache.fork();
    through_layers(rows, behind, &votes_);
  }

  // The words with what the row before each of them, which says it, looked at. looks: fp32 [rows, n_c], the answer's rows last.
  std::vector<DescribedWord> described(std::span<const std::int64_t> answer, const at::Tensor& looks) const {
    using Shown = std::pair<std::int32_t, std::int32_t>;  // medium and frame
    std::vector<Shown> shown;
    std::vector<std::int64_t> shown_by(probed_.origins.size());
    for (std::size_t slot = 0; slot < probed_.origins.size(); ++slot) {
      const TokenOrigin& origin = probed_.origins[slot];
      // A line of subtitles counts as the frame that it stands behind.
      const bool behind = origin.modality == Modality::kSubtitle && !shown.empty() && shown.back().first == origin.media;
      const Shown what = behind ? shown.back() : Shown{origin.media, origin.frame};
      if (shown.empty() || shown.back() != what) shown.push_back(what);
      shown_by[slot] = std::ssize(shown) - 1;
    }
    const std::int64_t rows = std::ssize(answer);
    if (!looks.defined()) {
      std::vector<DescribedWord> words;
      for (const std::int64_t id : answer) words.push_back({std::string(context_.model.tokenizer->token_bytes(id)), -1, -1});
      return words;
    }
    const at::Tensor said = looks.narrow(0, looks.size(0) - rows - 1, rows).to(at::kCPU);
    const at::Tensor most =
        at::zeros({rows, std::ssize(shown)}, said.options()).index_add_(1, at::tensor(shown_by, at::kLong), said).argmax(1);
    std::vector<DescribedWord> words;
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto [media, frame] = shown[static_cast<std::size_t>(most[i].item<std::int64_t>())];
      words.push_back({std::string(context_.model.tokenizer->token_bytes(answer[static_cast<std::size_t>(i)])), media, frame});
    }
    return words;
  }

  // The model's own words about the media before anybody asks: greedy, without the token that ends it; whether it is of use. An answer to
  // the user's own request may be short.
  std::pair<std::vector<std::int64_t>, bool> own_answer(std::span<const std::int64_t> request, const DescriptionProbe& need) const {
    const auto is_text = [](const TokenOrigin& origin) { return origin.modality != Modality::kVisual; };
    const bool text_alone = need.ask.empty() && std::ranges::all_of(probed_.origins, is_text);
    const std::int64_t longest = text_alone ? need.text_tokens : need.answer_tokens;
    const auto limit = static_cast<std::uint64_t>(longest);
    Conversation telling = probed_.state.fork();
    ProbeRows rows;
    add_words(rows, request);
    const at::Tensor hidden = through_layers(rows, telling.cache, nullptr);
    telling.next_position += std::ssize(rows.origins);
    telling.origins.insert(telling.origins.end(), rows.origins.begin(), rows.origins.end());
    at::Tensor logits = text_.logits(hidden.narrow(0, hidden.size(0) - 1, 1)).select(0, 0);

    AnswerText text(context_.model, ThoughtStart::kUnsaid);
    std::vector<std::int64_t> answer;
    std::map<std::vector<std::int64_t>, int> said;
    while (std::ssize(answer) < longest) {
      context_.interrupt.throw_if_requested();
      say(answer.size(), limit);
      if (!at::isfinite(logits).all().item<bool>()) throw Exception(ErrorCode::kNumericFailure, "", "the model's scores are not numbers");
      const std::int64_t token = logits.argmax().item<std::int64_t>();
      if (context_.model.stop_token_ids.contains(token)) break;
      answer.push_back(token);
      text.push(token);
      if (text.thinking()) {
        // A model that thinks whatever it is told: its thought is ended, and is no part of what it says.
        logits = append_step(context_.network(), telling, token, nullptr);
        for (const std::int64_t id : closing_tokens(context_.model)) {
          text.push(id);
          logits = append_step(context_.network(), telling, id, nullptr);
        }
        answer.clear();
        continue;
      }
      if (answer.size() >= kRepeatedTokens &&
          ++said[{answer.end() - static_cast<std::ptrdiff_t>(kRepeatedTokens), answer.end()}] == kMostRepetitions) {
        return {answer, false};
      }
      if (std::ssize(answer) < longest) logits = append_step(context_.network(), telling, token, nullptr);
    }
    say(limit, limit);
    const bool useful = !need.ask.empty() || answer.size() >= kShortestDescription;
    return {std::move(answer), useful};
  }

  const RequestContext& context_;
  const ProbedContext& probed_;
  const TextDecoder& text_;
  Judge& votes_;
};

}  // namespace

std::vector<std::pair<std::int64_t, std::int64_t>> context_chunks(std::span<const TokenOrigin> origins, std::int64_t most) {
  const std::int64_t n = std::ssize(origins);
  if (most <= 0 || n <= most) return {{0, n}};
  // The tokens of a group are not parted: those of a frame, or of a row of an image's tile; every other token is its own.
  const auto same_group = [](const TokenOrigin& a, const TokenOrigin& b) {
    return a.row >= 0 && b.row >= 0 && a.media == b.media && a.frame == b.frame;
  };
  std::vector<std::pair<std::int64_t, std::int64_t>> chunks;
  for (std::int64_t at = 0; at < n;) {
    std::int64_t end = at + 1;
    while (end < n && same_group(origins[static_cast<std::size_t>(end - 1)], origins[static_cast<std::size_t>(end)])) ++end;
    if (chunks.empty() || chunks.back().second + (end - at) > most) {
      chunks.emplace_back(at, end - at);
    } else {
      chunks.back().second += end - at;
    }
    at = end;
  }
  return chunks;
}

Description probe_context(const RequestContext& context, const ProbedContext& probed, const ProbeNeed& need,
                          const std::function<void(LayerId layer, HeadScores votes)>& tell) {
  const std::int64_t layers = context.network().text().layers();
  const auto told_by = [&](auto votes) {
    Description description = Probe(context, probed, votes).vote(need);
    for (LayerId layer{0}; layer < layers; ++layer) tell(layer, votes.of_layer(layer));
    return description;
  };
  if (const ByExpectation* expectation = expectation_of(need)) return told_by(ExpectedVotes(layers, probed, *expectation));
  return told_by(ContextVotes(layers, probed.as_read));
}

ContextReading::ContextReading(PrefillObserver& other, const ProbeNeed* need, const RowsAsRead& rows, std::int64_t layers)
    : other_(other), rows_(rows) {
  const ByAttention* const judgement = need != nullptr ? judged_as_read(*need) : nullptr;
  if (judgement == nullptr) return;
  rows_.norms = judgement->norms;
  votes_ = PerLayer<at::Tensor>::of(layers);
}

void ContextReading::on_layer(const LayerView& view) {
  if (other_.wants_views()) other_.on_layer(view);
  if (!judges()) return;
  const Stopwatch watch;
  votes_[view.layer] = votes_as_read(view, rows_);
  elapsed_ms_ += watch.elapsed_ms();
}

Description probe_clip(const RequestContext& context, const ProbedClip& clip, const ProbeNeed& need,
                       const std::function<void(LayerId layer, std::vector<std::vector<float>> votes)>& tell) {
  ClipVotes votes(clip.before);
  Description description = Probe(context, clip.context, votes).vote(need);
  for (LayerId layer{0}; layer < context.network().text().layers(); ++layer) tell(layer, votes.of_layer(layer));
  return description;
}

}  // namespace winnow
