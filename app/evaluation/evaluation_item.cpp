#include "app/evaluation/evaluation_item.h"

#include <array>
#include <utility>

namespace winnow::app {
namespace {

constexpr std::array<std::pair<AnswerMetric, std::string_view>, 10> kMetrics = {{{AnswerMetric::kExact, "exact"},
                                                                                 {AnswerMetric::kAccuracy, "accuracy"},
                                                                                 {AnswerMetric::kAnls, "anls"},
                                                                                 {AnswerMetric::kRougeL, "rouge-l"},
                                                                                 {AnswerMetric::kContains, "contains"},
                                                                                 {AnswerMetric::kRelaxed, "relaxed"},
                                                                                 {AnswerMetric::kVqa, "vqa"},
                                                                                 {AnswerMetric::kFacts, "facts"},
                                                                                 {AnswerMetric::kTime, "time"},
                                                                                 {AnswerMetric::kPerplexity, "perplexity"}}};

std::string mark(std::size_t number) { return "{image#" + std::to_string(number) + "}"; }

}  // namespace

std::string metricName(AnswerMetric metric) {
  for (const auto& [known, name] : kMetrics) {
    if (known == metric) return std::string(name);
  }
  return {};
}

std::optional<AnswerMetric> metricByName(std::string_view name) {
  for (const auto& [metric, known] : kMetrics) {
    if (known == name) return metric;
  }
  return std::nullopt;
}

std::vector<std::string> metricNames() {
  std::vector<std::string> names;
  for (const auto& [metric, name] : kMetrics) names.emplace_back(name);
  return names;
}

Message messageOf(const EvaluationItem& item) {
  Message message;
  std::vector<bool> placed(item.media.size());
  std::vector<Item> body;
  std::string text;
  const auto endText = [&] {
    if (!text.empty()) body.emplace_back(TextItem{std::exchange(text, {})});
  };
  for (std::size_t at = 0; at < item.question.size();) {
    bool isMark = false;
    for (std::size_t m = 0; m < item.media.size() && item.question[at] == '{' && !isMark; ++m) {
      if (placed[m] || item.question.compare(at, mark(m + 1).size(), mark(m + 1)) != 0) continue;
      endText();
      body.emplace_back(MediaItem{item.media[m]});
      placed[m] = isMark = true;
      at += mark(m + 1).size();
    }
    if (!isMark) text += item.question[at++];
  }
  endText();
  for (std::size_t m = 0; m < item.media.size(); ++m) {
    if (!placed[m]) message.items.emplace_back(MediaItem{item.media[m]});
  }
  for (Item& part : body) message.items.push_back(std::move(part));
  return message;
}

}  // namespace winnow::app
