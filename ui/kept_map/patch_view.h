// One frame, or one view of an image, large: its patches lit where the selected layer keeps them and veiled where it dropped them.
//
// Custom painted from KeptMapModel; the picture comes from its owner (setPicture), who has it from MediaPreview. The grid is the model's:
// the picture is stretched over it exactly as the model's processor stretches it. Kept regions have an outline in two tones, merged slots
// are hatched and carry the number of tokens merged in, pinned ones have a mark in their corner; nothing is told by colour alone.
// Arrow keys move from patch to patch; what is under the pointer or the cursor is told by patchPointed(). UI thread only.
#pragma once

#include <QImage>
#include <QWidget>

namespace winnow::ui {

class KeptMapModel;

class PatchView : public QWidget {
  Q_OBJECT
 public:
  explicit PatchView(KeptMapModel& model, QWidget* parent = nullptr);

  void setPicture(const QImage& picture);  // null: only the grid
  bool hasPicture() const { return !m_picture.isNull(); }
  void setMessage(const QString& message);  // why there is no picture; empty: nothing to say

  QRectF patchRect(int row, int column) const;
  int tokenAt(const QPointF& point) const;  // PromptPart::kNoToken: none there
  int cursorToken() const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void patchPointed(const QString& description);  // empty: none

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  QRectF pictureRect() const;
  double keptAt(int row, int column) const;
  bool isLit(int row, int column) const;  // kept by most heads; of a difference: by both
  void point(int row, int column);
  QString describe(int token) const;
  void tell(int token);
  void paintVeil(QPainter& painter) const;
  void paintOutline(QPainter& painter) const;
  void paintMarks(QPainter& painter) const;
  void paintDifference(QPainter& painter) const;

  KeptMapModel& m_model;
  QImage m_picture;
  QString m_message;
  int m_row = 0;
  int m_column = 0;
};

}  // namespace winnow::ui
