#include "engine/generation/segment/thread_text.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/generation/segment/prompt_ids.h"
#include "engine/generation/segment/time_instruction.h"
#include "engine/text/thought_splitter.h"

namespace winnow {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kSpaces = " \t\r\n";

std::string without_marks(std::string text) {
  for (const std::string_view mark : {kDocumentMark, kVideoMark}) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) text.replace(at, mark.size(), kReplacement);
  }
  return text;
}

bool is_text(const TemplateContent& part) { return part.kind == TemplateContent::Kind::kText; }

// A family may have its own way to write threads with a video.
const ChatTemplate& template_of(const LoadedModel& model, std::span<const Message> messages) {
  const bool videos = std::ranges::any_of(messages, [](const Message& message) {
    return std::ranges::any_of(message.items, [](const Item& item) {
      const auto* medium = std::get_if<MediaItem>(&item);
      return medium != nullptr && medium->media.kind == MediaKind::kVideo;
    });
  });
  return videos && model.video_template ? *model.video_template : *model.chat_template;
}

TemplateVariables variables(const PromptSettings& settings, AddGenerationPrompt prompt) {
  TemplateVariables given{prompt, std::nullopt, settings.day};
  if (settings.thinking != Thinking::kAsTheTemplateHasIt) given.thinks = settings.thinking == Thinking::kOn;
  return given;
}

// The thread as the template language sees it.
std::vector<TemplateMessage> template_messages(const ThreadToRead& thread, std::span<const VideoTimes> videos, TimeInstruction times) {
  std::vector<TemplateMessage> messages;
  const std::string pattern = times == TimeInstruction::kNone ? "" : thread.model.network->info().time_instruction;
  std::size_t next_video = 0;
  for (std::size_t m = 0; m < thread.messages.size(); ++m) {
    const Message& message = thread.messages[m];
    TemplateMessage out;
    out.role = message.role == Role::kSystem ? "system" : message.role == Role::kUser ? "user" : "assistant";
    out.thought = without_marks(message.thought);
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
      if (media.kind != MediaKind::kVideo || m < thread.cached()) continue;
      if (!pattern.empty()) {
        require(next_video < videos.size(), "every new video needs its times");
        texts.push_back({TemplateContent::Kind::kText, time_instruction(pattern, videos[next_video])});
      }
      ++next_video;
    }
    out.content.insert(out.content.end(), texts.begin(), texts.end());
    messages.push_back(std::move(out));
  }
  return messages;
}

// How many messages of the system begin the thread.
std::size_t system_messages(std::span<const Message> messages) {
  const auto first = std::ranges::find_if(messages, [](const Message& message) { return message.role != Role::kSystem; });
  return static_cast<std::size_t>(first - messages.begin());
}

// For a template without a system prompt: what the system says, and an empty line, before the first question's words.
void join_system(std::vector<TemplateMessage>& messages, std::size_t count) {
  if (count == 0 || count == messages.size()) return;
  std::string said;
  for (std::size_t m = 0; m < count; ++m) {
    for (const TemplateContent& part : messages[m].content) said += part.text;
    said += "\n\n";
  }
  std::vector<TemplateContent>& question = messages[count].content;
  question.insert(std::ranges::find_if(question, is_text), {TemplateContent::Kind::kText, std::move(said)});
  messages.erase(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(count));
}

// The pieces and their text, with places counted in its bytes.
struct Rendering {
  explicit Rendering(std::vector<TemplatePiece> written) : pieces(std::move(written)) {
    for (const TemplatePiece& piece : pieces) text += piece.text;
  }

  std::vector<TemplatePiece> from(std::size_t bytes) const {
    std::vector<TemplatePiece> rest;
    for (const TemplatePiece& piece : pieces) {
      if (bytes < piece.text.size()) rest.push_back({piece.text.substr(bytes), piece.from_user, piece.message});
      bytes -= std::min(bytes, piece.text.size());
    }
    return rest;
  }

  // One after the last byte behind `at` that this message wrote without a break.
  std::size_t end_of_message(std::size_t at, std::size_t message) const {
    std::size_t end = 0;
    for (const TemplatePiece& piece : pieces) {
      end += piece.text.size();
      if (end > at) return piece.from_user && piece.message == message ? end : at;
    }
    return at;
  }

  std::size_t behind_spaces(std::size_t at) const { return std::min(text.find_first_not_of(kSpaces, at), text.size()); }

  std::vector<TemplatePiece> pieces;
  std::string text;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(kSpaces), text.size());
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

// The last answer as the cache has read it: with its thoughts, and the marks around them where it thought nothing.
std::string answer_in_cache(const ThreadToRead& thread) {
  const Message& answer = thread.held.thread.back();
  std::string said;
  for (const Item& item : answer.items) {
    if (const auto* text = std::get_if<TextItem>(&item)) said += without_marks(text->text);
  }
  std::span<const std::int64_t> ids = thread.held.answer_ids;
  if (!ids.empty() && thread.model.stop_token_ids.contains(ids.back())) ids = ids.first(ids.size() - 1);
  std::string written = thread.model.tokenizer->decode(ids, SpecialTokens::kKeep);
  if (!answer.thought.empty()) return written;
  // Text cut off at a stop string and hidden special tokens are no part of what was said.
  const std::optional<FoundTags>& thoughts = thread.model.thoughts;
  const bool marked =
      thoughts && written.find(thoughts->tags.end) != std::string::npos && said.find(thoughts->tags.end) == std::string::npos;
  if (!marked) return said;
  std::string_view words = trimmed(written);
  if (words.ends_with(thoughts->tags.answer_end)) words = trimmed(words.substr(0, words.size() - thoughts->tags.answer_end.size()));
  return words.ends_with(trimmed(said)) ? written : said;
}

