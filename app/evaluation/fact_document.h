// Documents for measuring what compression loses of a text: running text with six facts put in, and a question about each.
//
// The facts are a code, a city, a colour, a name, a day and an amount, one in each sixth of the document between two sentences of it, in
// seeded order. None of the text's own words name a fact's subject or value, so that an answer comes from the fact or from nowhere. The
// same text, size, number and seed are the same bytes everywhere. Used by the terminal's eval; opened as kind "facts" of text_document.h.
// Pure; any thread. Errors: Exception(kInvalidArgument) for a text that is too short.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/evaluation/evaluation_item.h"
#include "app/evaluation/text_document.h"

namespace winnow::app {

inline constexpr int kFactsInADocument = 6;
inline constexpr const char* kFactsKind = "facts";

struct Fact {
  std::string kind;  // "code"
  std::string subject;
  std::string sentence;
  std::string question;
  std::vector<std::string> golds;  // the value as answers write it; the first as the sentence does
};

struct FactDocument {
  std::string text;         // paragraphs parted by an empty line
  std::vector<Fact> facts;  // in the order in which they are asked
};
FactDocument factDocument(const RunningText& text, const TextDocumentSpec& spec);

// Six items a document, next to each other; metric contains, group "1000 words", cluster the document.
std::vector<EvaluationItem> factItems(const RunningText& text, const std::vector<int>& lengths, int documents, std::uint64_t seed);

}  // namespace winnow::app
