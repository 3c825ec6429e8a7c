#include "engine/text/token_trie.h"

#include <algorithm>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr std::size_t kMaxTrieNodes = std::size_t{1} << 24;

}  // namespace

TokenTrie::TokenTrie(const std::vector<std::pair<std::string, std::int64_t>>& tokens, const std::string& path) {
  std::vector<const std::pair<std::string, std::int64_t>*> sorted;
  sorted.reserve(tokens.size());
  for (const auto& token : tokens) sorted.push_back(&token);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->first < b->first; });

  // Level by level: of each node the tokens that go through it, [begin, end) of `sorted`.
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  std::vector<Range> level = {{0, sorted.size()}};
  std::size_t first_of_level = 0;
  nodes_.emplace_back();
  labels_.push_back(0);
  for (std::size_t depth = 0; !level.empty(); ++depth) {
    std::vector<Range> next;
    const std::size_t first_of_next = nodes_.size();
    for (std::size_t i = 0; i < level.size(); ++i) {
      auto [at, end] = level[i];
      const std::size_t node = first_of_level + i;
      while (at < end && sorted[at]->first.size() == depth) nodes_[node].id = static_cast<std::int32_t>(sorted[at++]->second);
      nodes_[node].first_child = static_cast<std::uint32_t>(nodes_.size());
      while (at < end) {
        const char label = sorted[at]->first[depth];
        const std::size_t begin = at;
        while (at < end && sorted[at]->first[depth] == label) ++at;
        if (nodes_.size() >= kMaxTrieNodes)
          throw Exception(ErrorCode::kLimitExceeded, path, "the vocabulary branches more than 16 million times");
        next.push_back({begin, at});
        nodes_.emplace_back();
        labels_.push_back(label);
        ++nodes_[node].children;
      }
    }
    first_of_level = first_of_next;
    level = std::move(next);
  }
}

}  // namespace winnow
