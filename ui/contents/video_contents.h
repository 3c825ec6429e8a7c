// The contents of a video: its lines with their times, and the frame at the chosen one. A stretch of them can be asked about, pinned,
// copied and saved as subtitles.
//
// A page of the window (ui/theme/rooms.h). Shows what it is given; who opens it reads the lines and attaches the stretch. UI thread only.
#pragma once

#include <QBoxLayout>
#include <QDialog>
#include <QPointer>

#include "app/chats/chat/conversation.h"
#include "ui/composer/media_preview.h"

class QComboBox;
class QLabel;
class QPushButton;

namespace winnow::ui {

class ChangedFileNote;
class ContentsList;
class FramePicture;
class FramePins;
class FrameStrip;
class PinButton;

class VideoContents : public QDialog {
  Q_OBJECT
 public:
  VideoContents(MediaPreview& preview, const app::Attachment& video, QWidget* parent);

  void setLines(const QList<app::FileLine>& lines);
  // pins: of this video. consequence: of pinning here, for the button's tip; may be empty.
  void setPins(FramePins* pins, const QString& consequence = {});
  // The attachment that is shown: the page says where another file, or other subtitles, are there by now.
  void compareWith(const app::Attachment& attached);
  void showAt(double seconds);  // once there are lines

  ContentsList* list() const { return m_list; }
  FrameStrip* strip() const { return m_strip; }
  QComboBox* choice() const { return m_choice; }
  QPushButton* askButton() const { return m_ask; }
  PinButton* pinButton() const { return m_pin; }

 Q_SIGNALS:
  void stretchChosen(double fromS, double toS);  // to be asked about; the page closes

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* buildPicture();
  QWidget* buildList();
  void showChoice();
  void onStretch();
  void showPins();
  void pin();
  void ask();
  void copy() const;
  void save();

  MediaPreview& m_preview;
  const app::Attachment m_video;
  QList<app::FileLine> m_lines;
  double m_wantedS = 0;
  double m_shownS = -1;
  QPointer<FramePins> m_pins;
  PreviewToken m_pictures = 0;  // of the strip
  QBoxLayout* m_halves = nullptr;
  ChangedFileNote* m_changed = nullptr;
  FramePicture* m_picture = nullptr;
  QLabel* m_caption = nullptr;
  PinButton* m_pin = nullptr;
  FrameStrip* m_strip = nullptr;
  QComboBox* m_choice = nullptr;
  ContentsList* m_list = nullptr;
  QPushButton* m_ask = nullptr;
};

}  // namespace winnow::ui
