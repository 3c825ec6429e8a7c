// The box where a question is written: text, attachments, method, Send or Stop.
//
// Used by ui/shell. Knows nothing of the engine or the store; says what the user wants by signals. Files dropped anywhere on the window
// are handed in by addMime(). What is refused is told in a line above the text. UI thread only.
#pragma once

#include <QFrame>
#include <QHash>
#include <QSet>
#include <QTimer>

#include "engine/api/engine.h"
#include "ui/composer/attachment_tray.h"
#include "ui/composer/prompt_edit.h"

class QLabel;
class QMimeData;
class QToolButton;

namespace winnow::ui {

class ChatSettingsButton;
class MethodControl;
class PasteOffer;
class ThinkingChoice;

enum class BrowseFor : int { kFiles = 1, kFolder = 2 };

class Composer : public QFrame {
  Q_OBJECT
 public:
  Composer(MediaPreview& preview, std::vector<MethodInfo> methods, QWidget* parent = nullptr);

  PromptEdit* prompt() const { return m_prompt; }
  AttachmentTray* tray() const { return m_tray; }
  MethodControl* method() const { return m_method; }
  struct Answering {
    ChatSettingsButton* settings = nullptr;
    ThinkingChoice* thinking = nullptr;
  };
  Answering answering() const { return {m_chatSettings, m_thinking}; }
  QToolButton* sendButton() const { return m_send; }
  QToolButton* compareButton() const { return m_compare; }
  QString notice() const;

  app::Draft draft() const;
  void setDraft(const app::Draft& draft);
  void clear();

  void setBusy(bool busy);  // an answer is being written here: Send becomes Stop
  // Why nothing can be sent now ("No model is loaded"); empty: sending is possible. Queue: what is sent is told by queueRequested().
  enum class WhileBlocked : int { kRefuse = 1, kQueue = 2 };
  void setBlocked(const QString& reason, WhileBlocked what = WhileBlocked::kRefuse);
  // Videos begin with so many; those that began with the default of before, and still have it, get this one.
  void setDefaultFrames(int frames);
  void showNotice(const QString& text);
  // Shows an earlier question to be written anew, and says so until it is sent, left with Esc, or replaced by setDraft().
  void editQuestion(const app::Draft& question);
  bool editing() const { return m_editing; }

  static bool accepts(const QMimeData& mime);
  void addMime(const QMimeData& mime);
  // Attaches it, or what a folder holds, of which is chosen where it is too much; a GGUF file, or a folder that is a model, is told as
  // such.
  void addFile(const QByteArray& path);
  void browse(BrowseFor what = BrowseFor::kFiles);
  void setBrowseFolder(const QString& folder) { m_browseFolder = folder; }

  void submit();
  // Nothing stands in the way of what is written; else the reason is told in the line above the text.
  bool readyToSend();
  // Methods are being chosen: Send compares them on what is written, or on the last question as long as nothing is.
  enum class Comparing : int { kNo = 1, kQuestion = 2, kLastQuestion = 3 };
  void setComparing(Comparing comparing);

 Q_SIGNALS:
  void sendRequested(const QString& text, const QList<winnow::app::Attachment>& attachments);
  void queueRequested();
  void stopRequested();
  void compareRequested();  // choose methods, or leave that
  void draftChanged();
  void recipeChanged(const winnow::app::NamedRecipe& recipe);
  void browseFolderChanged(const QString& folder);
  void editLastRequested();  // Up in an empty box
  void editCancelled();
  void shelfRequested(const QByteArray& folder);  // the videos of a folder, each on its own
  void modelDropped(const QString& path);         // a GGUF file or a folder: nothing that can be attached

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void updateSend();
  bool compares() const { return m_comparing != Comparing::kNo; }
  QString refusal() const;
  QString obstacle() const;  // why nothing can be sent; empty: it can
  QString tooLong() const;
  QString unheard() const;
  void keepTold();
  void arrangeTray();
  void addFolder(const QByteArray& folder, const FolderContents& contents);
  void openMedium(const QByteArray& path, MediaKind kind, const std::vector<double>& times, int index);

  MediaPreview& m_preview;
  PromptEdit* m_prompt = nullptr;
  AttachmentTray* m_tray = nullptr;
  PasteOffer* m_pasteOffer = nullptr;
  MethodControl* m_method = nullptr;
  ChatSettingsButton* m_chatSettings = nullptr;
  ThinkingChoice* m_thinking = nullptr;
  QToolButton* m_attach = nullptr;
  QToolButton* m_send = nullptr;
  QToolButton* m_compare = nullptr;
  QLabel* m_notice = nullptr;
  QLabel* m_hint = nullptr;
  QTimer m_noticeTimer;
  QString m_blocked;
  bool m_queues = false;  // while it is blocked
  QString m_browseFolder;
  std::vector<PreviewToken> m_storing;
  QHash<PreviewToken, QByteArray> m_lookingInto;  // folders
  bool m_busy = false;
  QString m_told;  // by the notice, as long as it holds: why nothing can be sent; empty: it says something else
  bool m_editing = false;
  Comparing m_comparing = Comparing::kNo;
  int m_defaultFrames = 64;
  QSet<QByteArray> m_withDefaultFrames;  // files, since the box was empty
};

}  // namespace winnow::ui
