// The models that can be chosen: the menu and its button, and what is said, with ways on, when one cannot be loaded.
//
// Used by main_window.h. UI thread only.
#pragma once

#include <QMenu>
#include <QToolButton>

#include "app/settings/settings.h"
#include "ui/words/error_text.h"

namespace winnow::ui {

class ModelSession;
class NoticeBar;

class ModelMenu : public QObject {
  Q_OBJECT
 public:
  // demoFolder: offered; empty: it is not there. `notice` is where faults are told.
  ModelMenu(ModelSession& model, app::Settings& settings, const QString& demoFolder, NoticeBar& notice, QWidget* window);

  QMenu* menu() const { return m_menu; }
  QToolButton* button() const { return m_button; }
  void chooseFolder();
  void showFault(const ErrorText& text);
  // Paths of the models in Winnow's own folder, which are always offered.
  void setOwnModels(const QStringList& models);
  void addOwnModel(const QString& model);
  // A line for a model that can be had; empty: none.
  void setOffer(const QString& label);

 Q_SIGNALS:
  void offerTaken();

 private:
  void rebuild();
  void update();
  QString title() const;

  ModelSession& m_model;
  app::Settings& m_settings;
  QString m_demoFolder;
  QStringList m_ownModels;
  QString m_offer;
  NoticeBar& m_notice;
  QWidget* m_window;
  QMenu* m_menu;
  QToolButton* m_button;
};

}  // namespace winnow::ui
