// The door of the running program: a second start says there what it was asked for, and ends.
//
// Used by bootstrap, before the window and the store exist, and destroyed after them: as long as the first one works on the data folder,
// the second finds either an answer or somebody who is still leaving. A local socket in the data folder, for processes of the same user
// only; one message of at most kMaxMessageBytes a visit, in kVisitMs. Who holds the lock beside the socket may make it anew, so that one
// left behind by a kill is in nobody's way.
// Errors: none; where no door can be made or reached (read-only folder, a path longer than a socket's name may be, a program that does not
// answer), the start goes on alone and the store says who has the chats.
// Threads: one, with an event loop.
#pragma once

#include <QByteArray>
#include <QList>
#include <QMetaType>
#include <QObject>
#include <QString>
#include <memory>

#include "app/ground/process/instance_lock.h"

class QSocketNotifier;

namespace winnow::app {

struct StartRequest {
  QList<QByteArray> files;     // absolute paths of what to attach
  QString question;            // to be typed in, not sent
  QString modelFolder;         // absolute; to be loaded; empty: none
  QByteArray activationToken;  // of the desktop: lets the window come to the front
};

class InstanceDoor : public QObject {
  Q_OBJECT
 public:
  enum class Entry : int {
    kFirst = 1,       // this one answers from now on
    kHandedOver = 2,  // another one has taken the request
    kAlone = 3,       // there is no door
  };
  static constexpr int kMaxMessageBytes = 64 * 1024;
  static constexpr int kVisitMs = 2000;

  explicit InstanceDoor(const QString& folder, QObject* parent = nullptr);
  ~InstanceDoor() override;

  // Waits for at most `patienceMs` while another one starts, leaves or does not answer.
  Entry enter(const StartRequest& request, int patienceMs = 5000);

 Q_SIGNALS:
  void knocked(const winnow::app::StartRequest& request);

 private:
  bool listen();
  void letIn();

  const QByteArray m_socketPath;
  InstanceLock m_lock;
  int m_listener = -1;
  std::unique_ptr<QSocketNotifier> m_bell;
};

}  // namespace winnow::app

Q_DECLARE_METATYPE(winnow::app::StartRequest)
