// Dropped slots are discarded.
#pragma once

#include "engine/recipes/reducers/reducer.h"

namespace winnow {

class DropReducer : public Reducer {
 public:
  std::string name() const override { return "drop"; }
  bool merges() const override { return false; }
};

}  // namespace winnow
