// One line about how far an evaluation is: "120 of 480 answers, 2.1 a second, about 3 min left". Pure.
#pragma once

#include <string>

namespace winnow::app {

// The rate counts only what this run asked; without any there is none and no estimate.
std::string progressText(int done, int asked, int planned, double elapsedS);

}  // namespace winnow::app