// The start of what is new in the rendering of the whole. begun: what the cache was given before the answer. White space between the two,
// and behind the answer, may differ: templates trim.
std::optional<std::size_t> new_from(const Rendering& whole, std::string_view begun, const std::optional<std::string>& answer,
                                    std::size_t answer_number) {
  if (!answer && whole.text.starts_with(begun)) return begun.size();
  begun = begun.substr(0, begun.find_last_not_of(kSpaces) + 1);
  if (!whole.text.starts_with(begun)) return std::nullopt;
  const std::size_t at = whole.behind_spaces(begun.size());
  if (!answer) return at;
  const std::string_view said = trimmed(*answer);
  if (!std::string_view(whole.text).substr(at).starts_with(said)) return std::nullopt;
  const std::size_t end = at + said.size();
  const std::size_t message_end = whole.end_of_message(end, answer_number);
  const bool spaces = whole.behind_spaces(end) >= message_end;
  return spaces ? std::optional(message_end) : std::nullopt;
}

// A thread of plain text: its only message, in which special tokens count.
std::vector<TemplatePiece> plain_text(const std::vector<TemplateMessage>& messages) {
  const bool plain = messages.size() == 1 && std::ranges::all_of(messages.front().content, is_text);
  if (!plain) throw Exception(ErrorCode::kInvalidArgument, "", "plain text is one message without attachments");
  TemplatePiece piece;
  for (const TemplateContent& part : messages.front().content) piece.text += part.text;
  return {std::move(piece)};
}

// With the start of the next answer. A model that shall not think, and whose template begins a thought all the same, has thought already.
Rendering rendered(const ThreadToRead& thread, const ChatTemplate& chat_template, const std::vector<TemplateMessage>& messages,
                   const PromptSettings& settings) {
  if (settings.form != PromptForm::kChatTemplate) return Rendering(plain_text(messages));
  std::vector<TemplatePiece> pieces = chat_template.render(messages, variables(settings, AddGenerationPrompt::kYes));
  const std::optional<FoundTags>& thoughts = thread.model.thoughts;
  if (settings.thinking == Thinking::kOff && thoughts && !pieces.empty() && !pieces.back().from_user &&
      ends_in_thought(pieces.back().text, thoughts->tags)) {
    pieces.back().text += thoughts->tags.closing;
  }
  return Rendering(std::move(pieces));
}

bool ends_in_token(const Tokenizer& tokenizer, std::span<const TemplatePiece> pieces) {
  return !pieces.empty() && !pieces.back().from_user && tokenizer.ends_in_added_token(pieces.back().text);
}

}  // namespace

bool system_joins_question(const LoadedModel& model, std::span<const Message> messages) {
  const std::size_t count = system_messages(messages);
  return count > 0 && count < messages.size() && !template_of(model, messages).has_system_prompt();
}

std::optional<UnreadText> unread_text(const ThreadToRead& thread, std::span<const VideoTimes> videos, TimeInstruction times) {
  const ChatTemplate& chat_template = template_of(thread.model, thread.messages);
  std::vector<TemplateMessage> messages = template_messages(thread, videos, times);
  const std::size_t joined = system_joins_question(thread.model, thread.messages) ? system_messages(thread.messages) : 0;
  const bool joined_then = thread.cached() > 0 && system_joins_question(thread.model, thread.messages.first(thread.cached()));
  if (thread.cached() > 0 && joined_then != (joined > 0)) return std::nullopt;
  join_system(messages, joined);
  const Rendering whole = rendered(thread, chat_template, messages, thread.settings);
  if (thread.cached() == 0) return UnreadText{whole.pieces, TextStart::kNew};
  const std::size_t cached = thread.cached() - joined;
  const std::size_t asked = thread.behind_an_answer() ? cached - 1 : cached;
  // The prompt of that time, by the settings of then.
  const ChatTemplate& earlier = template_of(thread.model, thread.messages.first(thread.cached()));
  const std::vector<TemplateMessage> before(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(asked));
  const Rendering begun = rendered(thread, earlier, before, thread.held.settings);
  std::optional<std::string> answer;
  if (thread.behind_an_answer()) answer = answer_in_cache(thread);
  const std::optional<std::size_t> at = new_from(whole, begun.text, answer, cached - 1);
  if (!at) return std::nullopt;
  const bool after_words = (answer && !answer->empty()) || !ends_in_token(*thread.model.tokenizer, begun.pieces);
  return UnreadText{whole.from(*at), after_words ? TextStart::kContinued : TextStart::kAfterToken};
}

bool goes_on(const ThreadToRead& thread) { return thread.cached() == 0 || unread_text(thread, {}, TimeInstruction::kNone).has_value(); }

std::vector<TemplatePiece> system_text(const ThreadToRead& thread) {
  const std::size_t count = system_messages(thread.messages);
  if (count == 0 || system_joins_question(thread.model, thread.messages)) return {};
  const ChatTemplate& chat_template = template_of(thread.model, thread.messages);
  const TemplateVariables given = variables(thread.settings, AddGenerationPrompt::kNo);
  std::vector<TemplateMessage> messages = template_messages(thread, {}, TimeInstruction::kNone);
  try {
    return chat_template.render({messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(count)}, given);
  } catch (const Exception&) {
    // Qwen3.5 refuses a conversation without a question.
    std::vector<TemplatePiece> pieces = chat_template.render(messages, given);
    const auto of_system = [&](const TemplatePiece& piece) { return piece.from_user && piece.message < count; };
    pieces.erase(std::find_if(pieces.rbegin(), pieces.rend(), of_system).base(), pieces.end());
    return pieces;
  }
}

}  // namespace winnow
