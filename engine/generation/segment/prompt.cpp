#include "engine/generation/segment/prompt.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "engine/base/error.h"

namespace winnow {
namespace {

// Replaces what templates write for a video by the mark, if the family wants that.
void mark_videos(const VisionLanguageModel& network, std::vector<TemplatePiece>& pieces) {
  for (const std::string_view written : network.prompt().video_texts) {
    for (TemplatePiece& piece : pieces) {
      if (piece.from_user) continue;
      for (std::size_t at = piece.text.find(written); at != std::string::npos; at = piece.text.find(written, at))
        piece.text.replace(at, written.size(), kVideoMark);
    }
  }
}

// Writes around each mark in the template's text what around_of(number) says, of `count` media in the marks' order.
template <class Around>
void write_around(std::string_view mark, std::size_t count, Around around_of, std::vector<TemplatePiece>& pieces) {
  if (mark.empty()) return;
  std::size_t next = 0;
  for (TemplatePiece& piece : pieces) {
    if (piece.from_user) continue;
    for (std::size_t at = piece.text.find(mark); at != std::string::npos && next < count; at = piece.text.find(mark, at)) {
      const TextAround around = around_of(next++);
      piece.text.insert(at + mark.size(), around.after).insert(at, around.before);
      at += around.before.size() + mark.size() + around.after.size();
    }
  }
}

std::int64_t images_in(std::span<const Message> messages) {
  std::int64_t images = 0;
  for (const Message& message : messages) {
    images += std::ranges::count_if(message.items, [](const Item& item) {
      const auto* medium = std::get_if<MediaItem>(&item);
      return medium != nullptr && medium->media.kind == MediaKind::kImage;
    });
  }
  return images;
}

// The marks of new media with what the family writes around each.
std::vector<TemplatePiece> with_text_around(const ThreadToRead& thread, std::vector<TemplatePiece> pieces, const PromptMedia& media) {
  const VisionLanguageModel& network = *thread.model.network;
  const std::int64_t images_read = images_in(thread.messages.first(thread.cached()));
  mark_videos(network, pieces);
  write_around(
      kVideoMark, media.videos.size(), [&](std::size_t video) { return network.text_around(media.videos[video]); }, pieces);
  const auto around_image = [&](std::size_t image) {
    return network.text_around(media.images[image], images_read + static_cast<std::int64_t>(image));
  };
  write_around(thread.model.tokenizer->token_bytes(network.prompt().image_token_id), media.images.size(), around_image, pieces);
  return pieces;
}

// The tokens that the tokenizer puts before a text, if the template has not written them. transformers does so for plain text, and for
// models that see, whose prompts go through a processor; for others the template writes everything.
std::span<const std::int64_t> missing_prefix(const ThreadToRead& thread, std::span<const std::int64_t> ids) {
  const std::span<const std::int64_t> prefix = thread.model.tokenizer->prefix();
  const bool written = !prefix.empty() && !ids.empty() && ids.front() == prefix.front();
  const PromptForm form = thread.settings.form;
  const bool wanted = form == PromptForm::kPlainText || (form == PromptForm::kChatTemplate && thread.model.network->info().traits.sees);
  return thread.cached() > 0 || written || !wanted ? std::span<const std::int64_t>() : prefix;
}

}  // namespace

PromptSegment build_prompt(const ThreadToRead& thread, const PromptMedia& media, TimeInstruction times) {
  const LoadedModel& model = thread.model;
  std::optional<UnreadText> unread = unread_text(thread, media.videos, times);
  require(unread.has_value(), "build_prompt: a cache that the thread does not go on from");
  PromptSegment segment;
  segment.token_ids = prompt_ids(*model.tokenizer, with_text_around(thread, std::move(unread->pieces), media), unread->start);
  const std::span<const std::int64_t> prefix = missing_prefix(thread, segment.token_ids);
  segment.token_ids.insert(segment.token_ids.begin(), prefix.begin(), prefix.end());

  // Placeholders come in the template's order: per message usually images first, then videos, then documents with the text.
  struct Waiting {
    std::int64_t placeholder;
    std::vector<std::size_t> items{};
    std::size_t next = 0;
  };
  std::array<Waiting, 3> kinds = {
      {{model.network->prompt().image_token_id}, {model.network->prompt().video_token_id}, {kDocumentPlaceholder}}};
  std::size_t item_number = 0;
  for (const Message& message : thread.messages.subspan(thread.cached())) {
    for (const Item& item : message.items) {
      const auto* attached = std::get_if<MediaItem>(&item);
      if (attached == nullptr) continue;
      const std::size_t kind = attached->media.kind == MediaKind::kImage ? 0 : attached->media.kind == MediaKind::kVideo ? 1 : 2;
      kinds[kind].items.push_back(item_number++);
    }
  }
  for (std::size_t i = 0; i < segment.token_ids.size(); ++i) {
    auto* const kind = std::ranges::find(kinds, segment.token_ids[i], &Waiting::placeholder);
    if (kind == kinds.end()) continue;
    if (kind->next == kind->items.size()) {
      if (thread.settings.form != PromptForm::kChatTemplate)
        throw Exception(ErrorCode::kInvalidArgument, "", "plain text cannot hold the token of a picture or a video");
      throw Exception(ErrorCode::kUnsupportedModel, "chat template", "writes more media placeholders than there are media");
    }
    segment.media_at.push_back(i);
    segment.media_item.push_back(kind->items[kind->next++]);
  }
  if (!std::ranges::all_of(kinds, [](const Waiting& kind) { return kind.next == kind.items.size(); })) {
    throw Exception(ErrorCode::kUnsupportedModel, "chat template", "does not write a placeholder for everything that is attached");
  }

  if (thread.cached() == 0) {
    if (const std::vector<TemplatePiece> system = system_text(thread); !system.empty())
      segment.system_tokens =
          std::min(prefix.size() + prompt_ids(*model.tokenizer, system, TextStart::kNew).size(), segment.token_ids.size());
  }
  return segment;
}

void require_tokens(const PromptSegment& prompt) {
  if (prompt.token_ids.empty())
    throw Exception(ErrorCode::kInvalidArgument, "question", "the model's vocabulary has no token for any of its characters");
}

TokenRange words_asked(const ThreadToRead& thread, const PromptMedia& media, const PromptSegment& prompt) {
  std::vector<Message> silent(thread.messages.begin(), thread.messages.end());
  std::vector<Item>& items = silent.back().items;
  std::erase_if(items, [](const Item& item) { return std::holds_alternative<TextItem>(item); });
  items.emplace_back(TextItem{});
  const std::vector<std::int64_t> without = build_prompt({thread.model, silent, thread.settings, thread.held}, media).token_ids;
  const std::vector<std::int64_t>& with = prompt.token_ids;
  const auto [word, after] = std::mismatch(with.begin(), with.end(), without.begin(), without.end());
  const auto [last, before] =
      std::mismatch(with.rbegin(), std::make_reverse_iterator(word), without.rbegin(), std::make_reverse_iterator(after));
  return {static_cast<std::size_t>(word - with.begin()), static_cast<std::size_t>(last.base() - with.begin())};
}

}  // namespace winnow
