// The model that answers, as all threads of the server see it. Threads: any.
#pragma once

#include <mutex>
#include <optional>
#include <utility>

#include "app/programs/server/api_refusal.h"
#include "engine/models/model_info.h"

namespace winnow::app {

class LoadedModel {
 public:
  void set(std::optional<ModelInfo> model) {
    const std::lock_guard lock(m_mutex);
    m_model = std::move(model);
  }
  std::optional<ModelInfo> get() const {
    const std::lock_guard lock(m_mutex);
    return m_model;
  }
  // Errors: ApiRefusal (503).
  ModelInfo require() const {
    std::optional<ModelInfo> model = get();
    if (!model) throw ApiRefusal(503, "no model is loaded", {}, "no_model");
    return *std::move(model);
  }

 private:
  mutable std::mutex m_mutex;  // guards m_model
  std::optional<ModelInfo> m_model;
};

inline ApiRefusal otherModel(const ModelInfo& model) {
  return {404, "there is no such model here; \"" + model.name + "\" is loaded", "model", "model_not_found"};
}

}  // namespace winnow::app
