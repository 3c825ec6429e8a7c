// The models that can be chosen: the menu and its button, and what is said, with ways on, when one cannot be loaded.
//
// Used by main_window.h. Lists the demo model, those loaded last, and what lies on this machine by the program that keeps it, which is
// looked for whenever the menu is about to be shown and joins it when it is found. UI thread only.
#pragma once

#include <QActionGroup>
#include <QMenu>
#include <QToolButton>

#include "app/words/error_text.h"
#include "ui/shell/ground/notice_bar.h"

namespace winnow::app {
class KeyRing;
class ModelFinder;
class Settings;
}  // namespace winnow::app

namespace winnow::ui {

class ConnectDialog;
class ModelSession;
struct WindowServices;

class ModelMenu : public QObject {
  Q_OBJECT
 public:
  // `notice` is where faults are told.
  ModelMenu(ModelSession& model, const WindowServices& services, NoticeBar& notice, QWidget* window);

  QMenu* menu() const { return m_menu; }
  QToolButton* button() const { return m_button; }
  void choose();  // the menu, at its button
  void showFault(const app::ErrorText& text);
  void setServing(const QList<QAction*>& serving);  // to other programs
  void setManage(QAction* manage);                  // opens the page of models
  // A line for a model that can be had; empty: none.
  void setOffer(const QString& label);

 Q_SIGNALS:
  void offerTaken();

 private:
  void buildWeights();
  void rebuild();
  void offerFound();
  void offer(const QString& label, const QString& path, const QString& name = {});
  void chooseFile();
  void chooseFolder();
  void chooseServer();
  ConnectDialog* newConnection();      // to a server; not open yet
  void typeKey(const QString& place);  // of that server
  void showNotKept(const Error& why);
  void showRefused(const Error& error, const QString& tried);
  void offerWays(Notice notice, const QString& tried);
  void update();
  QString title() const;
  QString heldText() const;  // empty: no model is loaded

  ModelSession& m_model;
  app::Settings& m_settings;
  app::KeyRing& m_keys;
  QString m_offer;
  QAction* m_manage = nullptr;
  app::ModelFinder* m_finder;  // null: nobody looks
  NoticeBar& m_notice;
  QWidget* m_window;
  QMenu* m_menu;
  QActionGroup* m_one = nullptr;  // of the models one is loaded
  QMenu* m_weights;
  QAction* m_held;  // in it: what the present model takes
  QList<QAction*> m_serving;
  QToolButton* m_button;
};

}  // namespace winnow::ui
