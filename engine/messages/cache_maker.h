// Which recipes made a cache what it is.
//
// Kept with a conversation and its file, told by CacheReport and Planned, saved with answers, and named again by the next Turn, so that
// what an answer says of its cache comes from what made it, whatever is chosen since. Plain data; threads: any.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

#include "engine/recipes/recipe_spec.h"

namespace winnow {

struct CacheMaker {
  RecipeSpec recipe;      // as it was asked for
  bool attached = false;  // it had a say in what is left of images, videos and documents

  friend bool operator==(const CacheMaker&, const CacheMaker&) = default;
};

// In the order in which they first read something into it; each recipe once. Empty: nothing was read.
using CacheMakers = std::vector<CacheMaker>;

inline void note_maker(CacheMakers& makers, const RecipeSpec& recipe, bool attached) {
  const auto known = std::find_if(makers.begin(), makers.end(), [&](const CacheMaker& maker) { return maker.recipe == recipe; });
  if (known == makers.end()) {
    makers.push_back({recipe, attached});
  } else {
    known->attached = known->attached || attached;
  }
}

// Those that a cache is called by: who had a say in what is attached; where nothing is attached, all. Of CacheMaker and its kin.
template <class Makers>
Makers naming_makers(const Makers& makers) {
  Makers named;
  std::copy_if(makers.begin(), makers.end(), std::back_inserter(named), [](const auto& maker) { return maker.attached; });
  return named.empty() ? makers : named;
}

}  // namespace winnow
