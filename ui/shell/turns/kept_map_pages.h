// Opens the kept-token page of an answer or of a comparison: finds the maps (of what is running, or saved ones) and the media of the
// thread.
//
// Used by chat_page.h. At most one page is open; asking for another replaces it. A page of what is being written fills when the prompt
// has been read. The page of a comparison offers every column's map and the difference of every two. UI thread only.
#pragma once

#include <QObject>
#include <QPointer>
#include <vector>

#include "app/chats/chat/conversation.h"
#include "engine/recipes/method_info.h"
#include "ui/kept_map/kept_map_dialog.h"

namespace winnow::app {
class ChatStore;
}

namespace winnow::ui {

class ComparisonModel;
class ComparisonView;
class OpenChat;
class TranscriptView;
struct ChatSession;
struct WindowServices;

class KeptMapPages : public QObject {
  Q_OBJECT
 public:
  // Asked for in the two views. All of them outlive it; the page's parent is the owner's window, where the keyboard returns to.
  KeptMapPages(const WindowServices& services, ChatSession& session, TranscriptView& transcript, ComparisonView& comparison,
               QWidget* owner);

  void open(app::MessageId answer);
  void openNewest();  // of the last answer on screen; nothing without one
  void openComparison(ComparisonModel* model);
  KeptMapDialog* page() const { return m_page; }

 private:
  // One column's map, or what the second keeps otherwise than the first.
  struct Choice {
    int first = 0;
    int second = -1;
  };

  void show(const QString& subject);
  void fill(const app::SharedKeptMap& map);
  QString whyNoMap() const;
  void showChoice();
  // Null: not here yet, or (then `missing` is set) there is none.
  app::SharedKeptMap columnMap(int column, bool& missing);

  ChatSession& m_session;
  app::ChatStore& m_store;
  MediaPreview& m_preview;
  std::vector<MethodInfo> m_methods;
  QWidget* m_owner;
  QPointer<KeptMapDialog> m_page;
  app::MessageId m_answer = 0;
  app::RequestToken m_loading = 0;
  QPointer<ComparisonModel> m_comparison;  // null: the page is of an answer
  std::vector<Choice> m_choices;
  QHash<int, app::SharedKeptMap> m_columns;  // what was loaded; null: there is none
  int m_loadingColumn = -1;
};

// The images and videos of the thread that ends with this message, as the engine numbers them: by message, then by place.
std::vector<MapMedia> mediaOfThread(const OpenChat& chat, app::MessageId message);

}  // namespace winnow::ui
