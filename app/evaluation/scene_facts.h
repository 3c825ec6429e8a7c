// The demo world's rule for a right answer, the same as resources/demo/make/score.py (a golden file holds the two together).
//
// Right is what names the words that carry the fact (colour, shape, letter, number) and no wrong one beside them. Case, punctuation and
// articles do not matter. A list or description must name the whole ordered sequence, a description also the number of things.
// Used by answer_metrics.h (metrics facts and time). Pure; UTF-8; any thread.
#pragma once

#include <string>

namespace winnow::app {

// `kind`: list and describe want the whole sequence; after, before, first and last want every fact, also those of the question; count takes
// "no" as 0; every other kind wants what the question does not say already.
bool factsAreRight(const std::string& kind, const std::string& question, const std::string& truth, const std::string& answer);

// Exactly one number, at most max(1, toleranceS) from the true one. A truth without a time ("There is no red star.") wants a denial that
// names no other thing.
bool timeIsRight(const std::string& truth, const std::string& answer, double toleranceS);

}  // namespace winnow::app
