// What may be asked of the engine: plain values, no torch, no Qt, no pointers to shared state.
//
// Written by app/engine_host and the terminal program, read by engine/api/engine.h. The same messages are meant to cross a pipe later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/media/frame_source.h"

namespace winnow {

using RequestId = std::uint64_t;
using ConversationId = std::uint64_t;

enum class Role : int { kSystem = 1, kUser = 2, kAssistant = 3 };

struct TextItem {
  std::string text;  // UTF-8
};
struct MediaItem {
  MediaRequest media;
};
using Item = std::variant<TextItem, MediaItem>;

struct Message {
  Role role = Role::kUser;
  std::vector<Item> items;  // in prompt order; media before text is usual
};

enum class Device : int { kAuto = 1, kCpu = 2, kCuda = 3 };
enum class WeightFormat : int { kAuto = 1, kFp32 = 2, kBf16 = 3 };  // auto: as stored on a GPU; bf16 on a CPU that has it, else fp32

struct LoadModel {
  std::string folder;
  Device device = Device::kAuto;
  WeightFormat format = WeightFormat::kAuto;
};

struct Sampling {
  double temperature = 0.0;  // 0: greedy
  int top_k = 0;             // 0: off
  double top_p = 1.0;
  double min_p = 0.0;
  double repetition_penalty = 1.0;
  std::uint64_t seed = 0;
  int max_new_tokens = 256;
  std::vector<std::string> stop_strings;
};

enum class TurnPolicy : int { kSegment = 1, kWhole = 2, kFirstOnly = 3 };

// A compression recipe by preset name. Exactly one of retention and budget_tokens decides the budget (budget_tokens wins if set).
struct RecipeSpec {
  std::string method = "vl-cache";
  double retention = 0.2;            // share kept, in (0, 1]
  std::optional<int> budget_tokens;  // slots per layer and kv head
  int min_event_tokens = 256;        // text-only segments shorter than this are kept whole; 0 switches the rule off
  TurnPolicy turn_policy = TurnPolicy::kSegment;
  std::uint64_t seed = 0;  // methods that draw random numbers
};

// One question. `messages` is the whole thread, ending with the user's message. The engine continues from its cache if the earlier
// messages are those it has seen in this conversation; otherwise it prefills the thread anew.
struct Turn {
  ConversationId conversation = 0;
  std::vector<Message> messages;
  Sampling sampling;
  RecipeSpec recipe;
};

// Frees the cache of a conversation.
struct ForgetConversation {
  ConversationId conversation = 0;
};

using RequestBody = std::variant<LoadModel, Turn, ForgetConversation>;

struct Request {
  RequestId id = 0;
  RequestBody body;
};

}  // namespace winnow
