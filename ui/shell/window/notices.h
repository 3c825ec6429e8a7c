// The notices of the window, a row each: when it is shown, what it says, and which ways on it offers.
//
// Made by main_window.h and chat_page.h, which say where each stands. What can happen at many places (a model that does not load, an answer
// that fails) is told in `faults`, by whoever meets it. elsewhere_notice.h and sight_notice.h have rows that take more than one. UI thread
// only.
#pragma once

#include <QCoreApplication>

#include "ui/shell/ground/notice_bar.h"

namespace winnow::app {
class ChatStore;
class EngineHost;
class Settings;
struct StorageFailure;
struct StoreOpened;
struct UnusedGpu;
}  // namespace winnow::app

namespace winnow::ui {

class ChatList;
class ModelSession;
class OpenChat;
class Serving;
struct GpuService;

class Notices {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::Notices)

 public:
  // Above everything else: what is wrong with the saved chats, to restore a backup, begin anew, try again, or go on without saving. Hears
  // of faults from the store itself, so that the first one is shown and not what follows from it.
  static NoticeBar* storage(app::ChatStore& store);
  // Faults of the chat on screen or of what is kept of it.
  static NoticeBar* faults(app::EngineHost& engine, OpenChat& chat);
  // While other programs are served: the address, how many requests were answered and wait, and a way to end it.
  static NoticeBar* serving(Serving& serving);
  // A GPU that Winnow could use and does not: what it lacks, one way to get it, and how far its libraries are. Closed by the user, it is
  // not shown again on this machine. Nothing asks the network before the button is pressed.
  static NoticeBar* gpu(const GpuService& service, app::Settings& settings, ModelSession& model);
  // Under what is read: that a chat was deleted, with Undo, or chats were imported. chat_page.h says there what a chat goes on from.
  static NoticeBar* undo(ChatList& list);

 private:
  enum class Chats : int { kOpen = 1, kClosed = 2 };
  static Notice ofFailure(app::ChatStore& store, const app::StorageFailure& failure, Chats chats);
  static Notice ofOpened(const app::ChatStore& store, const app::StoreOpened& report);
  static NoticeAction showFolder(const app::ChatStore& store);
  static Notice ofUnused(const app::UnusedGpu& gpu, const std::function<qint64()>& libraryBytes, const std::function<void()>& fetch);
};

}  // namespace winnow::ui
