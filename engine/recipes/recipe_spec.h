// A compression recipe as requested. Plain data, no torch; validated by engine/recipes/recipe.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "engine/recipes/before_decoder.h"

namespace winnow {

enum class TurnPolicy : int { kSegment = 1, kWhole = 2, kFirstOnly = 3 };

// The method of a chat, a command or a file that names none: what it keeps serves every later question, and what is attached is
// ready when the first one is asked (resources/demo/README.md). The one place where it is chosen, for window and terminal.
inline constexpr char kDefaultMethod[] = "self-study";
inline constexpr double kDefaultRetention = 0.2;

// A compression recipe: a preset, and what is different from it. Exactly one of retention and budget_tokens decides the budget
// (budget_tokens wins if set).
struct RecipeSpec {
  std::string method = kDefaultMethod;
  double retention = kDefaultRetention;  // share kept, in (0, 1]
  std::optional<int> budget_tokens{};    // slots per layer and kv head
  int min_event_tokens = 256;            // text-only segments shorter than this are kept whole; 0 switches the rule off
  // The first so many decoder layers keep everything, at the event and while decoding. The total stays what retention or budget_tokens ask
  // for: the other layers have that much less, but never less than their method protects.
  int full_layers = 0;
  int kv_bits = 0;  // of the KV cache dtype, at most those of the arithmetic; 0: the model's default (stored_bits.h)
  // 2: where budgets follow the prompt, a first pass finds them and a second compacts each layer right after it was filled, so that never
  // more than one layer is there in full. The result is the same to the bit, the prefill takes up to twice as long. Elsewhere it is one.
  int prefill_passes = 1;
  BeforeDecoder before{};  // visual tokens that are never read; of documents none
  TurnPolicy turn_policy = TurnPolicy::kSegment;
  std::uint64_t seed = 0;                        // methods that draw random numbers
  std::map<std::string, std::string> options{};  // of the preset, by name (MethodInfo::options)
  // Parts taken from elsewhere: a part's own name, or a preset that has it. Empty: the preset's own.
  std::string allocator{};
  std::string scorer{};
  std::string reducer{};
  std::string scope{};        // all, visual
  std::string granularity{};  // head, layer

  friend bool operator==(const RecipeSpec&, const RecipeSpec&) = default;
};

inline bool keeps_everything(const RecipeSpec& spec) { return spec.method == "full"; }

// Whatever share `full` is asked for, it keeps everything: retention 1, no budget. Other recipes stay as they are.
inline RecipeSpec with_its_share(RecipeSpec spec) {
  if (!keeps_everything(spec)) return spec;
  spec.retention = 1.0;
  spec.budget_tokens.reset();
  return spec;
}

// The settings as data, for JSON, the command line, the recipe editor and the checks: what stands here is written, read, offered and
// refused by all of them. Sentences for people are in app/ground/recipes/method_texts.h.

struct TurnPolicyWord {
  const char* word;
  TurnPolicy value;
};
inline constexpr TurnPolicyWord kTurnPolicyWords[] = {
    {"segment", TurnPolicy::kSegment}, {"whole", TurnPolicy::kWhole}, {"first-only", TurnPolicy::kFirstOnly}};

struct SettingWord {
  const char* word;
  int value;
};
inline constexpr SettingWord kKvWords[] = {{"model", 0}, {"32-bit", 32}, {"16-bit", 16}, {"int8", 8}, {"int4", 4}};
inline constexpr SettingWord kPrefillWords[] = {{"once", 1}, {"twice", 2}};

struct WholeSetting {
  const char* name;  // in JSON and in refusals; on the command line with dashes
  int RecipeSpec::*value;
  int least;
  int most;
  bool always_written;  // in JSON; false: only where it is not the default, so that a recipe without it reads as before it existed
  std::span<const SettingWord> words = {};  // where not every number means something: those that do, and what they are called

  bool allows(int number) const {
    return number >= least && number <= most &&
           (words.empty() || std::ranges::any_of(words, [&](const SettingWord& each) { return each.value == number; }));
  }
};
inline constexpr WholeSetting kWholeSettings[] = {
    {"min_event_tokens", &RecipeSpec::min_event_tokens, 0, std::numeric_limits<int>::max(), true},
    {"full_layers", &RecipeSpec::full_layers, 0, 1024, false},
    {"kv", &RecipeSpec::kv_bits, 0, 32, false, kKvWords},
    {"prefill", &RecipeSpec::prefill_passes, 1, 2, false, kPrefillWords},
};

struct PartSetting {
  const char* kind;
  std::string RecipeSpec::*name;
};
inline constexpr PartSetting kPartSettings[] = {{"allocator", &RecipeSpec::allocator},
                                                {"scorer", &RecipeSpec::scorer},
                                                {"reducer", &RecipeSpec::reducer},
                                                {"scope", &RecipeSpec::scope},
                                                {"granularity", &RecipeSpec::granularity}};

}  // namespace winnow
