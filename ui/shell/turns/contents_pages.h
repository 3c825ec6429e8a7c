// The contents of videos, of the box and of the chat on screen, as pages of the window; and what files say, kept as it is learned.
//
// Used by chat_page.h. Lines are kept when a file is looked at for a card: subtitles, heard lines, passages of documents. Descriptions are
// kept by who has the model write them (preparation_controller.h, answer_run.h). UI thread only.
#pragma once

#include <QHash>
#include <QPointer>

#include "app/chats/chat/line_store.h"
#include "ui/composer/media_preview.h"

namespace winnow::ui {

class Composer;
class FramePins;
class VideoContents;
struct ChatSession;
struct WindowServices;

class ContentsPages : public QObject {
  Q_OBJECT
 public:
  // All of them outlive it.
  ContentsPages(const WindowServices& services, ChatSession& session, Composer& composer, QObject* parent = nullptr);

  void open(app::MessageId question, int place, double atS);  // of a video that was asked about
  void openOfDraft(const QByteArray& path, double atS);       // of one in the box; none where it is not there
  // The page of any video; said: lines beside those that are kept.
  VideoContents* show(const app::Attachment& video, double atS, const QList<app::FileLine>& said = {});

 private:
  void keep(const MediaSummary& summary);
  void askAbout(const app::Attachment& video, double fromS, double toS);

  // A page that waits for its lines.
  struct Waiting {
    QPointer<VideoContents> page;
    double atS = 0;
    QList<app::FileLine> said;
  };

  // A page whose frames are to be marked by what an answer's cache keeps of them.
  struct Marked {
    QPointer<VideoContents> page;
    app::MessageId question = 0;
    int place = 0;
  };
  void mark(const Marked& marked, app::MessageId answer, const app::SharedKeptMap& map);

  app::ChatStore& m_store;
  MediaPreview& m_preview;
  ChatSession& m_session;
  Composer& m_composer;
  app::LineStore m_lines;
  QHash<app::RequestToken, Waiting> m_waiting;
  QHash<app::RequestToken, Marked> m_marked;
};

}  // namespace winnow::ui
