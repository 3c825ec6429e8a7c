// The middle of the window: what is said in the chat on screen, the box to write in, and what is shown in their place or above them.
//
// Used by main_window.h. Makes and lays out the views, and the controllers that connect them with the parts of chat_session.h; decides here
// which of the views are seen, and hands on what menus and keys ask for. UI thread only.
#pragma once

#include <QList>
#include <QWidget>
#include <functional>
#include <optional>
#include <vector>

#include "app/chats/chat/conversation.h"
#include "app/ground/resources/bundled_files.h"
#include "engine/recipes/method_info.h"

class QMimeData;
class QStackedWidget;
class QVBoxLayout;

namespace winnow::ui {

enum class BrowseFor : int;
class AnswerCheck;
class ComparisonChooser;
class ComparisonController;
class ComparisonSetup;
class ComparisonView;
class ChatSettings;
class Composer;
class DraftController;
class DropMark;
class ElsewhereNotice;
class FindBar;
class FocusRegions;
class KeptMapPages;
class MethodDialogs;
class ModelOfferBox;
class NoticeBar;
class PlanController;
class PlanLine;
class PreparationLine;
class SightNotice;
class TranscriptController;
class TranscriptView;
class VideoShelf;
class WatchBar;
class WatchController;
class WelcomePage;
struct ChatSession;
class Hearing;
struct LaterQuestion;
struct WindowServices;

constexpr int kLowestUnits = 340;  // in a window that is lower than this, what can be done without steps aside

class ChatPage : public QWidget {
  Q_OBJECT
 public:
  // Made by the window, which steers them: what stands above the chat, and on its first screen. The page becomes their parent.
  struct Parts {
    QWidget* top = nullptr;
    QWidget* serving = nullptr;
    NoticeBar* faults = nullptr;  // those of comparisons and checks are told here
    ModelOfferBox* offer = nullptr;
    ModelOfferBox* seeing = nullptr;
  };
  ChatPage(const WindowServices& services, ChatSession& session, const QList<app::Sample>& samples, const Parts& parts);

  bool showsComparison() const;
  bool canStop() const;  // or leave, what was opened
  bool canCheck() const;
  QStringList statusTexts() const;  // what is done in the background; the method, as the box shows it
  void addRegions(FocusRegions& regions) const;

  // In a new chat, unless something is written already: then the file joins it.
  void begin(const QList<QByteArray>& files, const QString& question);
  void startNew(const QByteArray& video = {}, double atS = 0);  // video: with what is around this moment of it
  // found: in a file of the chat, which is shown there.
  void openChat(ConversationId id, const std::optional<app::SearchHit>& found = {});
  void writeQuestion(const QString& typed = {});  // typed: somewhere else, and meant for the box
  void attachFiles(BrowseFor what);               // which the user is asked for
  void attach(const QMimeData& mime);
  void markDrop(const QMimeData* dragged);  // null: nothing is dragged over the window
  void watchSource();                       // which the user is asked for
  void openMethodCard();
  void stepRetention(int percent);
  enum class Dialog : int { kMethod = 1, kRecipe = 2, kChatSettings = 3, kVideoShelf = 4 };
  void openDialog(Dialog dialog);
  void compareOrLeave();                // methods are chosen, or no longer
  void checkLastAnswer();               // against the full cache
  void stopOrLeave();                   // what runs is stopped, else what was opened is left
  void showKeptMap(qint64 answer = 0);  // 0: of what is on screen, the comparison, or the newest answer of the chat
  void findInChat();                    // words, in what is said; Esc leaves
  void arrange();                       // for the height of the window
  void saveNow();
  void endNow();  // watches no more, and saves: the window closes

 Q_SIGNALS:
  void stateChanged();  // what can be done
  void wanted();        // something is to be done on it, and it is hidden
  void chooseModelRequested();
  void figuresRequested(qint64 answer);  // in the panel

 private:
  void build(const WindowServices& services, const QList<app::Sample>& samples, const Parts& parts);
  void hear(const WindowServices& services);
  void addInset(QVBoxLayout* column, QWidget* widget);  // in the middle, as wide as a line may be
  void connectViews();
  void updateState();
  void describeText();   // what the box says where nothing is looked at
  void describeLater();  // what a next question sees
  LaterQuestion laterQuestion() const;
  void tellProblem(const Error& error, const std::function<void()>& again);
  void arrangeViews();
  void come();  // on screen
  void showChat();

  ChatSession& m_session;
  std::vector<MethodInfo> m_methods;
  QWidget* m_top = nullptr;
  NoticeBar* m_faults = nullptr;
  QStackedWidget* m_stack = nullptr;
  WelcomePage* m_welcome = nullptr;
  TranscriptView* m_transcript = nullptr;
  ComparisonView* m_comparisonView = nullptr;
  FindBar* m_find = nullptr;
  NoticeBar* m_undo = nullptr;
  ComparisonSetup* m_comparisonSetup = nullptr;
  WatchBar* m_watchBar = nullptr;
  Composer* m_composer = nullptr;
  DropMark* m_dropMark = nullptr;
  QWidget* m_lines = nullptr;  // under the box
  PreparationLine* m_preparationLine = nullptr;
  PlanLine* m_planLine = nullptr;
  PlanController* m_plan = nullptr;
  ElsewhereNotice* m_elsewhere = nullptr;
  ComparisonController* m_comparison = nullptr;
  AnswerCheck* m_check = nullptr;
  WatchController* m_watch = nullptr;
  MethodDialogs* m_methodDialogs = nullptr;
  ChatSettings* m_chatSettings = nullptr;
  SightNotice* m_sight = nullptr;
  KeptMapPages* m_keptMaps = nullptr;
  TranscriptController* m_transcriptController = nullptr;
  DraftController* m_drafts = nullptr;
  Hearing* m_hearing = nullptr;        // null: nothing is heard
  VideoShelf* m_videoShelf = nullptr;  // null: there is none
  ComparisonChooser* m_chooser = nullptr;
};

}  // namespace winnow::ui
