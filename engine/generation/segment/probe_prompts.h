// The token ids of a probe pass, which follow the context in place of a question.
//
// Made by prepare_segment() for recipes that probe, read by context_probe.h. The model's own template says how a user's turn ends and an
// answer begins. Errors: as build_prompt().
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/generation/context/loaded_model.h"
#include "engine/generation/segment/prompt.h"
#include "engine/messages/requests.h"

namespace winnow {

struct ProbePrompts {
  std::vector<std::int64_t> repeat;       // "Repeat the previous video exactly." as a whole request, without a time instruction
  std::vector<std::int64_t> repeat_part;  // "... starting with ", up to where the turn ends
  std::vector<std::int64_t> turn_end{};   // the end of the user's turn and the beginning of an answer
  // "Describe the video.", or what is asked instead; each with the time instruction as any question has it.
  std::vector<std::vector<std::int64_t>> requests{};
};

// thread, media: as in build_prompt(). ask: instead of a description; empty: that.
ProbePrompts probe_prompts(const ThreadToRead& thread, const PromptMedia& media, std::span<const std::string> ask);

}  // namespace winnow
