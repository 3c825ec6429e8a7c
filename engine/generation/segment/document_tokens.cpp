#include "engine/generation/segment/document_tokens.h"

#include <algorithm>

#include "engine/base/error.h"

namespace winnow {

DocumentTokens document_tokens(const Tokenizer& tokenizer, std::string_view text, std::int64_t most, const std::string& path) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) throw Exception(ErrorCode::kDamagedFile, path, "there is no text in it");
  DocumentTokens document;
  document.ids = tokenizer.encode(text, SpecialText::kAsText, TextStart::kAfterToken);
  document.all = std::ssize(document.ids);
  if (most > 0 && document.all > most) document.ids.resize(static_cast<std::size_t>(most));
  std::int32_t line = 0;
  for (const std::int64_t id : document.ids) {
    TokenOrigin origin{.modality = Modality::kDocument, .frame = line};
    document.origins.push_back(origin);
    const std::string_view bytes = tokenizer.token_bytes(id);
    line += static_cast<std::int32_t>(std::count(bytes.begin(), bytes.end(), '\n'));
  }
  return document;
}

}  // namespace winnow
