// The page of models: what lies on this computer, and what can be had.
//
// Opened by ui/shell. Closing it ends no download. Up and Down step from model to model, Tab through everything. UI thread only.
#pragma once

#include <QDialog>

#include "app/library/downloads/download_queue.h"
#include "app/library/models/model_shelf.h"
#include "ui/model_library/hub_models.h"

class QTabWidget;

namespace winnow::ui {

class GetPage;
class HerePage;

class ModelsDialog : public QDialog {
  Q_OBJECT
 public:
  struct Sources {
    app::ModelShelf& shelf;
    app::DownloadQueue& queue;
    const HubModels& hub;
  };
  // loaded: the model that is loaded; empty: none.
  ModelsDialog(const Sources& sources, const QString& loaded, QWidget* parent);

  HerePage* here() const { return m_here; }
  GetPage* get() const { return m_get; }
  QTabWidget* tabs() const { return m_tabs; }

 Q_SIGNALS:
  void openRequested(const QString& path, const QString& name);  // it closes

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void take(const QString& path, const QString& name);
  void nameTabs();
  void showFirstFull();

  const Sources m_sources;
  HerePage* m_here;
  GetPage* m_get;
  QTabWidget* m_tabs;
  bool m_turned = false;  // by the page or by its user
};

}  // namespace winnow::ui
