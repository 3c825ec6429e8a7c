// The needle test's result by length and depth, per recipe: a picture (SVG) and a table (CSV) of the same cells.
//
// Built from the log of an evaluation over needleItems(). Used by the terminal's eval. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "app/evaluation/evaluation_run.h"

namespace winnow::app {

struct NeedleCell {
  int frames = 0;
  int depthPercent = 0;
  int answers = 0;     // 0: not asked yet
  double score = 0.0;  // share right
};

struct NeedleMap {
  GridRecipe recipe;
  std::vector<NeedleCell> cells;   // by length, then depth
  double achievedRetention = 0.0;  // mean share kept
};

std::vector<NeedleMap> needleMaps(const std::vector<EvaluationItem>& items, const EvaluationPlan& plan, const ItemLog& log);

std::string needleCsv(const std::vector<NeedleMap>& maps);
// One small map a recipe, a row of them per method: depth across, length down, the share right as colour and in every cell's tooltip.
std::string needleSvg(const std::vector<NeedleMap>& maps, const std::string& title);

}  // namespace winnow::app
