#include "app/programs/server/served_threads.h"

#include <algorithm>

namespace winnow::app {
namespace {

std::string keyOf(Role role, const Item& item) {
  std::string key = std::to_string(static_cast<int>(role));
  if (const auto* text = std::get_if<TextItem>(&item)) return key + "t" + text->text;
  const MediaRequest& media = std::get<MediaItem>(item).media;
  const FramePlan& plan = media.plan;
  for (const double number : {static_cast<double>(plan.frame_count), plan.every_s, plan.from_s, plan.to_s, static_cast<double>(plan.taken)})
    key += "," + std::to_string(number);
  return key + "m" + detail_word(media.detail) + "," + media.path;
}

// answer: behind the messages; empty: none.
std::vector<std::string> keysOf(const std::vector<Message>& messages, const std::string& answer) {
  std::vector<std::string> keys;
  for (const Message& message : messages) {
    for (const Item& item : message.items) keys.push_back(keyOf(message.role, item));
  }
  if (!answer.empty()) keys.push_back(keyOf(Role::kAssistant, TextItem{answer}));
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

KeptConversations<ServedThreads::Thread>::Kept* ServedThreads::best(const Turn& turn) {
  const std::vector<std::string> items = keysOf(turn.messages, turn.answer_begun);
  const std::size_t attached = attachedItems(turn.messages);
  KeptConversations<Thread>::Kept* best = nullptr;
  std::size_t longest = 0;
  for (auto& kept : m_threads) {
    const Thread& thread = kept.key;
    if (thread.recipe != turn.recipe) continue;
    const std::size_t shared = sharedItems(thread.items, items);
    const bool goesOn = shared == thread.items.size() && (shared < items.size() || !begins_anew(turn));
    const bool sameMedia = attached > 0 && thread.attached == attached && shared >= attached;
    if ((goesOn || sameMedia) && shared > longest) {
      best = &kept;
      longest = shared;
    }
  }
  return best;
}

std::string ServedThreads::dayOf(const Turn& turn) {
  const auto* kept = best(turn);
  return kept == nullptr ? turn.prompt.day : kept->key.day;
}

bool ServedThreads::mustWait(const Turn& turn) {
  const auto* best = this->best(turn);
  if (best != nullptr) return !best->key.asked.empty();
  const std::size_t attached = attachedItems(turn.messages);
  const std::vector<std::string> items = keysOf(turn.messages, turn.answer_begun);
  return attached > 0 && std::any_of(m_threads.begin(), m_threads.end(), [&](const auto& kept) {
           return kept.key.recipe == turn.recipe && sharedItems(kept.key.asked, items) >= attached;
         });
}

void ServedThreads::choose(Turn& turn) {
  auto* best = this->best(turn);
  if (best == nullptr) best = &m_threads.add({turn.recipe, turn.prompt.day});
  m_threads.use(*best);
  best->key.asked = keysOf(turn.messages, turn.answer_begun);
  turn.conversation = best->conversation;
  turn.prompt.day = best->key.day;
}

void ServedThreads::answered(const Turn& turn, const std::string& answer, std::int64_t bytes) {
  auto* kept = m_threads.find(turn.conversation);
  if (kept == nullptr) return;
  kept->key.items = keysOf(turn.messages, turn.answer_begun + answer);
  kept->key.attached = attachedItems(turn.messages);
  kept->key.asked.clear();
  kept->bytes = bytes;
}

void ServedThreads::failed(ConversationId conversation) {
  auto* kept = m_threads.find(conversation);
  if (kept == nullptr) return;
  kept->key.asked.clear();
  if (kept->key.items.empty()) m_threads.forget(conversation);
}

}  // namespace winnow::app
