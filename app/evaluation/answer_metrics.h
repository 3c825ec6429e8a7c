// Scores of an answer against right answers, each in [0, 1], the best over the golds: pure functions on UTF-8.
//
// Used by the evaluation run. Definitions: exact, ANLS (arXiv 1907.00490), ROUGE-L F1, accuracy, contains, ChartQA's relaxed accuracy
// (arXiv 2203.10244), VQA accuracy over ten people's answers (arXiv 1505.00468). The demo world's own rules are in scene_facts.h.
// Errors: none; malformed UTF-8 becomes U+FFFD. Any thread.
#pragma once

#include <string>
#include <vector>

#include "app/evaluation/evaluation_item.h"

namespace winnow::app {

// Lower case; punctuation and the articles a, an, the removed; runs of white space are one blank.
std::string normalisedAnswer(const std::string& text);

// 1 if the normalised strings are equal.
double exactMatch(const std::string& answer, const std::vector<std::string>& golds);

// Multiple choice (a gold that is one letter) and yes/no: the option that the answer names; other golds as exactMatch. The option is the
// whole answer, or the first letter written as (B), B) B. or B:, or the one after "answer is", "answer:" or "option", or the only capital
// letter that stands alone (A and I do not count there: they are words). Yes or no is the first of the two words.
double choiceAccuracy(const std::string& answer, const std::vector<std::string>& golds);

// 1 - NL if NL < 0.5, else 0; NL = Levenshtein distance in code points over the longer length; lower case, outer white space stripped.
double anls(const std::string& answer, const std::vector<std::string>& golds);

// F1 of the longest common subsequence of words (lower case, punctuation removed, articles kept).
double rougeL(const std::string& answer, const std::vector<std::string>& golds);

// 1 if a normalised gold stands in the normalised answer as whole words.
double containsGold(const std::string& answer, const std::vector<std::string>& golds);

// Numbers (a final % is divided by 100 on both sides) may differ by 5 % of the gold; texts are equal but for case and outer white space.
double relaxedMatch(const std::string& answer, const std::vector<std::string>& golds);

// Mean over the golds left out one at a time of min(1, equal others / 3), after the normalisation of exactMatch. Fewer than two golds:
// exact.
double vqaAccuracy(const std::string& answer, const std::vector<std::string>& golds);

// By the item's metric. Perplexity judges no answer: 0.
double scoreOf(const EvaluationItem& item, const std::string& answer);

}  // namespace winnow::app
