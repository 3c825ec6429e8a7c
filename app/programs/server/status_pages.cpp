#include "app/programs/server/status_pages.h"

#include <QByteArray>
#include <QDateTime>
#include <QFile>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/programs/server/request_fields.h"
#include "app/programs/server/wire_service.h"
#include "engine/messages/wire.h"

// Resources of a static library are there once this has run.
static void openDescription() { Q_INIT_RESOURCE(openapi); }

namespace winnow::app {
namespace {

constexpr std::string_view kPages[] = {"/", "/health", "/props", "/metrics", "/openapi.json", "/v1/models"};
constexpr std::string_view kModelPath = "/v1/models/";

// Endpoints, fields with their ranges, statuses (OpenAPI 3.1): resources/server/openapi.json, within the program, with the version in place
// of "@". Kept true by hand: tests hold its endpoints against those that are answered, tests/clients/fuzz_api.py its fields and statuses.
std::string apiDescription(const std::string& version) {
  openDescription();
  QFile file(QStringLiteral(":/openapi.json"));
  const bool opened = file.open(QIODevice::ReadOnly);
  Q_ASSERT(opened);
  return file.readAll().trimmed().replace("\"@\"", QByteArray::fromStdString('"' + version + '"')).toStdString();
}

}  // namespace

StatusPages::StatusPages(const ApiOptions& options, const Uses& uses)
    : m_options(options), m_uses(uses), m_startedS(QDateTime::currentSecsSinceEpoch()) {}

bool StatusPages::has(std::string_view path) { return isAmong(kPages, path) || path.starts_with(kModelPath); }

HttpReply StatusPages::at(const std::string& path) const {
  if (path == "/") return {200, "text/plain", "Winnow. The API is at /v1: /v1/models, /v1/chat/completions\n", {}};
  if (path == "/metrics") return {200, "text/plain; version=0.0.4", m_uses.replies.text(m_uses.line.inLine()), {}};
  if (path == "/openapi.json") return {200, "application/json", apiDescription(m_options.version), {}};
  if (path == "/v1/models") return models();
  if (path == "/props") return properties();
  if (path.starts_with(kModelPath)) return modelNamed(path.substr(kModelPath.size()));
  m_uses.model.require();
  return jsonReply({{"status", "ok"}});
}

HttpReply StatusPages::properties() const {
  const ModelInfo model = m_uses.model.require();
  const RecipeSpec& recipe = m_options.defaults.recipe;
  return jsonReply({{"model_path", model.name},
                    {"total_slots", m_options.atOnce},
                    {"default_generation_settings", {{"n_ctx", model.context_tokens}}},
                    {"modalities",
                     {{"vision", model.traits.sees},
                      {"video", model.traits.sees && model.traits.reads_videos},
                      {"audio", !m_uses.sounds.model().empty()}}},
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
  if (const std::optional<ModelInfo> model = m_uses.model.get()) list.push_back(modelJson(*model, m_startedS));
  if (const std::string hears = m_uses.sounds.model(); !hears.empty()) list.push_back(speechModelJson(hears, m_startedS));
  return jsonReply({{"object", "list"}, {"data", std::move(list)}});
}

HttpReply StatusPages::modelNamed(const std::string& name) const {
  const std::string plain = QByteArray::fromPercentEncoding(QByteArray::fromStdString(name)).toStdString();
  if (!plain.empty() && plain == m_uses.sounds.model()) return jsonReply(speechModelJson(plain, m_startedS));
  const ModelInfo model = m_uses.model.require();
  if (plain != model.name) throw otherModel(model);
  return jsonReply(modelJson(model, m_startedS));
}

}  // namespace winnow::app
