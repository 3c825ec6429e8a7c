// Looks for models on a thread of its own, and knows what was found last.
//
// Used by the window's model menu, which asks whenever it is about to be shown. Threads: belongs to the thread that made it (an event loop
// must run there), which never waits; the destructor interrupts the search and joins. Errors: none.
#pragma once

#include <QObject>
#include <vector>

#include "app/ground/threads/mailbox.h"
#include "app/ground/threads/worker_thread.h"
#include "app/library/models/found_models.h"

namespace winnow::app {

class ModelFinder : public QObject {
  Q_OBJECT
 public:
  explicit ModelFinder(ModelFolders folders, QObject* parent = nullptr);
  ~ModelFinder() override;

  void look();  // changed() follows if there is anything new; while it looks already: nothing
  const std::vector<FoundModel>& models() const { return m_models; }
  const FoundModel* find(const QString& path) const;  // null: it was not found

 Q_SIGNALS:
  void changed();

 private:
  const ModelFolders m_folders;
  std::vector<FoundModel> m_models;
  bool m_looking = false;
  InterruptSource m_end;
  Mailbox m_mailbox;
  WorkerThread m_thread{"models"};  // last: joined first
};

}  // namespace winnow::app
