#include "app/evaluation/held_text.h"

#include <utility>

namespace winnow::app {
namespace {

constexpr const char* kRequest = "Continue this text, word for word as it goes on.";

}  // namespace

HeldText heldText(const RunningText& text, const TextDocumentSpec& spec) {
  RandomNumbers random = randomOf(spec);
  std::vector<Sentences> document, next;
  std::size_t words = 0;
  for (const Sentences& paragraph : drawnPart(text, spec, random, kHeldWords)) {
    std::vector<Sentences>* part = nullptr;
    for (const std::string& sentence : paragraph) {
      std::vector<Sentences>* const own = words < static_cast<std::size_t>(spec.words) ? &document : &next;
      if (own != part) own->emplace_back();
      part = own;
      part->back().push_back(sentence);
      words += wordsIn(sentence);
    }
  }
  return {joinedText(document), joinedText(next)};
}

std::vector<EvaluationItem> heldItems(const RunningText& text, const std::vector<int>& lengths, int documents, std::uint64_t seed) {
  std::vector<EvaluationItem> items;
  for (const int words : lengths) {
    for (int number = 0; number < documents; ++number) {
      const TextDocumentSpec spec{words, number, seed};
      EvaluationItem item;
      item.id = textDocumentName(kHeldKind, spec);
      MediaRequest media;
      media.path = item.id;
      media.kind = MediaKind::kDocument;
      item.media.push_back(media);
      item.question = kRequest;
      item.golds = {heldText(text, spec).next};
      item.metric = AnswerMetric::kPerplexity;
      item.group = std::to_string(words) + " words";
      items.push_back(std::move(item));
    }
  }
  return items;
}

}  // namespace winnow::app
