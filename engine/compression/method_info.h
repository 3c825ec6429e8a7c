// The compression presets as data, for lists and method cards. No torch.
#pragma once

#include <string>
#include <vector>

namespace winnow {

// One compression preset, for lists and cards.
struct MethodInfo {
  std::string name;
  std::string title;
  std::string source;  // paper or code
  std::string phase;   // once, decode, ratio-decode
  bool query_aware = false;
  bool merges = false;
  std::vector<std::string> needs;    // statistics, in words of methods' taxonomy
  std::vector<std::string> options;  // "window=32", defaults in text
};

std::vector<MethodInfo> list_methods();

// A part of a method that can be exchanged for another of its kind.
struct PartInfo {
  std::string kind;  // allocator, scorer, reducer, scope, granularity
  std::string name;
  std::vector<std::string> presets;  // that have it
};

std::vector<PartInfo> list_parts();

}  // namespace winnow
