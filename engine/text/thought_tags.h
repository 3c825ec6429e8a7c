// The marks that models write around what they think before they answer, and some around the answer behind it: one table, from which a
// model's row is found by its chat template or, where that says nothing, by its tokenizer.
//
// Used by engine/generation: when a model is loaded (LoadedModel), where an answer is split (AnswerText), where an answer is read again and
// where a thought is ended for the model. Threads: any.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace winnow {

class Tokenizer;

struct ThoughtTags {
  std::string_view begin;              // "<think>"
  std::string_view end;                // "</think>"
  std::string_view after_begin;        // what stands between `begin` and the first thought where the prompt does not say: "\n"
  std::string_view closing;            // `end` with the white space that models write around it
  std::string_view answer_begin = {};  // "<response>", behind a thought; empty: the answer has no marks
  std::string_view answer_end = {};    // "</response>"

  // A token of the vocabulary that `begin` begins with, where there is one.
  std::string_view first_token() const { return begin.substr(0, begin.find('>') + 1 == 0 ? begin.size() : begin.find('>') + 1); }
};

struct FoundTags {
  ThoughtTags tags;
  bool by_template = false;  // false: only the tokenizer knows them
};

std::span<const ThoughtTags> known_thought_tags();

// chat_template: its source. Nothing: neither knows any.
std::optional<FoundTags> find_thought_tags(std::string_view chat_template, const Tokenizer& tokenizer);

}  // namespace winnow
