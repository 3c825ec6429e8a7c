// One picture large: a frame of a video or an attached image, with arrow keys to the next and previous frame, or image. Where there is
// something to pin with, a button and P pin what is shown, Shift+P all from the last pinned frame to it.
//
// Opened from the frame strip and from attachments in the transcript. Pictures come from MediaPreview. UI thread only.
#pragma once

#include <QDialog>
#include <QPointer>
#include <optional>
#include <vector>

#include "app/chats/chat/conversation.h"
#include "ui/composer/media_preview.h"
#include "ui/theme/drawn_boxes.h"

class QLabel;
class QToolButton;

namespace winnow::ui {

class ChangedFileNote;
class FramePicture;
class FramePins;
class PinButton;

class FrameViewer : public QDialog {
  Q_OBJECT
 public:
  // `times`: of the frames that the arrows step through; empty for an image.
  FrameViewer(MediaPreview& preview, const QByteArray& path, MediaKind kind, std::vector<double> times, int index, QWidget* parent);

  // pins: of this file; what is pinned here is one of the viewer's frames, whatever frames others pin. consequence: what pinning here
  // entails, for the button's tip; may be empty.
  void setPins(FramePins* pins, const QString& consequence = {});

  // The attachment that is shown: the viewer says where another file is there by now.
  void compareWith(const app::Attachment& attached);
  ChangedFileNote* changedNote() const { return m_changed; }

  // For an image: those beside it, which the arrows step through; pictureShown says which, so that its pins can be set.
  void setPictures(std::vector<QByteArray> paths);

  // Over the picture or frame that is shown now, whenever it is.
  void setBoxes(std::vector<DrawnBox> boxes);

  int index() const { return m_index; }
  PinButton* pinButton() const { return m_pin; }
  bool hasPicture() const;

 Q_SIGNALS:
  void pictureShown(const QByteArray& path);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void show(int index);
  void showPicture(int index);
  int steps() const { return static_cast<int>(m_pictures.empty() ? m_times.size() : m_pictures.size()); }
  void showPin();
  void pin(bool fromAnchor);
  app::PinnedRange shownRange() const;  // what is pinned with the frame that is shown

  QByteArray m_path;
  MediaKind m_kind;
  std::vector<double> m_times;
  std::vector<QByteArray> m_pictures;  // files, of several images
  int m_index = 0;
  std::vector<DrawnBox> m_boxes;
  int m_boxesAt = 0;                // the index that they are of
  std::optional<double> m_actualS;  // of the picture that is shown
  ChangedFileNote* m_changed = nullptr;
  FramePicture* m_picture = nullptr;
  QLabel* m_caption = nullptr;
  QToolButton* m_previous = nullptr;
  QToolButton* m_next = nullptr;
  PinButton* m_pin = nullptr;
  QPointer<FramePins> m_pins;
};

}  // namespace winnow::ui
