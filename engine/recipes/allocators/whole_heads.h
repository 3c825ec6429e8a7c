// Whole heads: those with the best scored slot keep all that competes, the others nothing of it.
//
// KVzip's budgets without the context, arXiv 2505.23416, sections 3 and 4.2: with B the share kept, the best round(B * layers * kv heads)
// heads. Where the user pinned slots, which every head keeps, the last of these heads has that many fewer.
#pragma once

#include "engine/recipes/allocators/global_pairs.h"

namespace winnow {

class WholeHeadsAllocator : public GlobalAllocator {
 public:
  std::string name() const override { return "whole-heads"; }
  bool whole_heads() const override { return true; }
};

}  // namespace winnow
