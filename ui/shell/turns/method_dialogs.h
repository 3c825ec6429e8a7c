// The recipe of the chat on screen and what its later questions go on from: the dialogs in which they are chosen or changed, and what
// follows from a choice, there or in the composer's card.
//
// Used by chat_page.h. UI thread only.
#pragma once

#include <QObject>
#include <vector>

#include "app/chats/settings/settings.h"
#include "engine/recipes/method_info.h"

namespace winnow::ui {

class Composer;
struct ChatSession;
struct WindowServices;

class MethodDialogs : public QObject {
  Q_OBJECT
 public:
  MethodDialogs(const WindowServices& services, ChatSession& session, Composer& composer, QObject* parent);

  void pick();    // another method
  void change();  // the parts and options of the present one

 private:
  void edit(const app::NamedRecipe& start);
  void use(const app::NamedRecipe& recipe);
  void compareWithNew();

  std::vector<MethodInfo> m_methods;
  app::Settings& m_settings;
  ChatSession& m_session;
  Composer& m_composer;
};

}  // namespace winnow::ui
