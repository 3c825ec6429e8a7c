#include "app/chat/agreement_json.h"

#include <nlohmann/json.hpp>

#include "app/chat/run_json.h"

namespace winnow::app {

namespace {

using Json = nlohmann::json;

Json parsed(const QByteArray& text) { return Json::parse(text.constData(), text.constData() + text.size(), nullptr, false); }

// Answers are what a model wrote: their words need not be whole characters.
QByteArray dumped(const Json& json) { return QByteArray::fromStdString(json.dump(-1, ' ', false, Json::error_handler_t::replace)); }

std::string textOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

template <typename Number>
void read(const Json& object, const char* name, Number& into) {
  const auto found = object.find(name);
  if (found != object.end() && found->is_number()) found->get_to(into);
}

QByteArray bytesOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() ? dumped(*found) : QByteArray();
}

Json layerJson(const LayerFigures& layer) {
  return {{"budget", layer.budget},
          {"kept", layer.kept},
          {"kept_visual", layer.kept_visual},
          {"kept_text", layer.kept_text},
          {"kept_per_head", parsed(keptPerHeadToJson(layer.kept_per_head))},
          {"bytes", layer.bytes},
          {"why", parsed(reasonsToJson(layer.why))},
          {"end", parsed(slotCountsToJson(layer.end))}};
}

LayerFigures layerFrom(const Json& json) {
  LayerFigures layer;
  read(json, "budget", layer.budget);
  read(json, "kept", layer.kept);
  read(json, "kept_visual", layer.kept_visual);
  read(json, "kept_text", layer.kept_text);
  layer.kept_per_head = keptPerHeadFromJson(bytesOf(json, "kept_per_head"));
  read(json, "bytes", layer.bytes);
  layer.why = reasonsFromJson(bytesOf(json, "why"));
  layer.end = slotCountsFromJson(bytesOf(json, "end"));
  return layer;
}

}  // namespace

QByteArray agreementToJson(const std::optional<Agreement>& agreement) {
  if (!agreement) return {};
  Json differences = Json::array();
  for (const WordDifference& each : agreement->differences) {
    differences.push_back({{"word", each.word},
                           {"text", each.text},
                           {"full_text", each.full_text},
                           {"probability", each.probability},
                           {"full_probability", each.full_probability},
                           {"full_choice_probability", each.full_choice_probability}});
  }
  Json json = {{"tokens", agreement->tokens}, {"top1", agreement->top1}, {"mean_kl", agreement->mean_kl}, {"differences", differences}};
  if (agreement->first_diverging_word) json["first_diverging_word"] = *agreement->first_diverging_word;
  return dumped(json);
}

std::optional<Agreement> agreementFromJson(const QByteArray& text) {
  const Json json = parsed(text);
  if (!json.is_object()) return std::nullopt;
  Agreement agreement;
  read(json, "tokens", agreement.tokens);
  read(json, "top1", agreement.top1);
  read(json, "mean_kl", agreement.mean_kl);
  if (const auto first = json.find("first_diverging_word"); first != json.end() && first->is_number_integer())
    agreement.first_diverging_word = first->get<std::int64_t>();
  if (const auto differences = json.find("differences"); differences != json.end() && differences->is_array()) {
    for (const Json& each : *differences) {
      if (!each.is_object()) continue;
      WordDifference difference;
      read(each, "word", difference.word);
      difference.text = textOf(each, "text");
      difference.full_text = textOf(each, "full_text");
      read(each, "probability", difference.probability);
      read(each, "full_probability", difference.full_probability);
      read(each, "full_choice_probability", difference.full_choice_probability);
      agreement.differences.push_back(std::move(difference));
    }
  }
  return agreement;
}

QByteArray runToJson(const Run& run) {
  Json layers = Json::array();
  for (const LayerFigures& layer : run.figures.layers) layers.push_back(layerJson(layer));
  Json json = {{"model_name", run.modelName.toStdString()},
               {"model_folder", run.modelFolder.toStdString()},
               {"device", run.device.toStdString()},
               {"recipe", parsed(QByteArray::fromStdString(recipeToJson(run.recipe, -1)))},
               {"method", run.figures.method},
               {"retention", run.figures.retention},
               {"seed", run.figures.seed},
               {"figures", parsed(figuresToJson(run))},
               {"layers", layers}};
  if (run.agreement) json["agreement"] = parsed(agreementToJson(run.agreement));
  return dumped(json);
}

Run runFromJson(const QByteArray& text) {
  Run run;
  const Json json = parsed(text);
  if (!json.is_object()) return run;
  run.modelName = QString::fromStdString(textOf(json, "model_name"));
  run.modelFolder = QString::fromStdString(textOf(json, "model_folder"));
  run.device = QString::fromStdString(textOf(json, "device"));
  figuresFromJson(bytesOf(json, "figures"), run);
  run.figures.method = textOf(json, "method");
  read(json, "retention", run.figures.retention);
  read(json, "seed", run.figures.seed);
  run.recipe.spec.method = run.figures.method;
  run.recipe.spec.retention = run.figures.retention;
  try {
    const QByteArray recipe = bytesOf(json, "recipe");
    run.recipe = recipeFromJson({recipe.constData(), static_cast<std::size_t>(recipe.size())}, "chats");
  } catch (const Exception&) {  // of a newer program: told by its method and share alone
  }
  if (const auto layers = json.find("layers"); layers != json.end() && layers->is_array()) {
    for (const Json& layer : *layers) {
      if (layer.is_object()) run.figures.layers.push_back(layerFrom(layer));
    }
  }
  run.agreement = agreementFromJson(bytesOf(json, "agreement"));
  return run;
}

}  // namespace winnow::app
