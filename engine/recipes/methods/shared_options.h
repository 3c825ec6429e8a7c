// Options that several methods have under the same name.
#pragma once

#include "engine/recipes/method_options.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {

// How the query heads of a group are joined.
inline GroupReduce group_reduce(OptionReader& options) {
  return options.choice<GroupReduce>("gqa_reduce",
                                     {{"mean", GroupReduce::kMean}, {"max", GroupReduce::kMaximum}, {"sum", GroupReduce::kSum}});
}

}  // namespace winnow
