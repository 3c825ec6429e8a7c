// How much is left of every frame of a watched source, as a row of bars: the first frame on the left, the newest on the right.
//
// Used by watch_bar.h. As many frames as there is no room for share a bar, which then shows their mean. The height is the square root of
// the share, since what is kept is mostly little; a forgotten frame leaves the bare ground. UI thread only.
#pragma once

#include <QWidget>
#include <vector>

namespace winnow::ui {

class WatchStrip : public QWidget {
  Q_OBJECT
 public:
  explicit WatchStrip(QWidget* parent = nullptr);

  void setShares(const std::vector<double>& shares);  // per frame, 0..1
  // The bars as painted now: the mean of the frames of each bar.
  std::vector<double> bars() const;

  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<double> m_shares;
};

// Means of neighbours, in order, in at most `most` groups whose sizes differ by one at most.
std::vector<double> binnedMeans(const std::vector<double>& values, int most);

}  // namespace winnow::ui
