// The engine's conversations that are kept for askers over HTTP, each with what it is found by: numbered, bounded in number and in bytes.
//
// Part of served_threads.h and wire_service.h, whose askers mean a conversation in two ways. What was used the longest time ago is
// forgotten first; the one that was used last stays, however large it is. Pure; threads: one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/messages/requests.h"

namespace winnow::app {

template <class Key>
class KeptConversations {
 public:
  struct Kept {
    Key key;
    ConversationId conversation = 0;
    std::int64_t bytes = 0;  // that the engine holds for it
    std::uint64_t used = 0;
  };

  // first: the smallest number; those of others are below.
  KeptConversations(ConversationId first, std::int64_t mostBytes, std::size_t most) : m_mostBytes(mostBytes), m_most(most), m_next(first) {}

  auto begin() { return m_kept.begin(); }
  auto end() { return m_kept.end(); }
  // Null: there is none.
  Kept* find(const Key& key) { return foundAt(std::ranges::find(m_kept, key, &Kept::key)); }
  Kept* find(ConversationId conversation) { return foundAt(std::ranges::find(m_kept, conversation, &Kept::conversation)); }
  Kept& add(Key key) { return m_kept.emplace_back(Kept{std::move(key), m_next++}); }
  void use(Kept& kept) { kept.used = ++m_clock; }
  void forget(ConversationId conversation) {
    std::erase_if(m_kept, [&](const Kept& kept) { return kept.conversation == conversation; });
  }

  // Those that are beyond the limits now, and no longer known here: the engine is to forget them.
  std::vector<ConversationId> tooMany() {
    std::vector<ConversationId> forgotten;
    while (m_kept.size() > 1 && (m_kept.size() > m_most || bytes() > m_mostBytes)) {
      const auto oldest = std::ranges::min_element(m_kept, {}, &Kept::used);
      forgotten.push_back(oldest->conversation);
      m_kept.erase(oldest);
    }
    return forgotten;
  }
  // All of them, as the model that has read them goes.
  std::vector<ConversationId> forgetAll() {
    std::vector<ConversationId> forgotten;
    for (const Kept& kept : std::exchange(m_kept, {})) forgotten.push_back(kept.conversation);
    return forgotten;
  }

  std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const Kept& kept : m_kept) sum += kept.bytes;
    return sum;
  }

 private:
  Kept* foundAt(std::vector<Kept>::iterator at) { return at == m_kept.end() ? nullptr : &*at; }

  std::vector<Kept> m_kept;
  const std::int64_t m_mostBytes;
  const std::size_t m_most;
  ConversationId m_next;
  std::uint64_t m_clock = 0;
};

}  // namespace winnow::app
