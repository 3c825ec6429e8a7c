// The times that this machine has needed for turns with one model: the base of predicted waits.
//
// Kept by engine/generation beside the loaded model, saved by app/chats/settings, printed by plans. New measurements count half, so that a
// warm-up or a busy minute is forgotten within a few turns. Plain data and arithmetic. Milliseconds. Threads: none of its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "engine/metrics/figures.h"

namespace winnow {

// The work of a turn before its first token.
struct TurnWork {
  std::int64_t prefill_tokens = 0;
  std::int64_t video_frames = 0;  // through the vision tower; features that are kept from before do not count
  std::int64_t image_tokens = 0;  // the same, of still images
  int prefill_passes = 1;         // over the same tokens
};

// The wait until the first token, by what it is spent on.
struct FirstWait {
  double reading_ms = 0.0;  // opening, decoding and resizing media
  double encoder_ms = 0.0;  // vision encoder and projector
  double prefill_ms = 0.0;  // with the recipe's statistics and its event

  double total_ms() const { return reading_ms + encoder_ms + prefill_ms; }
};

struct MachineSpeed {
  // By length: the key is floor(log2(tokens)) of the segment, because attention makes a token of a long prompt dearer.
  std::map<int, double> prefill_ms_per_token{};
  double ms_per_frame = 0.0;  // 0: not measured, as in those below
  double ms_per_image_token = 0.0;
  double encoder_share = 0.0;  // of both
  double ms_per_generated_token = 0.0;

  // Learns from a turn that ended well. tokens_per_s: 0 if it is unknown.
  void add(const TurnWork& work, const TimingsMs& timings, double tokens_per_s);
  // Nothing as long as a part of the work has never been measured. Between two measured lengths it is interpolated, beyond them the nearest
  // counts.
  std::optional<FirstWait> first_wait(const TurnWork& work) const;

  friend bool operator==(const MachineSpeed&, const MachineSpeed&) = default;
};

// The store of speeds between two runs of the program. Implemented above the engine; a key names model, number format and device.
class SpeedMemory {
 public:
  virtual ~SpeedMemory() = default;
  // Nothing is known: an empty MachineSpeed. Never throws.
  virtual MachineSpeed recall(const std::string& key) = 0;
  virtual void keep(const std::string& key, const MachineSpeed& speed) = 0;
};

}  // namespace winnow
