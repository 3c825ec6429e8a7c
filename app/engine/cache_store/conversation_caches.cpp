#include "app/engine/cache_store/conversation_caches.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "engine/base/replaced_file.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::file_clock;

constexpr std::string_view kEnding = ".safetensors";

// "12.safetensors".
std::optional<ConversationId> idOf(std::string_view name) {
  ConversationId id = 0;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), id);
  if (problem != std::errc() || id == 0) return std::nullopt;
  name.remove_prefix(static_cast<std::size_t>(end - name.data()));
  return name == kEnding ? std::optional(id) : std::nullopt;
}

std::int64_t msOf(Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::to_sys(time).time_since_epoch()).count();
}

}  // namespace

void ConversationCaches::setUse(CacheUse use) {
  const std::lock_guard lock(m_mutex);
  m_use = use;
}

bool ConversationCaches::keeps() const {
  const std::lock_guard lock(m_mutex);
  return m_use == CacheUse::kKeep;
}

void ConversationCaches::setQuota(const CacheQuota& quota) {
  const std::lock_guard lock(m_mutex);
  m_quota = quota;
}

CacheQuota ConversationCaches::quota() const {
  const std::lock_guard lock(m_mutex);
  return m_quota;
}

std::vector<ConversationCaches::Entry> ConversationCaches::entries() const {
  const std::lock_guard lock(m_mutex);
  std::vector<Entry> all;
  for (const auto& [id, entry] : m_entries) all.push_back(entry);
  std::stable_sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.usedMs > b.usedMs; });
  return all;
}

std::string ConversationCaches::pathOf(ConversationId conversation) const {
  return m_folder + "/" + std::to_string(conversation) + std::string(kEnding);
}

std::string ConversationCaches::pathToWrite(ConversationId conversation) const {
  std::error_code ignored;  // writing will say it
  fs::create_directories(m_folder, ignored);
  return pathOf(conversation);
}

void ConversationCaches::lookAtFolder() {
  const std::lock_guard lock(m_mutex);
  look();
}

bool ConversationCaches::has(ConversationId conversation) {
  const std::lock_guard lock(m_mutex);
  look();
  return m_use == CacheUse::kKeep && m_entries.contains(conversation);
}

void ConversationCaches::used(ConversationId conversation) {
  const std::lock_guard lock(m_mutex);
  look();
  const auto found = m_entries.find(conversation);
  if (found == m_entries.end()) return;
  const Clock::time_point now = Clock::now();
  std::error_code ignored;  // then it counts as older than it is
  fs::last_write_time(pathOf(conversation), now, ignored);
  found->second.usedMs = msOf(now);
}

void ConversationCaches::written(ConversationId conversation) {
  const std::lock_guard lock(m_mutex);
  look();
  std::error_code failed;
  const std::uintmax_t bytes = fs::file_size(pathOf(conversation), failed);
  if (failed) return;
  m_entries[conversation] = {conversation, static_cast<std::int64_t>(bytes), msOf(Clock::now())};
  shrinkLocked(conversation);
}

void ConversationCaches::remove(ConversationId conversation) {
  const std::lock_guard lock(m_mutex);
  if (m_use == CacheUse::kNone) return;
  look();
  removeLocked(conversation);
}

void ConversationCaches::look() {
  if (m_looked) return;
  m_looked = true;
  remove_unfinished(m_folder + "/");
  std::error_code failed;
  for (const fs::directory_entry& file : fs::directory_iterator(m_folder, failed)) {
    const std::string name = file.path().filename().string();
    const std::optional<ConversationId> id = idOf(name);
    if (!id || !file.is_regular_file(failed) || file.is_symlink(failed)) continue;
    const std::uintmax_t bytes = file.file_size(failed);
    if (failed) continue;
    m_entries[*id] = {*id, static_cast<std::int64_t>(bytes), msOf(file.last_write_time(failed))};
  }
  shrinkLocked(0);
}

void ConversationCaches::removeLocked(ConversationId conversation) {
  std::error_code ignored;
  fs::remove(pathOf(conversation), ignored);
  m_entries.erase(conversation);
}

void ConversationCaches::shrinkLocked(ConversationId spared) {
  std::int64_t all = 0;
  for (const auto& [id, entry] : m_entries) all += entry.bytes;
  while (all > m_quota.totalBytes) {
    const auto oldest = std::min_element(m_entries.begin(), m_entries.end(), [&](const auto& a, const auto& b) {
      return std::pair(a.first == spared, a.second.usedMs) < std::pair(b.first == spared, b.second.usedMs);
    });
    all -= oldest->second.bytes;
    removeLocked(oldest->first);
  }
}

}  // namespace winnow::app
