#include "app/cli/sampling_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace winnow::cli {

nlohmann::ordered_json sampling_json(const SamplingChoice& choice) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  visit_choices(choice, [&object](const SamplingField& field, const auto& value) {
    if (value) object[field.name] = *value;
  });
  return object;
}

std::string sampling_words(const SamplingChoice& choice) {
  std::string words;
  const nlohmann::ordered_json object = sampling_json(choice);
  for (const auto& [name, value] : object.items()) {
    std::string option = name;
    std::replace(option.begin(), option.end(), '_', '-');
    words += (words.empty() ? "" : ", ") + option + " " + value.dump();
  }
  return words;
}

}  // namespace winnow::cli
