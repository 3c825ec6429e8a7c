#include "engine/generation/conversation/message_equality.h"

namespace winnow {
namespace {

// Nothing has been read yet of a file that was replaced under its name.
bool replaced(const MediaRequest& a, const MediaRequest& b) { return !a.content.empty() && !b.content.empty() && a.content != b.content; }

bool same_item(const Item& a, const Item& b) {
  if (a.index() != b.index()) return false;
  if (const auto* text = std::get_if<TextItem>(&a)) return text->text == std::get<TextItem>(b).text;
  const MediaRequest& left = std::get<MediaItem>(a).media;
  const MediaRequest& right = std::get<MediaItem>(b).media;
  return left.path == right.path && left.kind == right.kind && left.most_tokens == right.most_tokens && left.subtitles == right.subtitles &&
         left.encoding == right.encoding && left.detail == right.detail && left.pages == right.pages && !replaced(left, right) &&
         (left.kind != MediaKind::kVideo || left.plan == right.plan);
}

}  // namespace

bool same_message(const Message& a, const Message& b) {
  if (a.role != b.role || a.items.size() != b.items.size() || a.thought != b.thought) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    if (!same_item(a.items[i], b.items[i])) return false;
  }
  return true;
}

}  // namespace winnow
