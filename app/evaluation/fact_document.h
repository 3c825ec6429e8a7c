// Documents for measuring what compression loses of a text: running text with six facts put in, and a question about each.
//
// The facts are a code, a city, a colour, a name, a day and an amount, one in each sixth of the document between two sentences of it, in
// seeded order. None of the text's own words name a fact's subject or value, so that an answer comes from the fact or from nowhere. The
// same text, size, number and seed are the same bytes everywhere. Used by the terminal's eval.
//
// "facts:WORDS:NUMBER:SEED" names a document; FactOpener opens such names and leaves every other path to the opener behind it. Pure but for
// that; one thread per source. Errors: Exception(kInvalidArgument) for a text that is too short, and for a malformed name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/evaluation/evaluation_item.h"
#include "app/evaluation/running_text.h"
#include "engine/media/frame_source.h"

namespace winnow::app {

inline constexpr int kFactsInADocument = 6;
inline constexpr int kFewestDocumentWords = 100;
inline constexpr int kMostDocumentWords = 100'000;

struct FactDocumentSpec {
  int words = 1000;  // of the running text, up to the end of a sentence
  int number = 0;
  std::uint64_t seed = 0;
};
std::string factDocumentName(const FactDocumentSpec& spec);
std::optional<FactDocumentSpec> factDocumentSpec(const std::string& name);  // nothing for a name of something else

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
FactDocument factDocument(const RunningText& text, const FactDocumentSpec& spec);

// Six items a document, next to each other; metric contains, group "1000 words", cluster the document.
std::vector<EvaluationItem> factItems(const RunningText& text, const std::vector<int>& lengths, int documents, std::uint64_t seed);

class FactOpener final : public MediaOpener {
 public:
  FactOpener(std::unique_ptr<MediaOpener> files, RunningText text) : m_files(std::move(files)), m_text(std::move(text)) {}
  std::unique_ptr<FrameSource> open(const MediaRequest& request, const InterruptToken& interrupt) override;

 private:
  const std::unique_ptr<MediaOpener> m_files;
  const RunningText m_text;
};

}  // namespace winnow::app
