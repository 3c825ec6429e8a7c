// Scripts for Compare and Score: what a comparison and a check say, without a model.
//
// Used through scripted_engine.h. The events of each column are those of answer_script for its recipe, in the order that was asked for.
// Differences of agreements are the words that differ at the same place, so tests can count them. Threads: any.
#pragma once

#include "tests/support/scripted_engine.h"

namespace winnow::test {

// answers: one per recipe; too few: the last again. The first answer of a recipe `full`, else the first, is what the full cache says.
// Methods that prune tokens have a prefill of their own.
Script compare_script(const Request& request, const std::vector<std::string>& answers, std::chrono::milliseconds word_delay = {},
                      int layers = 4);
// The full cache would have said `full_answer`.
Script score_script(const Request& request, const std::string& full_answer, std::chrono::milliseconds step_delay = {});
Agreement agreement_between(const std::string& answer, const std::string& full_answer);

}  // namespace winnow::test
