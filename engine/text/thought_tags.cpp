#include "engine/text/thought_tags.h"

#include <algorithm>

#include "engine/text/tokenizer.h"

namespace winnow {
namespace {

constexpr ThoughtTags kTags[] = {
    {"<think>", "</think>", "", "</think>", "<response>", "</response>"},  // Granite 3.2, 3.3
    {"<think>", "</think>", "", "</think>", "<answer>", "</answer>"},      // GLM-4.1V-Thinking
    {"<think>", "</think>", "\n", "\n</think>\n\n"},                       // Qwen3, QwQ, DeepSeek-R1, GLM-4.5, SmolLM3
    {"[THINK]", "[/THINK]", "", "[/THINK]"},                               // Magistral, Ministral 3
    {"<|channel>thought", "<channel|>", "\n", "\n<channel|>"},             // Gemma 4
    {"<seed:think>", "</seed:think>", "\n", "\n</seed:think>"},            // Seed-OSS
    {"<|START_THINKING|>", "<|END_THINKING|>", "", "<|END_THINKING|>"},    // Command A Reasoning
    {"◁think▷", "◁/think▷", "\n", "\n◁/think▷\n\n"},                       // Kimi-VL-Thinking
    {"<|inner_prefix|>", "<|inner_suffix|>", "", "<|inner_suffix|>"},      // Apertus
    {"<thought>", "</thought>", "\n", "\n</thought>\n\n"},                 // EXAONE Deep
};

bool names_tags(const ThoughtTags& tags, std::string_view chat_template) {
  const auto names = [&](std::string_view mark) { return chat_template.find(mark) != std::string_view::npos; };
  return (names(tags.end) || names(tags.begin)) && names(tags.answer_begin) && names(tags.answer_end);
}

bool knows_tags(const ThoughtTags& tags, const Tokenizer& tokenizer) {
  const auto knows = [&](std::string_view mark) { return mark.empty() || tokenizer.token_id(mark); };
  return knows(tags.first_token()) && knows(tags.end) && knows(tags.answer_begin) && knows(tags.answer_end);
}

}  // namespace

std::span<const ThoughtTags> known_thought_tags() { return kTags; }

std::optional<FoundTags> find_thought_tags(std::string_view chat_template, const Tokenizer& tokenizer) {
  for (const ThoughtTags& tags : kTags) {
    if (names_tags(tags, chat_template)) return FoundTags{tags, true};
  }
  const auto known = std::ranges::find_if(kTags, [&](const ThoughtTags& tags) { return knows_tags(tags, tokenizer); });
  return known == std::end(kTags) ? std::nullopt : std::optional(FoundTags{*known, false});
}

}  // namespace winnow
