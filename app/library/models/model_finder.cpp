#include "app/library/models/model_finder.h"

#include <algorithm>
#include <utility>

namespace winnow::app {

ModelFinder::ModelFinder(ModelFolders folders, QObject* parent) : QObject(parent), m_folders(std::move(folders)) {}

ModelFinder::~ModelFinder() { m_end.request_cancel(); }

void ModelFinder::look() {
  if (std::exchange(m_looking, true)) return;
  m_thread.post([this, end = m_end.token()] {
    std::vector<FoundModel> found;
    try {
      found = findModels(m_folders, end);
      std::erase_if(found, [](const FoundModel& model) { return model.hears; });
    } catch (const Interrupted&) {
      return;  // nobody asks any more
    }
    m_mailbox.post([this, found = std::move(found)]() mutable {
      m_looking = false;
      if (found == m_models) return;
      m_models = std::move(found);
      Q_EMIT changed();
    });
  });
}

const FoundModel* ModelFinder::find(const QString& path) const {
  const auto found = std::ranges::find(m_models, path, &FoundModel::path);
  return found != m_models.end() ? &*found : nullptr;
}

}  // namespace winnow::app
