// A folder of videos and the work on all of them: listened to, prepared, and asked one question, one after the other in the background.
//
// Made by chat_page.h. What is done with one video is app/engine/video_shelf's. A question and another model go first: the video at hand
// is given up and begun anew behind them. Videos are prepared on mains power only, unless the settings say otherwise. The folder, what is
// wanted of it and the answers are kept with the settings: after a restart the work goes on, and videos that are kept are left out. UI
// thread only.
#pragma once

#include <QHash>
#include <QPointer>
#include <QTimer>
#include <memory>

#include "app/chats/chat/line_store.h"
#include "app/chats/settings/settings.h"
#include "app/engine/host/engine_host.h"
#include "ui/composer/media_preview.h"
#include "ui/models/wait_progress.h"
#include "ui/video_shelf/shelf_page.h"

namespace winnow::ui {

class Composer;
class ContentsPages;
class Hearing;
struct ChatSession;
struct WindowServices;

class VideoShelf : public QObject {
  Q_OBJECT
 public:
  // hearing: null: nothing is heard. All of them outlive it; contents are its parent.
  VideoShelf(const WindowServices& services, ChatSession& session, Composer& composer, ContentsPages& contents, Hearing* hearing);

  // Shows the page of the last folder, or of one that the user is asked for.
  void open();
  void open(const QByteArray& folder);
  const QString& workText() const { return m_workText; }  // "Preparing videos: 3 of 10"; empty: nothing is done

 Q_SIGNALS:
  void aroundWanted(const QByteArray& video, double atS);  // in a new chat
  void changed();                                          // workText()

 private:
  void restore(const QString& stored);
  void save();
  void take(const std::vector<app::FolderFile>& files);
  void chooseFolder();
  void showPage();
  ShelfRow* find(const QByteArray& path);  // null: it is not there
  void look();                             // at the next video that was not looked at
  void onProbed(const MediaSummary& summary);
  void onModel();
  bool wanted() const;  // the engine, for something else
  void giveWay();
  QString obstacle() const;
  app::Attachment begun(const ShelfRow& row) const;    // with as many frames as a video begins with
  app::UnreadVideo unread(const ShelfRow& row) const;  // throws Exception as buildTurn() does
  void plan(ShelfRow& row);

  void prepareAll(bool on);
  void askAll(const QString& question);
  void stopAsking();
  void step();
  void begin(ShelfRow& row);
  void advance();
  void onEvent(const Event& event);
  void end(const std::optional<Error>& error);
  void drop();  // what is done at the moment
  void onHeard(const QByteArray& path, const QString& failure);
  bool full() const;
  void show();
  void tell(const ShelfRow& row);
  void showAt(const ShelfRow& row, double atS);

  app::EngineHost& m_engine;
  app::ChatStore& m_store;
  app::Settings& m_settings;
  MediaPreview& m_preview;
  app::ConversationCaches& m_caches;
  ChatSession& m_session;
  Composer& m_composer;
  ContentsPages& m_contents;
  Hearing* m_hearing;
  app::LineStore m_lines;
  QPointer<VideoShelfPage> m_page;
  QString m_workText;

  QByteArray m_folder;  // empty: none yet
  std::vector<ShelfRow> m_rows;
  bool m_opens = false;        // its page, once the folder was looked into
  PreviewToken m_looking = 0;  // into the folder
  PreviewToken m_probe = 0;
  ShelfRow* m_probed = nullptr;

  int m_models = 0;           // that were loaded
  std::string m_fingerprint;  // of the last one; empty: not known yet
  bool m_preparing = false;
  bool m_asking = false;
  QString m_question;
  QHash<QByteArray, app::VideoAnswer> m_answers;  // to it, by the hashes of videos
  bool m_onMains = false;
  QTimer m_power;  // runs on battery: looks again

  ShelfRow* m_at = nullptr;  // the video at hand
  bool m_listening = false;  // it is heard
  std::shared_ptr<app::VideoSteps> m_steps;
  RequestId m_request = 0;
  WaitProgress m_progress;
  std::vector<double> m_frames;  // times of the frames that were read
};

}  // namespace winnow::ui
