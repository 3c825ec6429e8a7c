// The watched source of this chat, what is left of it, and what can be done about it: a bar above the box to write in.
//
// Shows what it is given; hidden while there is nothing to say. Used by ui/shell/turns/watch_controller.h. UI thread only.
#pragma once

#include <QFrame>
#include <QImage>
#include <QString>
#include <vector>

class QBoxLayout;
class QLabel;
class QPushButton;
class QToolButton;

namespace winnow::ui {

class WatchStrip;

struct WatchView {
  enum class Stage : int { kNone = 1, kRunning = 2, kPaused = 3, kEnding = 4, kEnded = 5 };
  Stage stage = Stage::kNone;
  QString text;
  QImage picture;              // what was seen last; null: nothing
  bool again = false;          // it has ended and can be watched again
  QString notice;              // the last thing that was to be said; empty: nothing
  std::vector<double> shares;  // what is left, per frame
  bool described = false;      // the model has put into words what is left

  friend bool operator==(const WatchView&, const WatchView&) = default;
};

class WatchBar : public QFrame {
  Q_OBJECT
 public:
  explicit WatchBar(QWidget* parent = nullptr);

  void setView(const WatchView& view);
  const WatchView& view() const { return m_view; }
  WatchStrip* strip() const { return m_strip; }
  QPushButton* pauseButton() const { return m_pause; }
  QPushButton* stopButton() const { return m_stop; }
  QPushButton* againButton() const { return m_again; }
  QPushButton* descriptionButton() const { return m_description; }
  QToolButton* closeButton() const { return m_close; }

 Q_SIGNALS:
  void pauseToggled();
  void stopRequested();
  void descriptionRequested();
  void againRequested();
  void closeRequested();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void arrange();
  void showPicture();

  WatchView m_view;
  QBoxLayout* m_row = nullptr;
  QLabel* m_text = nullptr;
  QLabel* m_notice = nullptr;
  QLabel* m_picture = nullptr;
  QPushButton* m_again = nullptr;
  WatchStrip* m_strip = nullptr;
  QPushButton* m_description = nullptr;
  QPushButton* m_pause = nullptr;
  QPushButton* m_stop = nullptr;
  QToolButton* m_close = nullptr;
};

}  // namespace winnow::ui
