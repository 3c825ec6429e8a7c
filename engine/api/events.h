// What the engine says while it works: plain values with units in their names.
//
// Every event carries the id of the request it belongs to; stale ids are dropped by the receiver. Every figure is the engine's own
// counter. Order for a Turn: Progress* MediaSampled* Progress* CacheReport (TextDelta | DecodeSample)* then exactly one of Finished, Failed.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engine/api/requests.h"
#include "engine/base/error.h"

namespace winnow {

enum class Phase : int {
  kLoadWeights = 1,   // unit: shards
  kDecodeMedia = 2,   // unit: frames
  kEncodeFrames = 3,  // unit: frames through the vision tower
  kPrefill = 4,       // unit: layers x tiles
  kCompress = 5,      // unit: layers
  kDecode = 6,        // unit: generated tokens
};

struct Progress {
  Phase phase = Phase::kLoadWeights;
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0: unknown
};

struct ModelInfo {
  std::string folder;
  std::string name;  // folder's last component
  std::string family;
  std::string device;  // "cpu" or "cuda"
  std::string dtype;   // "fp32", "bf16" or "fp16"
  std::string device_note;  // why not the faster choice; empty if there is nothing to say
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t context_tokens = 0;
  std::int64_t visual_tokens_per_frame = 0;
  std::int64_t parameter_count = 0;
  std::int64_t weight_bytes = 0;
  std::int64_t kv_bytes_per_token = 0;  // all layers, K and V, uncompressed
  std::string time_instruction;         // of winnow.json; empty: none
};

struct ModelLoaded {
  ModelInfo info;
};

// What was really sampled: asked against done.
struct MediaSampled {
  std::string path;
  MediaKind kind = MediaKind::kImage;
  double duration_s = 0.0;
  std::vector<double> asked_s;
  std::vector<double> actual_s;
};

struct TextDelta {
  std::string text;  // complete UTF-8 sequences only
};

enum class Modality : std::int8_t { kSystem = 1, kText = 2, kVisual = 3 };

// Where a prompt token came from; index = original token index in the conversation.
struct TokenOrigin {
  Modality modality = Modality::kText;
  std::int32_t media = -1;  // running number of the image or video in the conversation
  std::int32_t frame = -1;  // video frame, or tile of an image (0 = base)
  std::int16_t row = -1;    // patch row and column after pooling; -1 for newline embeddings
  std::int16_t column = -1;
};

struct LayerFigures {
  std::int64_t budget = 0;        // slots per kv head that the allocator granted to this segment
  double kept = 0.0;              // slots in use per kv head, the mean where heads differ
  double kept_visual = 0.0;
  double kept_text = 0.0;
  std::vector<std::int64_t> kept_per_head;
  std::int64_t bytes = 0;  // K and V of the slots in use
};

struct KvBytes {
  std::int64_t full = 0;         // formula: what the same tokens take uncompressed, at the time of the event
  std::int64_t after_event = 0;  // slots in use right after the compression event
  std::int64_t end = 0;          // slots in use now
  std::int64_t peak = 0;         // allocator's highest
  std::int64_t allocated = 0;    // allocator's now
  std::int64_t metadata = 0;     // indices, positions, accumulators
};

// Once per compression event (also for method full, where everything is kept).
struct CacheReport {
  KvBytes kv_bytes;
  std::vector<LayerFigures> layers;
  std::vector<TokenOrigin> tokens;  // by original index
  // kept[layer][kv head]: original indices, ascending.
  std::vector<std::vector<std::vector<std::int32_t>>> kept;
};

// At most ten a second while decoding.
struct DecodeSample {
  std::int64_t generated_tokens = 0;
  double tokens_per_s = 0.0;
  std::int64_t kv_bytes_now = 0;
  std::int64_t kv_bytes_full_now = 0;
};

enum class StopReason : int { kStopToken = 1, kLength = 2, kStopString = 3, kInterrupted = 4 };

struct TokenCounts {
  std::int64_t prompt = 0;  // of this turn's segment
  std::int64_t visual = 0;
  std::int64_t text = 0;
  std::int64_t generated = 0;
};

struct TimingsMs {
  double media = 0, preprocess = 0, vision = 0, prefill = 0, statistics = 0, compress = 0, ttft = 0, decode_total = 0;
};

struct TurnFigures {
  std::string method;
  double retention = 1.0;
  std::uint64_t seed = 0;
  TokenCounts tokens;
  KvBytes kv_bytes;
  std::vector<LayerFigures> layers;
  TimingsMs timings_ms;
  double tokens_per_s = 0.0;  // decode only, median step
  double achieved_retention = 1.0;
};

struct Finished {
  StopReason reason = StopReason::kStopToken;
  bool restored = false;  // Cancel: the conversation is as it was before the request
  std::string answer;     // whole text, equal to the deltas joined
  TurnFigures figures;
};

struct Failed {
  Error error;
};

using EventBody = std::variant<Progress, ModelLoaded, MediaSampled, TextDelta, CacheReport, DecodeSample, Finished, Failed>;

struct Event {
  RequestId id = 0;
  EventBody body;
};

// Implemented above the engine. Called on the engine's thread; must not block and must not call the engine.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on_event(Event event) = 0;
};

}  // namespace winnow
