// Documents that an evaluation makes of running text: how they are named, drawn and opened.
//
// "facts:WORDS:NUMBER:SEED" names one of kind "facts"; TextDocumentOpener opens the names of one kind and leaves every other path to the
// opener behind it. Used by fact_document.h, held_text.h and the terminal's eval. Pure but for that; one thread per source. Errors:
// Exception(kInvalidArgument) for a malformed name and a text that is too short.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/evaluation/random_numbers.h"
#include "app/evaluation/running_text.h"
#include "engine/media/frame_source.h"

namespace winnow::app {

inline constexpr int kFewestDocumentWords = 100;
inline constexpr int kMostDocumentWords = 100'000;

struct TextDocumentSpec {
  int words = 1000;  // of the running text, up to the end of a sentence
  int number = 0;
  std::uint64_t seed = 0;
};
std::string textDocumentName(const std::string& kind, const TextDocumentSpec& spec);
std::optional<TextDocumentSpec> textDocumentSpec(const std::string& kind, const std::string& name);  // nothing for a name of something else

// What is drawn for this document and no other.
RandomNumbers randomOf(const TextDocumentSpec& spec);
// Paragraphs from one that is drawn on; `more` words behind those of the document.
std::vector<Sentences> drawnPart(const RunningText& text, const TextDocumentSpec& spec, RandomNumbers& random, int more = 0);

class TextDocumentOpener final : public MediaOpener {
 public:
  using TextOf = std::function<std::string(const TextDocumentSpec&)>;
  TextDocumentOpener(std::unique_ptr<MediaOpener> files, std::string kind, TextOf textOf)
      : m_files(std::move(files)), m_kind(std::move(kind)), m_textOf(std::move(textOf)) {}
  std::unique_ptr<FrameSource> open(const MediaRequest& request, const InterruptToken& interrupt) override;

 private:
  const std::unique_ptr<MediaOpener> m_files;
  const std::string m_kind;
  const TextOf m_textOf;
};

}  // namespace winnow::app
