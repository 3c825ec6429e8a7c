#include "engine/recipes/method_options.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "engine/base/error.h"

namespace winnow {

namespace {

std::string text_of(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

bool parse(const std::string& text, auto& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

constexpr std::size_t kMostSentences = 16;
constexpr std::size_t kLongestSentences = 4096;  // bytes, all together

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  return first == std::string::npos ? std::string() : text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

}  // namespace

void OptionReader::refuse(const std::string& name, const std::string& reason) const {
  throw Exception(ErrorCode::kIllegalRecipe, method_, name + " " + reason);
}

const std::string* OptionReader::find(const std::string& name) {
  asked_.insert(name);
  const auto found = given_.find(name);
  return found == given_.end() ? nullptr : &found->second;
}

std::int64_t OptionReader::whole(const std::string& name, std::int64_t otherwise, std::int64_t low, std::int64_t high) {
  described_.push_back({name, OptionType::kWhole, std::to_string(otherwise), {}, static_cast<double>(low), static_cast<double>(high)});
  const std::string* text = find(name);
  if (text == nullptr) return otherwise;
  std::int64_t number = 0;
  if (!parse(*text, number) || number < low || number > high) {
    refuse(name, "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
  return number;
}

std::int64_t OptionReader::odd(const std::string& name, std::int64_t otherwise, std::int64_t high) {
  const std::int64_t number = whole(name, otherwise, 1, high);
  described_.back().odd = true;
  if (number % 2 == 0) refuse(name, "must be odd");
  return number;
}

double OptionReader::real(const std::string& name, double otherwise, double low, double high) {
  described_.push_back({name, OptionType::kReal, text_of(otherwise), {}, low, high});
  const std::string* text = find(name);
  if (text == nullptr) return otherwise;
  double number = 0.0;
  if (!parse(*text, number) || !(number >= low && number <= high)) {
    refuse(name, "must be a number from " + text_of(low) + " to " + text_of(high));
  }
  return number;
}

bool OptionReader::flag(const std::string& name, bool otherwise) {
  const std::vector<std::string> words = otherwise ? std::vector<std::string>{"true", "false"} : std::vector<std::string>{"false", "true"};
  return words[static_cast<std::size_t>(word_index(name, OptionType::kFlag, words))] == "true";
}

ShareProfile OptionReader::profile(const std::string& name) {
  described_.push_back({name, OptionType::kProfile, "", {}});
  const std::string* text = find(name);
  if (text == nullptr) return {};
  ShareProfile profile = parse_profile(*text);
  if (profile.empty()) refuse(name, "must be shares per layer at retentions, as in 0.1=0.05:0.15/0.5=0.4:0.6");
  if (const std::string problem = profile_problem(profile); !problem.empty()) refuse(name, problem);
  return profile;
}

HeadTable OptionReader::head_table(const std::string& name) {
  described_.push_back({name, OptionType::kHeadTable, "", {}});
  const std::string* text = find(name);
  if (text == nullptr) return {};
  HeadTable table = parse_head_table(*text);
  if (table.empty()) refuse(name, "must be a number per head and layer, as in 0.9:0.6/0.8:0.9");
  if (const std::string problem = head_table_problem(table); !problem.empty()) refuse(name, problem);
  return table;
}

std::vector<std::string> OptionReader::sentences(const std::string& name) {
  described_.push_back({name, OptionType::kSentences, "", {}});
  const std::string* text = find(name);
  if (text == nullptr) return {};
  if (text->size() > kLongestSentences) refuse(name, "must be at most " + std::to_string(kLongestSentences) + " bytes long");
  std::vector<std::string> sentences;
  std::istringstream parts(*text + "|");
  for (std::string part; std::getline(parts, part, '|');) sentences.push_back(trimmed(part));
  if (std::find(sentences.begin(), sentences.end(), "") != sentences.end()) refuse(name, "must be sentences between | with none empty");
  if (sentences.size() > kMostSentences) refuse(name, "must be at most " + std::to_string(kMostSentences) + " sentences");
  return sentences;
}

std::ptrdiff_t OptionReader::word_index(const std::string& name, OptionType type, const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : "|") + word;
  described_.push_back({name, type, words.front(), words});
  const std::string* text = find(name);
  if (text == nullptr) return 0;
  const auto found = std::find(words.begin(), words.end(), *text);
  if (found == words.end()) refuse(name, "must be one of " + all);
  return found - words.begin();
}

void OptionReader::finish() const {
  for (const auto& [name, text] : given_) {
    if (!asked_.contains(name)) refuse(name, "is no option of this method");
  }
}

}  // namespace winnow
