#include "engine/generation/reading/frame_retrieval.h"

#include <algorithm>
#include <utility>

#include "engine/base/stopwatch.h"
#include "engine/compression/statistics/frame_likeness.h"
#include "engine/device/cuda_plugin.h"
#include "engine/layers/rotary.h"

namespace winnow {
namespace {

// The queries of one layer as they were before rotary.
class Queries : public PrefillObserver {
 public:
  bool wants_views() const override { return true; }
  void on_layer(const LayerView& view) override {
    const std::int64_t heads = view.query.size(0);
    const at::Tensor rotations = view.positions.to(view.query.device(), at::kFloat).neg().repeat({1, heads});
    const at::Tensor flat = view.query.to(at::kFloat).reshape({-1, view.query.size(2)});
    unrotated = rotated_keys(flat, rotations, view.rotary).view({heads, view.query.size(1), -1});
  }
  at::Tensor unrotated;  // fp32 [H, r, d]
};

}  // namespace

FrameRetrieval::FrameRetrieval(const RequestContext& context, const Recipe& recipe, const SegmentTokens& tokens, Conversation& working)
    : context_(context),
      recipe_(recipe),
      tokens_(tokens),
      working_(working),
      compression_(recipe, tokens, context.network().info(), working) {
  // Text, and what a family writes behind a picture, go with the picture before them.
  const auto origins = std::span(working.origins)
                           .subspan(static_cast<std::size_t>(tokens.first_original + tokens.context_begin()),
                                    static_cast<std::size_t>(tokens.size() - tokens.context_begin()));
  std::pair<std::int32_t, std::int32_t> shown{-1, -1};
  std::int64_t frame = -1;
  for (const TokenOrigin& origin : origins) {
    const std::pair<std::int32_t, std::int32_t> here{origin.media, origin.frame};
    if (origin.modality == Modality::kVisual && origin.frame >= 0 && here != shown) {
      shown = here;
      ++frame;
    }
    frames_.push_back(std::max<std::int64_t>(0, frame));
  }
}

std::vector<float> FrameRetrieval::scores(LayerId layer, const TurnSegment& question) const {
  const TextDecoder& text = context_.network().text();
  const KvShape& shape = working_.cache.shape();
  KvCache scratch = working_.cache.fork();
  Queries queries;
  at::Tensor hidden = question.hidden.clone();
  text.prefill_layer(layer, hidden, question.positions, question.originals, scratch, &queries, {}, context_.interrupt);

  const std::int64_t first = tokens_.context_begin();
  const std::int64_t count = tokens_.size() - first;
  const at::Tensor rotations = working_.positions.slice(tokens_.first_original + first, count).to(shape.device, at::kFloat).neg_();
  std::vector<at::Tensor> keys;
  for (KvHead head{0}; head < shape.kv_heads; ++head) {
    const std::int64_t end = working_.cache.slots(layer, head);
    keys.push_back(
        rotated_keys(working_.cache.gather_keys(layer, head).narrow(0, end - count, count).to(at::kFloat), rotations, shape.rotary));
  }
  const bool all = question.words.begin == question.words.end;
  const at::Tensor asked = all ? queries.unrotated : queries.unrotated.slice(1, question.words.begin, question.words.end);
  const std::vector<float> likeness =
      frame_likeness(asked, at::stack(keys), frames_, std::get<QuestionProbe>(*recipe_.needs().probe).cosine);
  std::vector<float> scores(static_cast<std::size_t>(first), 0.0F);
  for (const std::int64_t frame : frames_) scores.push_back(likeness[static_cast<std::size_t>(frame)]);
  return scores;
}

void FrameRetrieval::before_layer(LayerId layer, const TurnSegment& question) {
  context_.interrupt.throw_if_requested();
  const Stopwatch watch;
  HeadScores of_layer{working_.cache.shape().kv_heads, tokens_.size(), {}};
  const std::vector<float> of_head = scores(layer, question);
  for (std::int64_t head = 0; head < of_layer.heads; ++head) of_layer.values.insert(of_layer.values.end(), of_head.begin(), of_head.end());
  compression_.compressor().on_probe(layer, std::move(of_layer));
  synchronize_device();
  ms_ += watch.elapsed_ms();
  compression_.compact_ready(working_, layer + 1);
}

}  // namespace winnow
