#include "engine/generation/segment/probe_prompts.h"

#include <algorithm>

namespace winnow {
namespace {

// The part after the media of the prompt with this request in the question's place.
std::vector<std::int64_t> asked(const ThreadToRead& thread, const PromptMedia& media, const std::string& text, TimeInstruction times) {
  std::vector<Message> messages(thread.messages.begin(), thread.messages.end());
  std::vector<Item>& items = messages.back().items;
  std::erase_if(items, [](const Item& item) { return std::holds_alternative<TextItem>(item); });
  items.emplace_back(TextItem{text});
  const PromptSegment prompt = build_prompt({thread.model, messages, thread.settings, thread.held}, media, times);
  const std::size_t after = prompt.media_at.empty() ? 0 : prompt.media_at.back() + 1;
  return {prompt.token_ids.begin() + static_cast<std::ptrdiff_t>(after), prompt.token_ids.end()};
}

std::string attached(const Message& message) {
  std::string what = "image";
  for (const Item& item : message.items) {
    const auto* media = std::get_if<MediaItem>(&item);
    if (media == nullptr) continue;
    if (media->media.kind == MediaKind::kVideo) return "video";
    if (media->media.kind == MediaKind::kDocument) what = "document";
  }
  return what;
}

}  // namespace

ProbePrompts probe_prompts(const ThreadToRead& asking, const PromptMedia& media, std::span<const std::string> ask) {
  // The stand-in for later questions has no thought; but if the template then writes the beginning otherwise, as the cache has it.
  PromptSettings quiet = asking.settings;
  quiet.thinking = Thinking::kOff;
  const ThreadToRead without_thoughts{asking.model, asking.messages, quiet, asking.held};
  const ThreadToRead& thread = goes_on(without_thoughts) ? without_thoughts : asking;
  const std::string what = attached(thread.messages.back());
  ProbePrompts prompts{
      .repeat = asked(thread, media, "Repeat the previous " + what + " exactly.", TimeInstruction::kNone),
      .repeat_part = asked(thread, media, "Repeat the part of the previous " + what + " exactly, starting with ", TimeInstruction::kNone)};
  std::vector<std::string> requests(ask.begin(), ask.end());
  if (requests.empty()) requests.push_back("Describe the " + what + ".");
  for (const std::string& request : requests) prompts.requests.push_back(asked(thread, media, request, TimeInstruction::kAsTheModelHasIt));
  // The two requests end differently, the turn after them does not.
  const auto [in_whole, in_part] =
      std::mismatch(prompts.repeat.rbegin(), prompts.repeat.rend(), prompts.repeat_part.rbegin(), prompts.repeat_part.rend());
  prompts.turn_end.assign(in_whole.base(), prompts.repeat.end());
  prompts.repeat_part.erase(in_part.base(), prompts.repeat_part.end());
  return prompts;
}

}  // namespace winnow
