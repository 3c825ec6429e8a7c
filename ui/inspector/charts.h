// The panel's hand-painted charts: memory bar, kept-by-modality bars, per-layer budgets, speed line.
//
// Used by inspector_panel.h. They show values and compute none. Colours come in an Okabe-Ito pair, and every chart carries its numbers as
// text and an accessible description. UI thread only.
#pragma once

#include <QWidget>
#include <vector>

#include "engine/messages/events.h"

namespace winnow::ui {

// Bytes in use inside the bytes of the full cache.
class MemoryBar : public QWidget {
  Q_OBJECT
 public:
  explicit MemoryBar(QWidget* parent = nullptr);
  void setBytes(qint64 used, qint64 full);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  qint64 m_used = 0;
  qint64 m_full = 0;
};

// One bar: kept of all, with its numbers.
class KeptBar : public QWidget {
  Q_OBJECT
 public:
  enum class Kind : int { kVisual = 1, kText = 2 };
  explicit KeptBar(Kind kind, QWidget* parent = nullptr);
  void setValues(double kept, double total);
  void setLabel(const QString& label);  // instead of "Attached"
  QString label() const { return m_label; }
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Kind m_kind;
  QString m_label;
  double m_kept = 0;
  double m_total = 0;
};

// A row per layer: outline = budget, fill = slots in use now, split into what is attached, text and written.
class LayerBars : public QWidget {
  Q_OBJECT
 public:
  explicit LayerBars(QWidget* parent = nullptr);
  void setLayers(const std::vector<LayerFigures>& layers, const std::vector<SlotCounts>& slots);
  void setAttachedLabel(const QString& label) { m_attached = label; }  // instead of "Visual"
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  QString describe(int layer) const;
  // Slots per kv head that a layer may hold: a budget is granted to what a turn adds, beside what stood there before.
  static double allowed(const LayerFigures& layer);

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  qreal rowHeight() const;
  std::vector<LayerFigures> m_layers;
  std::vector<SlotCounts> m_slots;
  QString m_attached;
};

// Tokens per second over time; at most one point a pixel is drawn.
class Sparkline : public QWidget {
  Q_OBJECT
 public:
  explicit Sparkline(QWidget* parent = nullptr);
  void setValues(const std::vector<double>& values);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<double> m_values;
};

}  // namespace winnow::ui
