// The places of the window that F6 goes round, as far as they are on screen.
//
// Filled by main_window.h and chat_page.h. UI thread only.
#pragma once

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

}  // namespace winnow::ui
