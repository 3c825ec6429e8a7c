#include "app/chats/chat/agreement_json.h"

#include <nlohmann/json.hpp>

#include "app/chats/chat/figure_json.h"
#include "app/chats/chat/maker_json.h"
#include "app/chats/chat/run_json.h"

namespace winnow::app {

namespace {

using Json = nlohmann::json;

// Answers are what a model wrote: their words need not be whole characters.
QByteArray dumped(const Json& json) { return QByteArray::fromStdString(json.dump(-1, ' ', false, Json::error_handler_t::replace)); }

std::string textOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

QByteArray bytesOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() ? dumped(*found) : QByteArray();
}

}  // namespace

QByteArray agreementToJson(const std::optional<Agreement>& agreement) {
  if (!agreement) return {};
  return dumped(fieldsToJson(*agreement));
}

std::optional<Agreement> agreementFromJson(const QByteArray& text) {
  const Json json = parsedJson(text);
  if (!json.is_object()) return std::nullopt;
  Agreement agreement;
  fieldsFromJson(json, agreement);
  return agreement;
}

QByteArray runToJson(const Run& run) {
  Json layers = Json::array();
  for (const LayerFigures& layer : run.figures.layers) layers.push_back(fieldsToJson(layer));
  Json json = {{"model_name", run.modelName.toStdString()}, {"model_folder", run.modelFolder.toStdString()},
               {"device", run.device.toStdString()},        {"recipe", parsedJson(QByteArray::fromStdString(recipeToJson(run.recipe, -1)))},
               {"makers", makersToJson(run.makers)},        {"method", run.figures.method},
               {"retention", run.figures.retention},        {"seed", run.figures.seed},
               {"figures", parsedJson(figuresToJson(run))}, {"layers", layers}};
  if (run.agreement) json["agreement"] = parsedJson(agreementToJson(run.agreement));
  if (run.selection) json["selection"] = fieldsToJson(*run.selection);
  return dumped(json);
}

Run runFromJson(const QByteArray& text) {
  Run run;
  const Json json = parsedJson(text);
  if (!json.is_object()) return run;
  run.modelName = QString::fromStdString(textOf(json, "model_name"));
  run.modelFolder = QString::fromStdString(textOf(json, "model_folder"));
  run.device = QString::fromStdString(textOf(json, "device"));
  figuresFromJson(bytesOf(json, "figures"), run);
  run.figures.method = textOf(json, "method");
  readField(json, "retention", run.figures.retention);
  readField(json, "seed", run.figures.seed);
  run.recipe.spec.method = run.figures.method;
  run.recipe.spec.retention = run.figures.retention;
  try {
    const QByteArray recipe = bytesOf(json, "recipe");
    run.recipe = recipeFromJson({recipe.constData(), static_cast<std::size_t>(recipe.size())}, "chats");
  } catch (const Exception&) {  // of a newer program: told by its method and share alone
  }
  if (const auto makers = json.find("makers"); makers != json.end()) run.makers = makersFromJson(*makers);
  readField(json, "layers", run.figures.layers);
  run.agreement = agreementFromJson(bytesOf(json, "agreement"));
  if (const auto selection = json.find("selection"); selection != json.end() && selection->is_object())
    fieldsFromJson(*selection, run.selection.emplace());
  return run;
}

}  // namespace winnow::app
