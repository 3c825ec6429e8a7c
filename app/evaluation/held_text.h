// Documents for measuring how much worse a text is foreseen after its beginning was compressed: running text and what follows it.
//
// The document is attached, and what follows is scored as the answer to the request to go on, token by token under teacher forcing
// (perplexity). Nothing in it is made up: unlike the facts of fact_document.h, what helps lies everywhere in the document. Used by the
// terminal's eval; opened as kind "held" of text_document.h. Pure; any thread. Errors: Exception(kInvalidArgument) for a text that is too
// short.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/evaluation/evaluation_item.h"
#include "app/evaluation/text_document.h"

namespace winnow::app {

inline constexpr const char* kHeldKind = "held";
inline constexpr int kHeldWords = 150;  // at least, up to the end of a sentence

struct HeldText {
  std::string text;  // the document; paragraphs parted by an empty line
  std::string next;  // what follows it
};
HeldText heldText(const RunningText& text, const TextDocumentSpec& spec);

// One item a document; metric perplexity, gold what follows, group "1000 words".
std::vector<EvaluationItem> heldItems(const RunningText& text, const std::vector<int>& lengths, int documents, std::uint64_t seed);

}  // namespace winnow::app
