#include "engine/generation/segment/prompt.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "engine/base/error.h"

namespace winnow {
namespace {

// Marks a document's place in a template's text: a code point that is no character. What a person wrote has none of it.
constexpr std::string_view kDocumentMark = "\xEF\xB7\x90";  // U+FDD0
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::string without_marks(std::string text) {
  for (const std::string_view mark : {kDocumentMark, kVideoMark}) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) text.replace(at, mark.size(), kReplacement);
  }
  return text;
}

// A family may have its own way to write threads with a video.
const ChatTemplate& template_of(const LoadedModel& model, const std::vector<TemplateMessage>& messages) {
  const bool videos = std::ranges::any_of(messages, [](const TemplateMessage& message) {
    return std::ranges::any_of(message.content, [](const TemplateContent& part) { return part.kind == TemplateContent::Kind::kVideo; });
  });
  return videos && model.video_template ? *model.video_template : *model.chat_template;
}

// What templates write for a video as the mark, where the family wants that.
void mark_videos(const VisionLanguageModel& network, std::vector<TemplatePiece>& pieces) {
  for (const std::string_view written : network.video_texts()) {
    for (TemplatePiece& piece : pieces) {
      if (piece.from_user) continue;
      for (std::size_t at = piece.text.find(written); at != std::string::npos; at = piece.text.find(written, at))
        piece.text.replace(at, written.size(), kVideoMark);
    }
  }
}

// Writes around each mark in the template's text what the family writes around one of `media`, which come in the marks' order.
template <class Medium>
void write_around(const VisionLanguageModel& network, std::string_view mark, const std::vector<Medium>& media,
                  std::vector<TemplatePiece>& pieces) {
  if (mark.empty()) return;
  std::size_t next = 0;
  for (TemplatePiece& piece : pieces) {
    if (piece.from_user) continue;
    for (std::size_t at = piece.text.find(mark); at != std::string::npos && next < media.size(); at = piece.text.find(mark, at)) {
      const TextAround around = network.text_around(media[next++]);
      piece.text.insert(at + mark.size(), around.after).insert(at, around.before);
      at += around.before.size() + mark.size() + around.after.size();
    }
  }
}

// The marks of new media with what the family writes around each.
std::vector<TemplatePiece> with_text_around(const LoadedModel& model, std::vector<TemplatePiece> pieces, const PromptMedia& media) {
  const VisionLanguageModel& network = *model.network;
  mark_videos(network, pieces);
  write_around(network, kVideoMark, media.videos, pieces);
  write_around(network, model.tokenizer->token_bytes(network.image_token_id()), media.images, pieces);
  return pieces;
}

// The thread as the template language sees it; videos get their time instruction as a text of its own before the message's texts.
std::vector<TemplateMessage> template_messages(const LoadedModel& model, std::span<const Message> thread, std::size_t cached,
                                               std::span<const VideoTimes> videos, TimeInstruction times) {
  std::vector<TemplateMessage> messages;
  const std::string pattern = times == TimeInstruction::kNone ? "" : model.network->info().time_instruction;
  std::size_t next_video = 0;
  for (std::size_t m = 0; m < thread.size(); ++m) {
    const Message& message = thread[m];
    TemplateMessage out;
    out.role = message.role == Role::kSystem ? "system" : message.role == Role::kUser ? "user" : "assistant";
    std::vector<TemplateContent> texts;
    for (const Item& item : message.items) {
      if (const auto* text = std::get_if<TextItem>(&item)) {
        texts.push_back({TemplateContent::Kind::kText, without_marks(text->text)});
        continue;
      }
      const MediaRequest& media = std::get<MediaItem>(item).media;
      if (media.kind == MediaKind::kDocument) {
        texts.push_back({TemplateContent::Kind::kText, std::string(kDocumentMark) + "\n\n"});
        continue;
      }
      out.content.push_back({media.kind == MediaKind::kVideo ? TemplateContent::Kind::kVideo : TemplateContent::Kind::kImage, ""});
      if (media.kind == MediaKind::kVideo && m >= cached && !pattern.empty()) {
        require(next_video < videos.size(), "every new video needs its times");
        texts.push_back({TemplateContent::Kind::kText, time_instruction(pattern, videos[next_video])});
      }
      if (media.kind == MediaKind::kVideo && m >= cached) ++next_video;
    }
    out.content.insert(out.content.end(), texts.begin(), texts.end());
    messages.push_back(std::move(out));
  }
  return messages;
}

// Drops the first `bytes` bytes.
std::vector<TemplatePiece> without_prefix(const std::vector<TemplatePiece>& pieces, std::size_t bytes) {
  std::vector<TemplatePiece> rest;
  for (const TemplatePiece& piece : pieces) {
    if (bytes >= piece.text.size()) {
      bytes -= piece.text.size();
      continue;
    }
    rest.push_back({piece.text.substr(bytes), piece.from_user});
    bytes = 0;
  }
  return rest;
}

