// A video as a strip of evenly spaced pictures with their times, with handles for the range that the question is about.
//
// Used by the attachment card. Asks for pictures by a signal (so many as fit its width) and is given them; decodes nothing. The dots
// under the pictures are the frames that will be sampled, squares those of them that are pinned; bars say what a cache keeps of them.
// Keyboard: Up/Down go from handle to handle to the pictures; Left/Right move the active handle (Shift: ten times as far) or go through the
// pictures; Enter opens the frame there, P pins it, Shift+P (Shift+click) all from the last pinned one to it. Seconds throughout. UI thread
// only.
#pragma once

#include <QImage>
#include <QTimer>
#include <QWidget>
#include <vector>

#include "app/chats/chat/pinned_ranges.h"

class QPainter;

namespace winnow::ui {

class FramePins;

class FrameStrip : public QWidget {
  Q_OBJECT
 public:
  explicit FrameStrip(QWidget* parent = nullptr);

  void setVideo(double durationS, double aspect);
  void setRange(double fromS, double toS);
  void setPlannedFrames(int count);
  // The pins, kept elsewhere; they are told which frames there are. Without them nothing can be pinned.
  void setPins(FramePins* pins);
  // Pins those of the sampled frames that are in these ranges.
  void setSampledPins(const app::PinnedRanges& ranges);
  // Bars over the pictures, the highest for the largest share that a compressed cache keeps of a frame.
  struct KeptFrame {
    double seconds = 0;
    double share = 0;  // of its tokens, mean over the layers
  };
  void setKept(std::vector<KeptFrame> frames);
  const std::vector<KeptFrame>& kept() const { return m_kept; }
  double fromS() const { return m_fromS; }
  double toS() const { return m_toS; }
  double durationS() const { return m_durationS; }

  // Times of the pictures that the strip shows at its present width.
  std::vector<double> pictureTimes() const;
  void setPicture(int index, double actualS, const QImage& image);
  void clearPictures();
  QSize pictureSize() const;
  int pictureCount() const;
  QRectF pictureRect(int index) const;
  QRectF handleRect(bool end) const;
  int currentPicture() const;  // the one that keys work on; -1 without pictures

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void picturesWanted();
  void rangeChanged(double fromS, double toS);
  void frameActivated(double seconds, int index);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  bool event(QEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  enum class Grip : int { kNone = 0, kFrom = 1, kTo = 2, kFrame = 3 };
  QRectF trackRect() const;
  double timeAt(qreal x) const;
  qreal xOf(double seconds) const;
  void moveHandle(Grip grip, double seconds);
  void describe();
  void makeCurrent(int index);
  void pinCurrent(bool fromAnchor);
  QString pinnedText() const;
  QString keptText() const;
  void paintPins(QPainter& painter, const QRectF& track) const;
  void paintKept(QPainter& painter, const QRectF& track) const;

  double m_durationS = 0.0;
  double m_aspect = 16.0 / 9.0;
  double m_fromS = 0.0;
  double m_toS = 0.0;
  int m_planned = 64;
  std::vector<QImage> m_pictures;
  int m_wantedCount = 0;
  Grip m_active = Grip::kFrom;
  Grip m_dragged = Grip::kNone;
  int m_current = 0;  // of the pictures, while they have the keys
  FramePins* m_pins = nullptr;
  app::PinnedRanges m_sampledPins;
  std::vector<KeptFrame> m_kept;
  int m_pressedPicture = -1;
  int m_hoveredPicture = -1;
  QTimer m_resizeTimer;  // a drag of the window's edge should not start a hundred decodes
};

}  // namespace winnow::ui
