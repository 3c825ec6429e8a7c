// Model > Serve to other programs: the model that is loaded answers what they ask over HTTP, on this machine alone.
//
// Used by main_window.h. Off until it is turned on, and remembered only as the settings say. Another model answers from the moment that
// it is loaded; meanwhile requests are refused. UI thread only.
#pragma once

#include <QAction>
#include <QList>
#include <memory>
#include <optional>

#include "app/programs/server/api_server.h"
#include "ui/shell/ground/window_services.h"

namespace winnow::ui {

class ModelSession;
class NoticeBar;

class Serving : public QObject {
  Q_OBJECT
 public:
  // faults: where it is told why it cannot be turned on.
  Serving(const WindowServices& services, ModelSession& model, NoticeBar& faults, QObject* parent);
  ~Serving() override;

  QList<QAction*> actions() const { return {m_action, m_copy}; }  // on and off; the address to the clipboard
  void setOn(bool on);
  const app::ApiServer* server() const { return m_server.get(); }  // null: it is off
  QString address() const;                                         // of the API; empty: it is off

 Q_SIGNALS:
  void changed();  // on, off, or how many ask

 private:
  void start();
  void follow();

  const ServeFunction m_serve;
  app::Settings& m_settings;
  ModelSession& m_model;
  NoticeBar& m_faults;
  QAction* m_action;
  QAction* m_copy;
  std::unique_ptr<app::ApiServer> m_server;
  std::optional<QString> m_served;  // what the server answers with, by folder and form; none: nothing
};

}  // namespace winnow::ui
