#include "engine/generation/context/feature_cache.h"

#include <algorithm>

namespace winnow {

std::optional<CachedFeatures> FeatureCache::find(const std::string& key, const std::string& request) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
  if (found == entries_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, found);
  entries_.front().request = request;
  return entries_.front().value;
}

void FeatureCache::insert(const std::string& key, const std::string& request, const CachedFeatures& value) {
  const std::int64_t bytes = static_cast<std::int64_t>(value.features.features.nbytes());
  if (bytes > limit_bytes_) return;
  entries_.push_front(Entry{key, request, value, bytes});
  bytes_ += bytes;
  while (bytes_ > limit_bytes_) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
}

void FeatureCache::forget(std::string_view key_begins) {
  std::erase_if(entries_, [&](const Entry& entry) {
    if (!entry.key.starts_with(key_begins)) return false;
    bytes_ -= entry.bytes;
    return true;
  });
}

const CachedFeatures* FeatureCache::find_request(const std::string& request) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.request == request; });
  return found == entries_.end() ? nullptr : &found->value;
}

}  // namespace winnow
