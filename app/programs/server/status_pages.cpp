#include "app/programs/server/status_pages.h"

#include <QByteArray>
#include <QDateTime>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/programs/server/api_description.h"
#include "app/programs/server/request_fields.h"
#include "app/programs/server/wire_service.h"
#include "engine/messages/wire.h"

namespace winnow::app {
namespace {

constexpr std::string_view kPages[] = {"/", "/health", "/props", "/metrics", "/openapi.json", "/v1/models"};
constexpr std::string_view kModelPath = "/v1/models/";

}  // namespace

StatusPages::StatusPages(const ApiOptions& options, const LoadedModel& model, const CountedReplies& replies, const AnswerLine& line)
    : m_options(options), m_model(model), m_replies(replies), m_line(line), m_startedS(QDateTime::currentSecsSinceEpoch()) {}

bool StatusPages::has(std::string_view path) { return isAmong(kPages, path) || path.starts_with(kModelPath); }

HttpReply StatusPages::at(const std::string& path) const {
  if (path == "/") return {200, "text/plain", "Winnow. The API is at /v1: /v1/models, /v1/chat/completions\n", {}};
  if (path == "/metrics") return {200, "text/plain; version=0.0.4", m_replies.text(m_line.inLine()), {}};
  if (path == "/openapi.json") return {200, "application/json", apiDescription(m_options.version), {}};
  if (path == "/v1/models") return models();
  if (path == "/props") return properties();
  if (path.starts_with(kModelPath)) return modelNamed(path.substr(kModelPath.size()));
  m_model.require();
  return jsonReply({{"status", "ok"}});
}

HttpReply StatusPages::properties() const {
  const ModelInfo model = m_model.require();
  const RecipeSpec& recipe = m_options.defaults.recipe;
  return jsonReply(
      {{"model_path", model.name},
       {"total_slots", m_options.atOnce},
       {"default_generation_settings", {{"n_ctx", model.context_tokens}}},
       {"modalities", {{"vision", model.traits.sees}, {"video", model.traits.sees && model.traits.reads_videos}, {"audio", false}}},
       {"build_info", "winnow " + m_options.version},
       {"winnow",
        {{"version", m_options.version},
         {"wire", kWireVersion},
         {"model", modelMark(model)},
         {"method", recipe.method},
         {"retention", recipe.retention}}}});
}

HttpReply StatusPages::models() const {
  auto list = nlohmann::ordered_json::array();
  if (const std::optional<ModelInfo> model = m_model.get()) list.push_back(modelJson(*model, m_startedS));
  return jsonReply({{"object", "list"}, {"data", std::move(list)}});
}

HttpReply StatusPages::modelNamed(const std::string& name) const {
  const ModelInfo model = m_model.require();
  if (QByteArray::fromPercentEncoding(QByteArray::fromStdString(name)).toStdString() != model.name) throw otherModel(model);
  return jsonReply(modelJson(model, m_startedS));
}

}  // namespace winnow::app
