// The models on this machine, as a page shows them: the list, whether files are right, and the way to the trash, each on a thread
// that the page does not wait for.
//
// Made by the window program. One model is checked at a time. Errors: in what is told. Threads: belongs to the thread that made it (an
// event loop must run there), which never waits; the destructor interrupts what goes on and joins.
#pragma once

#include <QObject>
#include <memory>
#include <utility>
#include <vector>

#include "app/ground/threads/mailbox.h"
#include "app/ground/threads/worker_thread.h"
#include "app/library/models/model_care.h"
#include "app/library/models/model_listing.h"

namespace winnow::app {

class ModelShelf : public QObject {
  Q_OBJECT
 public:
  explicit ModelShelf(ModelPlaces places, QObject* parent = nullptr);
  ~ModelShelf() override;

  void look();  // listed() follows; while it looks already it looks once more
  const std::vector<ListedModel>& models() const { return m_models; }
  bool hasLooked() const { return m_hasLooked; }
  // Models used from elsewhere, by path: listed, too, if they exist and are not found already. From the next look on.
  void setOpened(const std::vector<std::pair<ModelOrigin, QString>>& opened) { m_opened = opened; }
  const MachineMemory& memory() const { return m_memory; }
  bool isMeasured() const { return m_isMeasured; }  // memory().bytesPerSecond is known, or nobody measures
  void setGpuBytes(qint64 bytes);                   // which is known later than the machine's: memoryChanged() follows

  void verify(const FoundModel& model);              // nothing while another is checked
  void stopVerifying();                              // verified() follows with what is known by then: nothing
  QString verifying() const { return m_verifying; }  // its path; empty: none
  void remove(const FoundModel& model);
  QString hearing() const { return m_hearing; }  // the path of the speech model that hears; empty: none does
  void hearWith(const FoundModel& model);        // a speech model; listed() follows

 Q_SIGNALS:
  void listed();
  void memoryChanged();                                                                     // of what is listed other models fit
  void checking(const QString& path, qint64 done, qint64 total);                            // bytes
  void verified(const QString& path, const std::vector<winnow::app::VerifiedFile>& files);  // empty: it was stopped
  void removed(const QString& path, const winnow::app::RemovedModel& result);               // listed() follows

 private:
  const ModelPlaces m_places;
  MachineMemory m_memory;
  std::vector<ListedModel> m_models;
  std::vector<std::pair<ModelOrigin, QString>> m_opened;
  bool m_isMeasured = true;
  bool m_hasLooked = false;
  bool m_looking = false;
  bool m_again = false;
  QString m_verifying;
  QString m_hearing;
  InterruptSource m_end;
  std::unique_ptr<InterruptSource> m_stop;  // of the check
  Mailbox m_mailbox;
  WorkerThread m_check{"model check"};  // last: joined first
  WorkerThread m_list{"model list"};
};

}  // namespace winnow::app
