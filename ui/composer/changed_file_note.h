// Says of an attached file that is looked at that another one is there by now, or that its subtitles are others.
//
// A line of frame_viewer.h and document_viewer.h; hidden while nothing is to be said. UI thread only.
#pragma once

#include <QLabel>

#include "app/chats/chat/conversation.h"
#include "ui/composer/media_preview.h"

namespace winnow::ui {

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
