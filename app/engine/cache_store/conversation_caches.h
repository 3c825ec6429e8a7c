// The folder of kept conversations: one file a chat, under a quota, least recently used leaves first.
//
// Written and read by KeepingEngine on the engine's thread; the window reads entries() to list them. Only files that bear this folder's own
// names are ever removed. What a killed program left half written goes at the first look; what another that runs is writing does not.
// Errors: none thrown; a folder that cannot be used keeps nothing. Threads: every function may be called from any thread; those that touch
// the disk say so.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/messages/requests.h"

namespace winnow::app {

struct CacheQuota {
  std::int64_t perChatBytes = std::int64_t{512} << 20;
  std::int64_t totalBytes = std::int64_t{4} << 30;
};

enum class CacheUse : int {
  kKeep = 1,
  kForgetOnly = 2,  // nothing is kept or found; what is asked to be forgotten goes
  kNone = 3,        // the chats at hand are not saved: their numbers are those of other chats, whose files stay
};

class ConversationCaches {
 public:
  // folder: bytes; made when the first file is written.
  explicit ConversationCaches(std::string folder) : m_folder(std::move(folder)) {}

  void setUse(CacheUse use);
  bool keeps() const;  // CacheUse::kKeep
  void setQuota(const CacheQuota& quota);
  CacheQuota quota() const;

  struct Entry {
    ConversationId conversation = 0;
    std::int64_t bytes = 0;
    std::int64_t usedMs = 0;  // since the epoch
  };
  // The entries as last looked at or changed, most recently used first.
  std::vector<Entry> entries() const;

  // These touch the disk.
  void lookAtFolder();  // if nobody has yet
  std::string pathOf(ConversationId conversation) const;
  std::string pathToWrite(ConversationId conversation) const;  // the same, and makes the folder
  bool has(ConversationId conversation);
  void used(ConversationId conversation);     // now
  void written(ConversationId conversation);  // the file is there; others go where the quota asks for it
  void remove(ConversationId conversation);   // unless the use is kNone

 private:
  void look();  // once: m_entries from the folder. Locked.
  void removeLocked(ConversationId conversation);
  void shrinkLocked(ConversationId spared);

  const std::string m_folder;
  mutable std::mutex m_mutex;  // guards the members below
  CacheUse m_use = CacheUse::kKeep;
  bool m_looked = false;
  CacheQuota m_quota;
  std::map<ConversationId, Entry> m_entries;
};

}  // namespace winnow::app
