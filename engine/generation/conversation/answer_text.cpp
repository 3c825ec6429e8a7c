#include "engine/generation/conversation/answer_text.h"

#include <algorithm>

namespace winnow {
namespace {

constexpr std::size_t kLastTokens = 16;  // of a prompt, in which the mark of a thought's beginning stands

// Special tokens that are a part of the answer: without them a box is numbers among others.
constexpr std::string_view kBoxMarks[] = {
    "<|box_start|>", "<|box_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<box>", "</box>", "<ref>", "</ref>",
    "<point>",       "</point>",    "<|begin_of_box|>",     "<|end_of_box|>"};

bool is_box_mark(std::string_view mark) { return std::ranges::find(kBoxMarks, mark) != std::end(kBoxMarks); }

// The tokens of an answer, in which the marks of boxes are the special tokens that they were.
std::vector<std::int64_t> answer_tokens(const Tokenizer& tokenizer, std::string_view answer, TextStart start) {
  std::vector<WrittenText> stretches;
  std::size_t from = 0;
  for (std::size_t at = answer.find('<'); at != std::string_view::npos; at = answer.find('<', at + 1)) {
    const auto known = std::ranges::find_if(kBoxMarks, [&](std::string_view mark) { return answer.substr(at).starts_with(mark); });
    if (known == std::end(kBoxMarks)) continue;
    stretches.push_back({answer.substr(from, at - from), SpecialText::kAsText});
    stretches.push_back({*known, SpecialText::kParse});
    from = at + known->size();
  }
  stretches.push_back({answer.substr(from), SpecialText::kAsText});
  return tokenizer.encode(stretches, start);
}

}  // namespace

ThoughtStart thought_start(const LoadedModel& model, std::span<const std::int64_t> prompt) {
  if (!model.thoughts) return ThoughtStart::kUnsaid;
  std::vector<std::int64_t> last;
  for (std::size_t i = prompt.size() - std::min(prompt.size(), kLastTokens); i < prompt.size(); ++i) {
    if (prompt[i] >= 0) last.push_back(prompt[i]);  // of text
  }
  const std::string text = model.tokenizer->decode(last, SpecialTokens::kKeep);
  return ends_in_thought(text, model.thoughts->tags) ? ThoughtStart::kOpened : ThoughtStart::kUnsaid;
}

AnswerText::AnswerText(const LoadedModel& model, ThoughtStart start)
    : AnswerText(model, Detokenizer(*model.tokenizer, SpecialTokens::kSkip),
                 ThoughtSplitter(model.thoughts ? std::optional(model.thoughts->tags) : std::nullopt, start)) {}

AnswerText AnswerText::of_plain_text(const LoadedModel& model) {
  return {model, Detokenizer(*model.tokenizer, SpecialTokens::kSkip, TextStart::kContinued), ThoughtSplitter(std::nullopt)};
}

SplitText AnswerText::split(std::string_view text) {
  const bool was_thinking = thinking();
  SplitText told = splitter_.push(text);
  if (was_thinking || thinking() || !told.thought.empty()) thought_tokens_ = tokens_;
  return told;
}

SplitText AnswerText::push(std::int64_t token) {
  ++tokens_;
  const Tokenizer& tokenizer = *model_.tokenizer;
  if (!tokenizer.is_special(token)) return split(detokenizer_.push(token));
  const std::string_view mark = tokenizer.token_bytes(token);
  return split(!mark.empty() && (splitter_.expects(mark) || is_box_mark(mark)) ? mark : std::string_view());
}

SplitText AnswerText::flush() {
  SplitText told = split(detokenizer_.flush());
  SplitText rest = splitter_.flush();
  return {told.thought + rest.thought, told.answer + rest.answer};
}

std::vector<std::int64_t> closing_tokens(const LoadedModel& model) {
  return model.tokenizer->encode(model.thoughts->tags.closing, SpecialText::kParse, TextStart::kContinued);
}

void ThoughtLimit::follow(const AnswerText& text, std::int64_t token) {
  if (forced() == token) {
    closing_.erase(closing_.begin());
  } else if (most_ >= 0 && text.thinking() && text.thought_tokens() >= most_) {
    closing_ = closing_tokens(model_);
  } else {
    closing_.clear();
  }
}

std::vector<std::int64_t> written_tokens(const LoadedModel& model, ThoughtStart start, const std::string& thought,
                                         const std::string& answer) {
  const Tokenizer& tokenizer = *model.tokenizer;
  if (!model.thoughts || (thought.empty() && start == ThoughtStart::kUnsaid)) return answer_tokens(tokenizer, answer, TextStart::kNew);
  std::vector<std::int64_t> ids;
  const auto add = [&ids](const std::vector<std::int64_t>& more) { ids.insert(ids.end(), more.begin(), more.end()); };
  if (start == ThoughtStart::kUnsaid)
    add(tokenizer.encode(std::string(model.thoughts->tags.begin).append(model.thoughts->tags.after_begin), SpecialText::kParse));
  add(tokenizer.encode(thought, SpecialText::kAsText, TextStart::kContinued));
  if (answer.empty()) return ids;
  add(closing_tokens(model));
  add(tokenizer.encode(std::string(model.thoughts->tags.answer_begin), SpecialText::kParse, TextStart::kContinued));
  add(answer_tokens(tokenizer, answer, TextStart::kContinued));
  return ids;
}

}  // namespace winnow
