// A cache of visual features, so that a second question about a video skips decoding and the vision tower.
//
// Keyed by the file's content hash, the frames' times and the tiling. Of a video that takes long, sets of frames have entries of their own
// until all of them are there, so that what was encoded before an interrupt, or for an answer from a part, is not encoded again. Lives as
// long as the loaded model, because features depend on its weights. Evicts least recently used entries above the byte limit. Engine thread
// only.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/media/media_notice.h"
#include "engine/models/vision_language_model.h"

namespace winnow {

struct CachedFeatures {
  MediaFeatures features;
  std::vector<double> asked_s;  // per frame; empty for an image
  std::vector<double> actual_s;
  std::vector<MediaNotice> notices;  // from decoding them
};

class FeatureCache {
 public:
  explicit FeatureCache(std::int64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  // request: the name (by path, not content) of this request.
  std::optional<CachedFeatures> find(const std::string& key, const std::string& request);
  void insert(const std::string& key, const std::string& request, const CachedFeatures& value);
  // The last entry requested under this name; valid until the next insert(). A guess that reads no file: the file may have changed since.
  // Returns null if not cached.
  const CachedFeatures* find_request(const std::string& request) const;
  // Drops all entries whose keys begin so.
  void forget(std::string_view key_begins);

 private:
  struct Entry {
    std::string key;
    std::string request;
    CachedFeatures value;
    std::int64_t bytes = 0;
  };
  std::int64_t limit_bytes_;
  std::int64_t bytes_ = 0;
  std::list<Entry> entries_;  // most recent first; a handful, so a linear search is enough
};

}  // namespace winnow
