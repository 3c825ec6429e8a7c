// The choice of what to watch: a camera, the screen, a stream of the network or a file that grows; how closely, and how much of it is to be
// kept.
//
// Used by watch_controller.h. Opens nothing itself: whether the source is there says whoever reads it. UI thread only.
#pragma once

#include <QDialog>
#include <map>

#include "app/media/live/cameras.h"
#include "app/media/live/clip_reader.h"

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace winnow::ui {

// The loaded model's costs of a source; 0: not known.
struct WatchCosts {
  qint64 bytesPerToken = 0;  // all layers, K and V, as the recipe stores them
  qint64 tokensPerFrame = 0;
};

class WatchDialog : public QDialog {
  Q_OBJECT
 public:
  explicit WatchDialog(const WatchCosts& costs, std::vector<app::Camera> cameras, QWidget* parent = nullptr);

  QComboBox* kind() const { return m_kind; }
  QLineEdit* address() const { return m_address; }
  QComboBox* camera() const { return m_camera; }
  QComboBox* screen() const { return m_screen; }
  QString cost() const;  // of what is kept at most
  QPushButton* browseButton() const { return m_browse; }
  QDoubleSpinBox* every() const { return m_every; }
  QSpinBox* cap() const { return m_cap; }
  QPushButton* watchButton() const { return m_watch; }
  QString hint() const;
  QString problem() const;  // why this cannot be watched as it stands; empty: nothing is known against it

  void accept() override;

 Q_SIGNALS:
  void watchRequested(const winnow::app::WatchRequest& request);

 private:
  app::WatchRequest::Kind kindNow() const;
  void changeKind();
  // The list that the shown kind is chosen from; null: its address is written.
  QComboBox* choices() const;
  void browse();
  void showHint();
  void showCost();

  const WatchCosts m_costs;
  QComboBox* m_kind = nullptr;
  QLineEdit* m_address = nullptr;
  QComboBox* m_camera = nullptr;  // those that were found, and "another"
  QComboBox* m_screen = nullptr;  // the one in view, and "another"
  QPushButton* m_browse = nullptr;
  QLabel* m_hint = nullptr;
  QDoubleSpinBox* m_every = nullptr;
  QSpinBox* m_cap = nullptr;
  QLabel* m_cost = nullptr;
  QPushButton* m_watch = nullptr;
  app::WatchRequest::Kind m_shown = app::WatchRequest::Kind::kCamera;
  std::map<app::WatchRequest::Kind, QString> m_addresses;  // as they stand, of each kind
};

}  // namespace winnow::ui
