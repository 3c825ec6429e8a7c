// The phases of methods: when a method decides what is kept. One row per phase, with everything that depends on it.
//
// Presets name a phase. Recipe, describe(), the parts' fits() and the lists of the terminal program ask its row; how media are read before
// a question says generation/reading/media_reading.cpp, what a phase is called in the window ui/recipes/recipe_words.cpp. No torch.
// Threads: any.
#pragma once

#include "engine/base/error.h"

namespace winnow {

enum class MethodPhase : int {
  kOnce = 1,         // one event after the prefill; decoding only appends
  kDecode = 2,       // as once, and one slot is evicted per decoded token, so that the budget holds
  kRatioDecode = 3,  // as once, and a slot is evicted whenever the layer exceeds its share of all tokens by a whole slot
  kPrefill = 4,      // no event: visual tokens are pruned during the prefill
  kContext = 5,      // one event after the media, before the question's first row; decoding only appends
  kStream = 6,       // media come in clips, and an event after each restores their number of slots; else as context
  kRetrieve = 7,     // no eviction: for every question each layer retrieves matching frames before its first row; decoding only appends
};

struct PhaseFacts {
  bool evicts_while_decoding = false;
  bool before_question = false;  // the media are compressed before the question
  bool in_clips = false;         // media are prefilled in clips, within a fixed number of slots
  bool fetches = false;          // everything is kept, and each question retrieves a part
};

// A phase's demands on model, media and parts, each as the reason given to people; null: no such demand.
struct PhaseDemands {
  const char* frames = nullptr;         // media with frames, and a model that sees
  const char* context_scope = nullptr;  // scope context
  const char* same_heads = nullptr;     // heads that do not compete with each other
  const char* known_budgets = nullptr;  // an allocator that needs no statistics
  const char* bounded_heads = nullptr;  // no head that keeps everything
  const char* dropping = nullptr;       // slots that leave are dropped, not merged
};

struct PhaseEntry {
  MethodPhase phase = MethodPhase::kOnce;
  const char* word = "";  // in the terminal and in JSON
  PhaseFacts facts{};
  PhaseDemands demands{};
};

inline constexpr PhaseEntry kPhases[] = {
    {MethodPhase::kOnce, "once"},
    {MethodPhase::kDecode, "decode", {.evicts_while_decoding = true}},
    {MethodPhase::kRatioDecode, "ratio-decode", {.evicts_while_decoding = true}},
    {MethodPhase::kPrefill, "prefill"},
    {MethodPhase::kContext, "context", {.before_question = true}},
    {MethodPhase::kStream,
     "stream",
     {.before_question = true, .in_clips = true},
     {.frames = "it reads media clip by clip",
      .context_scope = "media that come in clips compete as a whole: this needs scope context",
      .known_budgets = "this allocator judges a whole prompt; while the media still come, budgets must be known beforehand: choose uniform",
      .bounded_heads = "heads that keep media whole grow with a stream: choose uniform",
      .dropping = "while the media still come, slots are dropped, not merged"}},
    {MethodPhase::kRetrieve,
     "retrieve",
     {.before_question = true, .fetches = true},
     {.frames = "it fetches frames",
      .context_scope = "what is fetched for a question are frames, the same for all heads",
      .same_heads = "what is fetched for a question are frames, the same for all heads",
      .known_budgets = "what is fetched is chosen layer by layer: choose uniform",
      .dropping = "nothing leaves that could be merged"}},
};

inline const PhaseEntry& phase_entry(MethodPhase phase) {
  for (const PhaseEntry& entry : kPhases) {
    if (entry.phase == phase) return entry;
  }
  throw Exception(ErrorCode::kInternal, "MethodPhase", "a phase without a row in kPhases");
}

inline const PhaseFacts& phase_facts(MethodPhase phase) { return phase_entry(phase).facts; }

}  // namespace winnow
