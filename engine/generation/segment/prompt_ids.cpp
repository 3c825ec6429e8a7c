#include "engine/generation/segment/prompt_ids.h"

#include <algorithm>

#include "engine/models/vision_language_model.h"

namespace winnow {

std::vector<std::int64_t> prompt_ids(const Tokenizer& tokenizer, std::span<const TemplatePiece> pieces, TextStart start) {
  std::vector<std::int64_t> ids;
  std::vector<WrittenText> written;  // since the last medium
  const auto encode_written = [&] {
    const std::vector<std::int64_t> part = tokenizer.encode(written, ids.empty() ? start : TextStart::kAfterToken);
    ids.insert(ids.end(), part.begin(), part.end());
    written.clear();
  };
  for (const TemplatePiece& piece : pieces) {
    const SpecialText policy = piece.from_user ? SpecialText::kAsText : SpecialText::kParse;
    std::string_view rest = piece.text;
    for (;;) {
      const std::size_t document = rest.find(kDocumentMark);
      const std::size_t video = rest.find(kVideoMark);
      const std::size_t mark = std::min(document, video);
      if (mark == std::string_view::npos) break;
      written.push_back({rest.substr(0, mark), policy});
      encode_written();
      ids.push_back(document < video ? kDocumentPlaceholder : kVideoPlaceholder);
      rest.remove_prefix(mark + (document < video ? kDocumentMark : kVideoMark).size());
    }
    written.push_back({rest, policy});
  }
  encode_written();
  return ids;
}

}  // namespace winnow
