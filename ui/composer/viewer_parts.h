// The parts that viewers of an attachment have: a picture as large as there is room for, the button that pins what is shown, hidden until
// there is something to pin with, and the note that the file has changed.
//
// Used by frame_viewer.h, document_viewer.h and ui/contents, which know what is pinned; a press changes nothing by itself. UI thread only.
#pragma once

#include <QImage>
#include <QLabel>
#include <QToolButton>

#include "app/chats/chat/conversation.h"
#include "ui/composer/media_preview.h"
#include "ui/theme/drawn_boxes.h"

namespace winnow::ui {

// A frame, a picture or a page, read when it is asked for; where it cannot be read, why.
class FramePicture : public QLabel {
  Q_OBJECT
 public:
  explicit FramePicture(MediaPreview& preview, QWidget* parent = nullptr);

  bool hasPicture() const { return !m_image.isNull(); }
  // at: seconds of a video; of a PDF, which is a document, the number of a page. What was asked for before comes no more.
  void open(const QByteArray& path, MediaKind kind, double at);
  void setBoxes(std::vector<DrawnBox> boxes);  // over what is shown

 Q_SIGNALS:
  void shown(double actualS, const QSize& pixels);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void present();

  MediaPreview& m_preview;
  PreviewToken m_token = 0;
  QImage m_image;
  std::vector<DrawnBox> m_boxes;
};

class PinButton : public QToolButton {
  Q_OBJECT
 public:
  // Words for what a press does, for people who do not see it.
  PinButton(const QString& pinWhat, const QString& unpinWhat);

  // consequence: what pinning means for a question that was asked already; may be empty.
  void offer(const QString& tip, const QString& consequence);
  void setPinned(bool pinned);

 private:
  const QString m_pinWhat;
  const QString m_unpinWhat;
};

// Says of an attached file that is looked at that another one is there by now, or that its subtitles are others.
//
// A line of frame_viewer.h and document_viewer.h; hidden while nothing is to be said.
class ChangedFileNote : public QLabel {
  Q_OBJECT
 public:
  explicit ChangedFileNote(MediaPreview& preview, QWidget* parent = nullptr);

  // Reads the file's bytes again, where it is known what they were.
  void look(const app::Attachment& attached);

 private:
  void compare(const MediaSummary& summary);

  MediaPreview& m_preview;
  PreviewToken m_token = 0;
  app::Attachment m_attached;
};

}  // namespace winnow::ui
