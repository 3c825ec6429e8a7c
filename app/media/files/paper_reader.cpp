#include "app/media/files/paper_reader.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/known_format.h"

namespace winnow::app {
namespace {

constexpr std::int64_t kPaperHeadBytes = 4096;
constexpr std::size_t kMarkBytes = 1024;  // within which readers look for a PDF's mark
constexpr std::size_t kMailFields = 2;

std::string smallLetters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return small;
}

bool isNamed(const std::string& path, std::initializer_list<const char*> endings) {
  const std::string small = smallLetters(path);
  return std::ranges::any_of(endings, [&](const char* ending) { return small.ends_with(ending); });
}

// Lines of a letter's head, of which every letter has some.
bool beginsLikeMail(const std::string& small) {
  std::size_t fields = 0;
  for (const char* field : {"from:", "to:", "subject:", "date:", "message-id:", "mime-version:", "received:", "return-path:"})
    fields += small.starts_with(field) || small.find(std::string("\n") + field) != std::string::npos ? 1 : 0;
  return fields >= kMailFields;
}

}  // namespace

std::optional<PaperType> paperType(const MediaFile& file) {
  const std::vector<std::uint8_t> bytes = file.readRange(0, kPaperHeadBytes);
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  // Something else may stand before it.
  const bool marked = head.substr(0, kMarkBytes).find("%PDF-") != head.npos && head.find(" obj") != head.npos;
  if (head.starts_with("%PDF") || marked) return PaperType::kPdf;
  const KnownFormat* const format = known_format(std::as_bytes(std::span(bytes)).first(std::min(bytes.size(), kFormatHeadBytes)));
  if (format != nullptr && format->kind == FormatKind::kPaper) return PaperType::kArchive;
  // A format that is a text as well is judged by its name, too: somebody may ask about its markup.
  const std::string small = smallLetters(head);
  if (isNamed(file.path(), {".html", ".htm", ".xhtml"}) && small.find('<') != small.npos) return PaperType::kWebPage;
  if (isNamed(file.path(), {".eml"}) && beginsLikeMail(small)) return PaperType::kMail;
  return std::nullopt;
}

}  // namespace winnow::app