std::string joined(const std::vector<TemplatePiece>& pieces) {
  std::string text;
  for (const TemplatePiece& piece : pieces) text += piece.text;
  return text;
}

// Special tokens count in the template's own text only; everything between two of them is encoded in one go, because merges cross the
// border between template and message ("\n" + "\nWhat"), but not at the place of a medium. start: of the first piece.
std::vector<std::int64_t> encode_pieces(const LoadedModel& model, const std::vector<TemplatePiece>& pieces, TextStart start) {
  const Tokenizer& tokenizer = *model.tokenizer;
  std::vector<std::int64_t> ids;
  std::string plain;
  const auto encode = [&](std::string_view text) {
    const std::vector<std::int64_t> part = tokenizer.encode(text, SpecialText::kAsText, ids.empty() ? start : TextStart::kNew);
    ids.insert(ids.end(), part.begin(), part.end());
  };
  const auto flush = [&] {
    std::string_view rest = plain;
    for (;;) {
      const std::size_t document = rest.find(kDocumentMark);
      const std::size_t video = rest.find(kVideoMark);
      const std::size_t mark = std::min(document, video);
      if (mark == std::string_view::npos) break;
      encode(rest.substr(0, mark));
      ids.push_back(document < video ? kDocumentPlaceholder : kVideoPlaceholder);
      rest.remove_prefix(mark + (document < video ? kDocumentMark : kVideoMark).size());
    }
    encode(rest);
    plain.clear();
  };
  for (const TemplatePiece& piece : pieces) {
    if (piece.from_user) {
      plain += piece.text;
      continue;
    }
    std::size_t at = 0;
    for (const std::int64_t id : tokenizer.encode(piece.text, SpecialText::kParse)) {
      if (!tokenizer.is_special(id)) continue;
      const std::string_view token = tokenizer.token_bytes(id);
      const std::size_t found = piece.text.find(token, at);
      require(found != std::string::npos, "a special token must stand in the text it was found in");
      plain.append(piece.text, at, found - at);
      flush();
      ids.push_back(id);
      at = found + token.size();
    }
    plain.append(piece.text, at);
  }
  flush();
  return ids;
}

// What the tokenizer puts before a text, where the template has not written it. transformers does so for models that see, whose prompts go
// through a processor; for others the template writes everything.
std::span<const std::int64_t> missing_prefix(const LoadedModel& model, std::span<const std::int64_t> ids, std::size_t cached) {
  const std::span<const std::int64_t> prefix = model.tokenizer->prefix();
  const bool written = !prefix.empty() && !ids.empty() && ids.front() == prefix.front();
  return cached > 0 || written || !model.network->info().traits.sees ? std::span<const std::int64_t>() : prefix;
}

// Text of the new segment: the thread's rendering without what the cache stands for. The cached answer's own text is in the cache, what the
// template writes after it is not.
std::vector<TemplatePiece> segment_pieces(const LoadedModel& model, const std::vector<TemplateMessage>& messages, std::size_t cached) {
  const ChatTemplate& chat_template = template_of(model, messages);
  const std::vector<TemplatePiece> whole = chat_template.render(messages, AddGenerationPrompt::kYes);
  if (cached == 0) return whole;
  const std::vector<TemplateMessage> known(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(cached));
  const std::vector<TemplatePiece> before = chat_template.render(known, AddGenerationPrompt::kNo);
  const std::string before_text = joined(before);
  if (joined(whole).compare(0, before_text.size(), before_text) != 0) return {};
  // The tail after the last text that came from a message.
  std::size_t tail = 0;
  for (auto piece = before.rbegin(); piece != before.rend() && !piece->from_user; ++piece) tail += piece->text.size();
  return without_prefix(whole, before_text.size() - tail);
}

std::string two_decimals(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string frame_times(const VideoTimes& times, double interval_s) {
  const bool all = std::ssize(times.times_s) == times.frames;
  std::string text;
  for (int frame = 0; frame < times.frames; ++frame) {
    const double at_s = all ? times.times_s[static_cast<std::size_t>(frame)] : times.first_s() + frame * interval_s;
    text += (frame > 0 ? "," : "") + two_decimals(at_s) + "s";
  }
  return text;
}

}  // namespace

std::string time_instruction(const std::string& pattern, const VideoTimes& times) {
  const double interval_s = times.frames > 0 ? times.duration_s / times.frames : 0.0;
  const std::pair<std::string, std::string> values[] = {{"{duration_s}", std::to_string(std::llround(times.duration_s))},
                                                        {"{exact_duration_s}", two_decimals(times.duration_s)},
                                                        {"{frames}", std::to_string(times.frames)},
                                                        {"{interval_s}", two_decimals(interval_s)},
                                                        {"{frame_times}", frame_times(times, interval_s)}};
  std::string text = pattern;
  for (const auto& [name, value] : values) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
      text.replace(at, name.size(), value);
  }
  return text;
}

