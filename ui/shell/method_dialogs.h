// The dialogs in which the recipe of the chat on screen is chosen or changed, and what follows from a choice.
//
// Used by chat_page.h and commands.h. UI thread only.
#pragma once

#include <QObject>
#include <vector>

#include "app/settings/settings.h"
#include "engine/recipes/method_info.h"

namespace winnow::ui {

class Composer;
struct ChatSession;

class MethodDialogs : public QObject {
  Q_OBJECT
 public:
  MethodDialogs(std::vector<MethodInfo> methods, app::Settings& settings, ChatSession& session, Composer& composer, QObject* parent);

  void pick();    // another method
  void change();  // the parts and options of the present one

 private:
  void edit(const app::NamedRecipe& start);
  void use(const app::NamedRecipe& recipe);

  std::vector<MethodInfo> m_methods;
  app::Settings& m_settings;
  ChatSession& m_session;
  Composer& m_composer;
};

}  // namespace winnow::ui
