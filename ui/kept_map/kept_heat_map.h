// The heat-map of the kept-token page: a row per layer, a column per part of the prompt, the colour is the share kept.
//
// Custom painted from KeptMapModel, whose selection it shows and moves: click or arrow keys; Page Up and Page Down step layers, Home and
// End go to the first and last part. Numbers stand in the cells where there is room, in a tooltip otherwise. The table twin is
// kept_map_model.h. UI thread only.
#pragma once

#include <QWidget>

namespace winnow::ui {

class KeptMapModel;

class KeptHeatMap : public QWidget {
  Q_OBJECT
 public:
  explicit KeptHeatMap(KeptMapModel& model, QWidget* parent = nullptr);

  static bool stepsBy(int key);  // arrows and their kin, every one of which it takes
  QRectF cellRect(int layer, int part) const;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QRectF area() const;
  bool cellAt(const QPointF& point, int& layer, int& part) const;
  void select(const QPointF& point);
  void describe();
  void paintCells(QPainter& painter, const QRectF& cells) const;
  void paintAxes(QPainter& painter, const QRectF& cells) const;
  void paintMediaAxis(QPainter& painter, const QRectF& cells, qreal top) const;

  KeptMapModel& m_model;
};

// The legend of the colours: the scale with its numbers, or the two names of a difference.
class KeptLegend : public QWidget {
  Q_OBJECT
 public:
  explicit KeptLegend(KeptMapModel& model, QWidget* parent = nullptr);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  KeptMapModel& m_model;
};

}  // namespace winnow::ui
