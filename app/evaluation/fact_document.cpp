#include "app/evaluation/fact_document.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "app/evaluation/answer_metrics.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

using Words = std::vector<std::string>;

// How a kind of fact is written: %s the subject, then the value.
struct FactForm {
  const char* kind;
  const char* sentence;
  const char* question;
  Words subjects;
  Words values;  // none: drawn numbers
};

const std::array<FactForm, kFactsInADocument>& forms() {
  static const std::array<FactForm, kFactsInADocument> kForms = {
      {{"code",
        "The access code of %s is %s.",
        "What is the access code of %s?",
        {"the north gate", "the boat house", "the wine cellar", "the observatory", "the greenhouse", "the east tower", "the music room",
         "the tool shed"},
        {}},
       {"city",
        "The next meeting of %s takes place in %s.",
        "In which city does the next meeting of %s take place?",
        {"the chess club", "the beekeepers", "the glass makers", "the mountain guides", "the puppet players", "the clock makers",
         "the choir leaders", "the potters"},
        {"Lisbon", "Oslo",    "Vienna", "Prague", "Dublin",  "Madrid", "Athens", "Warsaw",  "Helsinki", "Cairo",   "Toronto", "Sydney",
         "Lima",   "Nairobi", "Kyoto",  "Geneva", "Hamburg", "Naples", "Porto",  "Seville", "Zurich",   "Glasgow", "Krakow",  "Havana"}},
       {"color",
        "The door of %s is painted %s.",
        "What color is the door of %s?",
        {"the bakery", "the theatre", "the fire station", "the pharmacy", "the post office", "the ferry office", "the brewery",
         "the town hall"},
        {"red", "blue", "green", "yellow", "orange", "purple", "pink", "brown", "black", "white", "gray", "turquoise"}},
       {"name",
        "The keeper of %s is %s.",
        "Who is the keeper of %s?",
        {"the lighthouse", "the museum", "the aquarium", "the windmill", "the castle", "the bird park", "the stables", "the water mill"},
        {"Martha Keller", "Peter Lindgren", "Sofia Rossi", "Thomas Berger", "Helen Novak", "Martin Dubois", "Clara Jensen", "Victor Santos",
         "Emma Fischer", "Daniel Murphy", "Laura Costa", "Simon Walsh", "Nina Petrov", "Oscar Meyer", "Julia Moreno", "Robert Tanaka"}},
       {"day",
        "%s begins on %s.",
        "On which day does %s begin?",
        {"the lantern festival", "the rowing race", "the book fair", "the flower show", "the kite contest", "the film week",
         "the harvest dance", "the jazz weekend"},
        {"January", "February", "March", "April", "June", "July", "August", "September", "October", "November", "December"}},
       {"amount",
        "A season ticket for %s costs %s dollars.",
        "How much does a season ticket for %s cost?",
        {"the swimming pool", "the ice rink", "the cable car", "the zoo", "the concert hall", "the ski lift", "the steam railway",
         "the tennis courts"},
        {}}}};
  return kForms;
}

std::string filled(std::string form, const Words& words) {
  for (const std::string& word : words) form.replace(form.find("%s"), 2, word);
  return form;
}

template <class Value>
const Value& oneOf(const std::vector<Value>& values, RandomNumbers& random) {
  return values[random.below(values.size())];
}

Words valueOf(const FactForm& form, RandomNumbers& random) {
  const std::string kind = form.kind;
  if (kind == "code") return {std::to_string(1000 + random.below(9000))};
  if (kind == "amount") return {std::to_string(101 + random.below(899))};
  const std::string& drawn = oneOf(form.values, random);
  if (kind != "day") return {drawn};
  const std::string day = std::to_string(13 + random.below(8));  // 13th to 20th: one ending of ordinals
  return {day + " " + drawn, drawn + " " + day, day + "th " + drawn, drawn + " " + day + "th", day + "th of " + drawn};
}

void shuffle(std::vector<std::size_t>& order, RandomNumbers& random) {
  for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
}

