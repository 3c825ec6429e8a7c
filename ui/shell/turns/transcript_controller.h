// The chat on screen in the transcript: its messages and answers as they come, and what is done with one of them.
//
// Used by chat_page.h. The place that was scrolled to is saved with the chat a moment after the last scrolling. UI thread only.
#pragma once

#include <QHash>
#include <QObject>
#include <QTimer>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "app/chats/chat/line_store.h"
#include "app/chats/settings/settings.h"
#include "ui/chat_view/message_presenter.h"
#include "ui/composer/media_preview.h"

namespace winnow::app {
class ChatStore;
}

namespace winnow::ui {

class ComparisonController;
class FramePins;
class TranscriptView;
struct ChatSession;
struct WindowServices;

class TranscriptController : public QObject {
  Q_OBJECT
 public:
  // All of them outlive it.
  TranscriptController(const WindowServices& services, ChatSession& session, const ComparisonController& comparison, TranscriptView& view,
                       QObject* parent = nullptr);

  void saveView();
  void noteUnchecked(app::MessageId answer, const QString& reason);  // until the program ends
  // Opens the chat, goes to the message, and shows what was found in its file.
  void showPlace(const app::SearchHit& hit);
  // The user shows where the file is that the error misses, or enters its password; then it is done again.
  void find(const Error& error, std::function<void()> then);

 Q_SIGNALS:
  void refused(const QString& reason);          // a sentence
  void quoted(const QString& words, int page);  // of a paper, into the question
  void contentsRequested(winnow::app::MessageId question, int place, double atS);
  void placeInDraftWanted(const QByteArray& path, double atS);  // that is in the box

 private:
  void showChat();
  void findFile(qint64 answer);
  void moveMedia(const QByteArray& from, const QByteArray& to);
  void showWanted();
  void showQuotes(app::MessageId answer, const QList<app::SearchHit>& lines);
  void openAttachment(qint64 message, int index);
  // at: seconds of a video, the line of a document.
  void openMedium(qint64 message, int index, double at, const std::vector<DrawnBox>& boxes = {});
  void openPaper(qint64 message, int index, int page = 0);
  // The viewer shows what is pinned of the attachment, and changes it.
  template <typename Viewer>
  void setPins(Viewer* viewer, FramePins* pins, qint64 message, int index);
  MessageContent contentOf(const app::StoredMessage& message);
  // The picture that an answer points at; null until it was read, and where it cannot be.
  QImage pictureOf(const PointedAt& pointedAt);

  app::ChatStore& m_store;
  app::LineStore m_lines;
  MediaPreview& m_preview;
  ChatSession& m_session;
  const ComparisonController& m_comparison;
  TranscriptView& m_view;
  MessagePresenter m_presenter;
  QHash<app::MessageId, QString> m_unchecked;             // why
  QHash<app::MessageId, QList<app::SearchHit>> m_quotes;  // until the program ends
  QTimer m_timer;
  std::optional<ConversationId> m_shown;  // whose place is scrolled to
  bool m_restoring = false;
  std::optional<app::SearchHit> m_wanted;                      // once its chat is open
  std::map<std::pair<QByteArray, double>, QImage> m_pictures;  // that answers of this chat point at, by path and time
  QHash<PreviewToken, std::pair<QByteArray, double>> m_askedPictures;
};

}  // namespace winnow::ui
