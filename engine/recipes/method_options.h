// Reads a method's options from the names and texts that a person gave, and remembers what could have been given.
//
// Made per composition by methods/registry.h; a method's file asks for each of its options once. Errors: kIllegalRecipe naming the option
// (unknown name, not a number, out of range, unknown word). No torch.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/recipes/measured_options.h"
#include "engine/recipes/method_info.h"

namespace winnow {

using OptionTexts = std::map<std::string, std::string>;

class OptionReader {
 public:
  OptionReader(std::string method, OptionTexts given, std::uint64_t seed)
      : method_(std::move(method)), given_(std::move(given)), seed_(seed) {}

  std::uint64_t seed() const { return seed_; }
  std::int64_t whole(const std::string& name, std::int64_t otherwise, std::int64_t low, std::int64_t high);
  std::int64_t odd(const std::string& name, std::int64_t otherwise, std::int64_t high);
  double real(const std::string& name, double otherwise, double low, double high);
  bool flag(const std::string& name, bool otherwise);
  // The first word is the default.
  template <class Value>
  Value choice(const std::string& name, std::initializer_list<std::pair<const char*, Value>> words) {
    std::vector<std::string> names;
    for (const auto& [word, value] : words) names.emplace_back(word);
    return (words.begin() + word_index(name, OptionType::kChoice, names))->second;
  }
  // Texts as measured_options.h has them; empty if not given.
  ShareProfile profile(const std::string& name);
  HeadTable head_table(const std::string& name);
  // Sentences between vertical bars; empty if not given.
  std::vector<std::string> sentences(const std::string& name);

  // Throws kIllegalRecipe about the option of that name.
  [[noreturn]] void refuse(const std::string& name, const std::string& reason) const;
  // To be called when all options have been asked for: throws if something was given that nobody asked for.
  void finish() const;
  // Every option asked for.
  const std::vector<OptionInfo>& described() const { return described_; }

 private:
  const std::string* find(const std::string& name);
  std::ptrdiff_t word_index(const std::string& name, OptionType type, const std::vector<std::string>& words);

  std::string method_;
  OptionTexts given_;
  std::uint64_t seed_;
  std::set<std::string> asked_;
  std::vector<OptionInfo> described_;
};

}  // namespace winnow
