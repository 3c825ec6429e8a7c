#include "engine/generation/segment/prompt_ids.h"

#include <algorithm>
#include <string>

#include "engine/models/vision_language_model.h"

namespace winnow {
namespace {

class IdsSoFar {
 public:
  IdsSoFar(const Tokenizer& tokenizer, TextStart start) : tokenizer_(tokenizer), start_(start) {}

  void add_text(std::string_view text) { plain_ += text; }

  void add_token(std::int64_t id) {
    flush();
    ids_.push_back(id);
  }

  std::vector<std::int64_t> take() {
    flush();
    return std::move(ids_);
  }

 private:
  void flush() {
    std::string_view rest = plain_;
    for (;;) {
      const std::size_t document = rest.find(kDocumentMark);
      const std::size_t video = rest.find(kVideoMark);
      const std::size_t mark = std::min(document, video);
      if (mark == std::string_view::npos) break;
      encode(rest.substr(0, mark));
      ids_.push_back(document < video ? kDocumentPlaceholder : kVideoPlaceholder);
      rest.remove_prefix(mark + (document < video ? kDocumentMark : kVideoMark).size());
    }
    encode(rest);
    plain_.clear();
  }

  void encode(std::string_view text) {
    const std::vector<std::int64_t> part = tokenizer_.encode(text, SpecialText::kAsText, ids_.empty() ? start_ : TextStart::kAfterToken);
    ids_.insert(ids_.end(), part.begin(), part.end());
  }

  const Tokenizer& tokenizer_;
  TextStart start_;
  std::string plain_;  // since the last special token
  std::vector<std::int64_t> ids_;
};

}  // namespace

std::vector<std::int64_t> prompt_ids(const Tokenizer& tokenizer, std::span<const TemplatePiece> pieces, TextStart start) {
  IdsSoFar ids(tokenizer, start);
  for (const TemplatePiece& piece : pieces) {
    const std::string_view text = piece.text;
    std::size_t at = 0;
    if (!piece.from_user) {
      for (const SpecialSpan& special : tokenizer.special_tokens(text)) {
        ids.add_text(text.substr(at, special.begin - at));
        ids.add_token(special.id);
        at = special.end;
      }
    }
    ids.add_text(text.substr(at));
  }
  return ids.take();
}

}  // namespace winnow
