// Which tokens begin at a place of a text: all of them, the shortest first.
//
// Used by the model of unigrams. A tree over bytes, built once; a node costs 12 bytes and its label. Looking at a place costs a step a byte
// of the longest token that begins there. Errors of the constructor: Exception kLimitExceeded (more than 16 million nodes).
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace winnow {

class TokenTrie {
 public:
  // tokens: text and id; texts are not empty. Of two equal ones one is kept. path: of the file, for errors.
  TokenTrie(const std::vector<std::pair<std::string, std::int64_t>>& tokens, const std::string& path);

  // Calls on_token(bytes, id) for every token that `text` begins with.
  template <typename OnToken>
  void for_each_prefix(std::string_view text, OnToken&& on_token) const;

 private:
  struct Node {
    std::uint32_t first_child = 0;
    std::int32_t id = -1;  // of the token that ends here
    std::uint16_t children = 0;
  };

  std::vector<Node> nodes_;   // the root first; children of a node side by side, by label
  std::vector<char> labels_;  // by node
};

template <typename OnToken>
void TokenTrie::for_each_prefix(std::string_view text, OnToken&& on_token) const {
  const Node* node = nodes_.data();
  for (std::size_t i = 0; i < text.size() && node->children > 0; ++i) {
    const char* labels = labels_.data() + node->first_child;
    const void* found = std::memchr(labels, static_cast<unsigned char>(text[i]), node->children);
    if (found == nullptr) return;
    node = nodes_.data() + node->first_child + (static_cast<const char*>(found) - labels);
    if (node->id >= 0) on_token(i + 1, node->id);
  }
}

}  // namespace winnow
