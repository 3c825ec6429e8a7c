#include "app/server/served_threads.h"

#include <algorithm>
#include <utility>

namespace winnow::app {
namespace {

std::string keyOf(Role role, const Item& item) {
  std::string key = std::to_string(static_cast<int>(role));
  if (const auto* text = std::get_if<TextItem>(&item)) return key + "t" + text->text;
  const MediaRequest& media = std::get<MediaItem>(item).media;
  const FramePlan& plan = media.plan;
  for (const double number : {static_cast<double>(plan.frame_count), plan.every_s, plan.from_s, plan.to_s})
    key += "," + std::to_string(number);
  return key + "m" + media.path;
}

std::vector<std::string> keysOf(const std::vector<Message>& messages) {
  std::vector<std::string> keys;
  for (const Message& message : messages) {
    for (const Item& item : message.items) keys.push_back(keyOf(message.role, item));
  }
  return keys;
}

// Items up to the last attachment of the first message that has some; 0: nothing is attached.
std::size_t attachedItems(const std::vector<Message>& messages) {
  std::size_t seen = 0, attached = 0;
  for (const Message& message : messages) {
    for (const Item& item : message.items) {
      ++seen;
      if (std::holds_alternative<MediaItem>(item)) attached = seen;
    }
    if (attached > 0) break;
  }
  return attached;
}

std::size_t sharedItems(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

ServedThreads::ServedThreads(ConversationId first, std::int64_t mostBytes, std::size_t mostThreads)
    : m_mostBytes(mostBytes), m_mostThreads(mostThreads), m_next(first) {}

void ServedThreads::choose(Turn& turn) {
  const std::vector<std::string> items = keysOf(turn.messages);
  const std::size_t attached = attachedItems(turn.messages);
  Kept* best = nullptr;
  std::size_t longest = 0;
  for (Kept& kept : m_kept) {
    if (kept.recipe != turn.recipe) continue;
    const std::size_t shared = sharedItems(kept.items, items);
    const bool goesOn = shared == kept.items.size() && shared < items.size();
    const bool sameMedia = attached > 0 && kept.attached == attached && shared >= attached;
    if ((goesOn || sameMedia) && shared > longest) {
      best = &kept;
      longest = shared;
    }
  }
  if (best == nullptr) best = &m_kept.emplace_back(Kept{m_next++, {}, 0, turn.recipe, turn.prompt.day});
  best->used = ++m_clock;
  turn.conversation = best->conversation;
  turn.prompt.day = best->day;
}

void ServedThreads::answered(const Turn& turn, const std::string& answer, std::int64_t bytes) {
  const auto kept = std::ranges::find(m_kept, turn.conversation, &Kept::conversation);
  if (kept == m_kept.end()) return;
  kept->items = keysOf(turn.messages);
  kept->items.push_back(keyOf(Role::kAssistant, TextItem{answer}));
  kept->attached = attachedItems(turn.messages);
  kept->bytes = bytes;
}

void ServedThreads::failed(ConversationId conversation) {
  std::erase_if(m_kept, [&](const Kept& kept) { return kept.conversation == conversation && kept.items.empty(); });
}

std::vector<ConversationId> ServedThreads::tooMany() {
  std::vector<ConversationId> forgotten;
  while (m_kept.size() > 1 && (m_kept.size() > m_mostThreads || bytes() > m_mostBytes)) {
    const auto oldest = std::ranges::min_element(m_kept, {}, &Kept::used);
    forgotten.push_back(oldest->conversation);
    m_kept.erase(oldest);
  }
  return forgotten;
}

std::vector<ConversationId> ServedThreads::forgetAll() {
  std::vector<ConversationId> forgotten;
  for (const Kept& kept : std::exchange(m_kept, {})) forgotten.push_back(kept.conversation);
  return forgotten;
}

std::int64_t ServedThreads::bytes() const {
  std::int64_t sum = 0;
  for (const Kept& kept : m_kept) sum += kept.bytes;
  return sum;
}

}  // namespace winnow::app