std::vector<std::size_t> shuffledKinds(RandomNumbers& random) {
  std::vector<std::size_t> order(kFactsInADocument);
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(order, random);
  return order;
}

std::string capitalised(std::string sentence) {
  if (sentence.front() == 't') sentence.front() = 'T';  // "the ..."
  return sentence;
}

// A fact that `plain` says nothing of.
Fact factOf(const FactForm& form, const std::string& plain, RandomNumbers& random) {
  constexpr int kTries = 1000;
  for (int tried = 0; tried < kTries; ++tried) {
    Fact fact;
    fact.kind = form.kind;
    fact.subject = oneOf(form.subjects, random);
    fact.golds = valueOf(form, random);
    Words named = fact.golds;
    named.push_back(fact.subject);
    if (containsGold(plain, named) > 0.0) continue;
    fact.sentence = capitalised(filled(form.sentence, {fact.subject, fact.golds.front()}));
    fact.question = filled(form.question, {fact.subject});
    return fact;
  }
  throw Exception(ErrorCode::kInvalidArgument, form.kind, "every fact of this kind stands in the text itself");
}

struct Place {
  std::size_t paragraph = 0;
  std::size_t before = 0;  // sentence of it
};

// Between sentences: one in each part of equal length, in order.
std::vector<Place> placesIn(const std::vector<Sentences>& paragraphs, RandomNumbers& random) {
  std::vector<Place> gaps;
  for (std::size_t p = 0; p < paragraphs.size(); ++p) {
    for (std::size_t s = 0; s < paragraphs[p].size(); ++s) gaps.push_back({p, s});
  }
  if (gaps.size() < kFactsInADocument) throw Exception(ErrorCode::kInvalidArgument, "", "the text has fewer sentences than facts");
  std::vector<Place> places;
  for (std::size_t part = 0; part < kFactsInADocument; ++part) {
    const std::size_t from = part * gaps.size() / kFactsInADocument;
    const std::size_t to = (part + 1) * gaps.size() / kFactsInADocument;
    places.push_back(gaps[from + random.below(to - from)]);
  }
  return places;
}

}  // namespace

FactDocument factDocument(const RunningText& text, const TextDocumentSpec& spec) {
  RandomNumbers random = randomOf(spec);
  std::vector<Sentences> paragraphs = drawnPart(text, spec, random);
  const std::vector<Place> places = placesIn(paragraphs, random);
  const std::string plain = joinedText(paragraphs);
  std::vector<Fact> facts;
  for (const std::size_t kind : shuffledKinds(random)) facts.push_back(factOf(forms()[kind], plain, random));
  for (std::size_t i = facts.size(); i-- > 0;) {  // from the end: places before stay where they are
    Sentences& paragraph = paragraphs[places[i].paragraph];
    paragraph.insert(paragraph.begin() + static_cast<std::ptrdiff_t>(places[i].before), facts[i].sentence);
  }
  FactDocument document;
  document.text = joinedText(paragraphs);
  for (const std::size_t asked : shuffledKinds(random)) document.facts.push_back(facts[asked]);
  return document;
}

std::vector<EvaluationItem> factItems(const RunningText& text, const std::vector<int>& lengths, int documents, std::uint64_t seed) {
  std::vector<EvaluationItem> items;
  for (const int words : lengths) {
    for (int number = 0; number < documents; ++number) {
      const TextDocumentSpec spec{words, number, seed};
      for (const Fact& fact : factDocument(text, spec).facts) {
        EvaluationItem item;
        item.cluster = textDocumentName(kFactsKind, spec);
        item.id = item.cluster + ":" + fact.kind;
        MediaRequest media;
        media.path = item.cluster;
        media.kind = MediaKind::kDocument;
        item.media.push_back(media);
        item.question = fact.question;
        item.golds = fact.golds;
        item.metric = AnswerMetric::kContains;
        item.group = std::to_string(words) + " words";
        items.push_back(std::move(item));
      }
    }
  }
  return items;
}

}  // namespace winnow::app
