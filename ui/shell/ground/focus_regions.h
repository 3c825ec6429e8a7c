// The places of the window that F6 goes round, as far as they are on screen, and the one where the keyboard goes when what had it is gone.
//
// Filled by main_window.h and chat_page.h. UI thread only.
#pragma once

#include <QObject>
#include <QPointer>
#include <Qt>
#include <functional>
#include <vector>

class QWidget;

namespace winnow::ui {

class FocusRegions {
 public:
  // Which widget takes the keyboard for a region that takes none itself; null: the region does after all.
  using Taker = std::function<QWidget*()>;

  // In the order in which they are gone round; they outlive this.
  void add(QWidget* region, Taker taker = nullptr);
  void addHome(QWidget* region);  // from here it goes on where the keyboard is in none of them
  void focusNext() const;
  void focusHome() const;  // or what is on screen in its place

 private:
  struct Region {
    QWidget* widget = nullptr;
    Taker taker;
  };
  static void enter(const Region& region, Qt::FocusReason reason);

  std::vector<Region> m_regions;
  std::size_t m_home = 0;
};

// The place where the keyboard goes when what had it is gone: a view that was left, a button that has done its work, a dialog whose opener
// is no more. Qt hands it to the next control in line or to nobody; here it comes to the question box, or to what stands in its place.
//
// Made by main_window.h for its window, on the regions that F6 goes round. It waits for the event to end: whoever has another control in
// mind for the keyboard gives it to that one, before hiding what had it.
class FocusHome : public QObject {
  Q_OBJECT
 public:
  FocusHome(QWidget& window, const FocusRegions& regions);

  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void onFocusChanged(QWidget* old, QWidget* now);
  void bringFrom(QWidget* chosen);  // by Qt; null: nothing has the keyboard

  QWidget& m_window;
  const FocusRegions& m_regions;
  QPointer<QWidget> m_last;  // of the window, that had the keyboard
  bool m_known = false;      // there was one
};

}  // namespace winnow::ui
