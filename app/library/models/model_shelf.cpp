#include "app/library/models/model_shelf.h"

#include <QElapsedTimer>
#include <QFileInfo>
#include <algorithm>
#include <optional>
#include <utility>

#include "app/library/downloads/model_folder.h"
#include "app/library/models/model_uses.h"

namespace winnow::app {
namespace {

constexpr qint64 kTellEveryMs = 100;

}  // namespace

ModelShelf::ModelShelf(ModelPlaces places, QObject* parent) : QObject(parent), m_places(std::move(places)), m_memory(m_places.memory) {
  if (m_places.measure == nullptr) return;
  m_isMeasured = false;
  m_list.post([this] {
    const double bytesPerSecond = m_places.measure();
    m_mailbox.post([this, bytesPerSecond] {
      m_memory.bytesPerSecond = bytesPerSecond;
      m_isMeasured = true;
      Q_EMIT memoryChanged();
    });
  });
}

ModelShelf::~ModelShelf() { m_end.request_cancel(); }

void ModelShelf::look() {
  m_again = std::exchange(m_looking, true);
  if (m_again) return;
  m_list.post([this, opened = m_opened, end = m_end.token()] {
    std::vector<ListedModel> models;
    try {
      const QHash<QString, QDateTime> uses = modelUses(m_places.data);
      for (const FoundModel& found : findModels(m_places.folders, end)) {
        end.throw_if_requested();
        models.push_back(listedModel(found, uses));
      }
      for (const auto& [origin, path] : opened) {
        end.throw_if_requested();
        const std::optional<FoundModel> found = openedModel(origin, path);
        const auto same = [&](const ListedModel& model) {
          return QFileInfo(model.found.path).canonicalFilePath() == QFileInfo(path).canonicalFilePath();
        };
        if (found && std::ranges::none_of(models, same)) models.push_back(listedModel(*found, uses));
      }
    } catch (const Interrupted&) {
      return;  // nobody asks any more
    }
    m_mailbox.post([this, models = std::move(models), hearing = fetchedSpeechModel(modelsFolder(m_places.data))]() mutable {
      m_looking = false;
      m_hearing = hearing;
      m_hasLooked = true;
      m_models = std::move(models);
      if (m_again) look();
      Q_EMIT listed();
    });
  });
}

void ModelShelf::setGpuBytes(qint64 bytes) {
  if (bytes == m_memory.gpuBytes) return;
  m_memory.gpuBytes = bytes;
  Q_EMIT memoryChanged();
}

void ModelShelf::verify(const FoundModel& model) {
  if (!m_verifying.isEmpty()) return;
  m_verifying = model.path;
  m_stop = std::make_unique<InterruptSource>(m_end.token());
  m_check.post([this, model, stop = m_stop->token()] {
    QElapsedTimer told;
    told.start();
    std::vector<VerifiedFile> files;
    try {
      files = verifyModel(model, stop, [&](qint64 done, qint64 total) {
        if (told.elapsed() < kTellEveryMs) return;
        told.restart();
        m_mailbox.post([this, path = model.path, done, total] { Q_EMIT checking(path, done, total); });
      });
    } catch (const Interrupted&) {
      files.clear();
    }
    m_mailbox.post([this, path = model.path, files = std::move(files)] {
      m_verifying.clear();
      Q_EMIT verified(path, files);
    });
  });
}

void ModelShelf::stopVerifying() {
  if (m_stop) m_stop->request_cancel();
}

void ModelShelf::hearWith(const FoundModel& model) {
  m_list.post([this, path = model.path] {
    chooseSpeechModel(modelsFolder(m_places.data), path);
    m_mailbox.post([this] { look(); });
  });
}

void ModelShelf::remove(const FoundModel& model) {
  m_list.post([this, model] {
    const RemovedModel result = removeModel(model, m_places.trash);
    m_mailbox.post([this, path = model.path, result] {
      Q_EMIT removed(path, result);
      look();
    });
  });
}

}  // namespace winnow::app
