// One question of an evaluation: media, wording, right answers, and how an answer is judged. Plain data.
//
// Made by the dataset reader; used by everything else in this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/messages/requests.h"

namespace winnow::app {

// How an answer is judged against the golds. The definitions are in answer_metrics.h and scene_facts.h.
enum class AnswerMetric : int {
  kExact = 1,
  kAccuracy = 2,
  kAnls = 3,
  kRougeL = 4,
  kContains = 5,
  kRelaxed = 6,      // ChartQA: numbers within 5 %
  kVqa = 7,          // TextVQA: share of ten people who said the same
  kFacts = 8,        // demo world: the words that carry the fact
  kTime = 9,         // demo world: seconds within a tolerance
  kPerplexity = 10,  // of the first gold, read as the answer token by token; nothing is written
};
std::string metricName(AnswerMetric metric);
std::optional<AnswerMetric> metricByName(std::string_view name);
std::vector<std::string> metricNames();

struct EvaluationItem {
  std::string id;                   // unique within an evaluation
  std::vector<MediaRequest> media;  // in prompt order
  // "{image#1}" stands for the first medium, and so on; media that no mark places come before the text.
  std::string question;
  std::vector<std::string> golds;  // at least one
  AnswerMetric metric = AnswerMetric::kExact;
  std::string group;        // a column of the tables (kind of question, task); may be empty
  std::string cluster;      // what questions have in common that are no independent draws (one document); may be empty
  double toleranceS = 1.0;  // metric time
};

// The user's message: media and text as the question places them.
Message messageOf(const EvaluationItem& item);

}  // namespace winnow::app