PromptSegment build_prompt(const LoadedModel& model, std::span<const Message> thread, std::size_t cached, const PromptMedia& media,
                           TimeInstruction times) {
  const std::vector<TemplateMessage> messages = template_messages(model, thread, cached, media.videos, times);
  // After a question the cache holds the template's start of its answer; the answer itself comes first then.
  const bool answer_begun = cached > 0 && cached < thread.size() && thread[cached - 1].role == Role::kUser;
  std::vector<TemplatePiece> pieces = segment_pieces(model, messages, answer_begun ? cached + 1 : cached);
  if (answer_begun && !pieces.empty()) {
    std::string answer;
    for (const TemplateContent& content : messages[cached].content) answer += content.text;
    pieces.insert(pieces.begin(), {answer, true});
  }
  if (pieces.empty()) {
    throw Exception(ErrorCode::kUnsupportedModel, "chat template", "renders a conversation's beginning differently once it goes on");
  }
  PromptSegment segment;
  // Behind a cached answer its end-of-turn text goes on; an answer that comes first begins behind the template's text.
  const bool goes_on = cached > 0 && !answer_begun;
  pieces = with_text_around(model, std::move(pieces), media);
  segment.token_ids = encode_pieces(model, pieces, goes_on ? TextStart::kContinued : TextStart::kNew);
  const std::span<const std::int64_t> prefix = missing_prefix(model, segment.token_ids, cached);
  segment.token_ids.insert(segment.token_ids.begin(), prefix.begin(), prefix.end());

  // Placeholders come in the template's order: per message usually images first, then videos, then documents with the text.
  struct Waiting {
    std::int64_t placeholder;
    std::vector<std::size_t> items{};
    std::size_t next = 0;
  };
  std::array<Waiting, 3> kinds = {{{model.network->image_token_id()}, {model.network->video_token_id()}, {kDocumentPlaceholder}}};
  std::size_t item_number = 0;
  for (std::size_t m = cached; m < thread.size(); ++m) {
    for (const Item& item : thread[m].items) {
      const auto* attached = std::get_if<MediaItem>(&item);
      if (attached == nullptr) continue;
      const std::size_t kind = attached->media.kind == MediaKind::kImage ? 0 : attached->media.kind == MediaKind::kVideo ? 1 : 2;
      kinds[kind].items.push_back(item_number++);
    }
  }
  for (std::size_t i = 0; i < segment.token_ids.size(); ++i) {
    auto* const kind = std::ranges::find(kinds, segment.token_ids[i], &Waiting::placeholder);
    if (kind == kinds.end()) continue;
    if (kind->next == kind->items.size())
      throw Exception(ErrorCode::kUnsupportedModel, "chat template", "writes more media placeholders than there are media");
    segment.media_at.push_back(i);
    segment.media_item.push_back(kind->items[kind->next++]);
  }
  if (!std::ranges::all_of(kinds, [](const Waiting& kind) { return kind.next == kind.items.size(); })) {
    throw Exception(ErrorCode::kUnsupportedModel, "chat template", "does not write a placeholder for everything that is attached");
  }

  if (cached == 0) {
    // Everything before the first user turn: the system messages as the template writes them alone.
    std::vector<TemplateMessage> system;
    for (std::size_t m = 0; m < thread.size() && thread[m].role == Role::kSystem; ++m) system.push_back(messages[m]);
    if (!system.empty()) {
      segment.system_tokens =
          prefix.size() +
          encode_pieces(model, template_of(model, messages).render(system, AddGenerationPrompt::kNo), TextStart::kNew).size();
      segment.system_tokens = std::min(segment.system_tokens, segment.token_ids.size());
    }
  }
  return segment;
}

TokenRange words_asked(const LoadedModel& model, std::span<const Message> thread, std::size_t cached, const PromptMedia& media,
                       const PromptSegment& prompt) {
  std::vector<Message> silent(thread.begin(), thread.end());
  std::vector<Item>& items = silent.back().items;
  std::erase_if(items, [](const Item& item) { return std::holds_alternative<TextItem>(item); });
  items.emplace_back(TextItem{});
  const std::vector<std::int64_t> without = build_prompt(model, silent, cached, media).token_ids;
  const std::vector<std::int64_t>& with = prompt.token_ids;
  const auto [word, after] = std::mismatch(with.begin(), with.end(), without.begin(), without.end());
  const auto [last, before] =
      std::mismatch(with.rbegin(), std::make_reverse_iterator(word), without.rbegin(), std::make_reverse_iterator(after));
  return {static_cast<std::size_t>(word - with.begin()), static_cast<std::size_t>(last.base() - with.begin())};
}

}  // namespace winnow
