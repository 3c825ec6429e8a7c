// Cache bytes over time: text, images, videos and the answer stacked, the full cache as a dashed line, and marks for what happened.
//
// Used by the inspector. The turns stand side by side with equal widths, each from when its question was read to its answer's end, so that
// a short one is seen beside a long one. Axes end at round values and only move on when these are passed, so that nothing jumps while an
// answer is written. UI thread only.
#pragma once

#include <QWidget>
#include <vector>

#include "app/chats/chat/turn_timeline.h"
#include "app/words/attached_words.h"

namespace winnow::ui {

// The smallest of 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5 ... that is not below; values below 0.01 give 0.01.
double roundSeconds(double seconds);

// An axis that ends at a round number of KiB, MiB or GiB, divided into equal parts whose borders are round too.
struct ByteAxis {
  double end = 1024.0;
  int parts = 4;
};
ByteAxis roundBytes(double bytes);

class TimelineChart : public QWidget {
  Q_OBJECT
 public:
  explicit TimelineChart(QWidget* parent = nullptr);

  void setTurns(std::vector<app::TurnTimeline> turns);
  void setAttached(app::AttachedKind attached);                                  // what is called "Videos"
  double axisSeconds() const { return m_axesS.empty() ? 0.0 : m_axesS.back(); }  // of the last turn
  double axisBytes() const { return m_axis.end; }
  // The point that is nearest in time to this place, in words; empty beside the curve.
  QString describeAt(const QPointF& place) const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Legend {
    QString text;
    QColor color;
    bool dashed = false;
  };
  std::vector<Legend> legend() const;
  int legendRows(int width) const;
  QRectF plotArea() const;
  QRectF turnArea(std::size_t turn, const QRectF& area) const;
  double xOf(std::size_t turn, const app::TimelinePoint& point, const QRectF& area) const;
  void paintLegend(QPainter& painter) const;
  void paintGrid(QPainter& painter, const QRectF& area) const;
  void paintTurn(QPainter& painter, std::size_t turn, const QRectF& area) const;
  void paintMarks(QPainter& painter, std::size_t turn, const QRectF& area) const;

  std::vector<app::TurnTimeline> m_turns;
  std::vector<double> m_axesS;  // of every turn
  ByteAxis m_axis;
  app::AttachedKind m_attached = app::AttachedKind::kVideos;
};

}  // namespace winnow::ui
