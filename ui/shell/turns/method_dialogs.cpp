#include "ui/shell/turns/method_dialogs.h"

#include "ui/composer/composer.h"
#include "ui/composer/later_choice.h"
#include "ui/composer/method_control.h"
#include "ui/recipes/method_picker.h"
#include "ui/recipes/recipe_editor.h"
#include "ui/shell/ground/window_services.h"
#include "ui/shell/turns/chat_session.h"
#include "ui/theme/rooms.h"

namespace winnow::ui {

MethodDialogs::MethodDialogs(const WindowServices& services, ChatSession& session, Composer& composer, QObject* parent)
    : QObject(parent), m_methods(services.methods), m_settings(services.settings), m_session(session), m_composer(composer) {
  connect(m_composer.method(), &MethodControl::pickRequested, this, &MethodDialogs::pick);
  connect(m_composer.method(), &MethodControl::changeRequested, this, &MethodDialogs::change);
  connect(m_composer.method()->later(), &LaterChoice::chosen, &m_session.chat, [this](Guard guard) {
    app::ConversationOptions options = m_session.chat.options();
    options.laterQuestions = guard;
    m_session.chat.setOptions(options);
  });
  connect(&m_composer, &Composer::recipeChanged, &m_session.chat, &OpenChat::setRecipe);
  connect(m_composer.method(), &MethodControl::useForNewRequested, this, [this] {
    const app::ConversationOptions options = m_session.chat.options();
    m_settings.setDefaultRecipe(options.recipe);
    m_settings.setLaterQuestions(options.laterQuestions);
  });
  connect(&m_session.chat, &OpenChat::stateChanged, this, &MethodDialogs::compareWithNew);
  connect(&m_session.chat, &OpenChat::shown, this, &MethodDialogs::compareWithNew);
  connect(&m_settings, &app::Settings::changed, this, &MethodDialogs::compareWithNew);
  compareWithNew();
}

void MethodDialogs::compareWithNew() {
  const app::ConversationOptions& options = m_session.chat.options();
  m_composer.method()->setNewChatsDiffer(options.recipe != m_settings.defaultRecipe() ||
                                         options.laterQuestions != m_settings.laterQuestions());
}

void MethodDialogs::pick() {
  auto* picker = new MethodPicker(m_methods, m_settings, m_session.chat.options().recipe, m_session.model.traits(), m_composer.window());
  connect(picker, &MethodPicker::chosen, this, &MethodDialogs::use);
  connect(picker, &MethodPicker::changeRequested, this, &MethodDialogs::edit);
  enterRoom(picker);
}

void MethodDialogs::change() { edit(m_session.chat.options().recipe); }

void MethodDialogs::edit(const app::NamedRecipe& start) {
  auto* editor = new RecipeEditor(m_methods, m_settings, start, m_session.model.info().traits, m_composer.window());
  connect(editor, &RecipeEditor::applied, this, &MethodDialogs::use);
  enterRoom(editor);
}

void MethodDialogs::use(const app::NamedRecipe& recipe) {
  m_composer.method()->setRecipe(recipe);
  m_session.chat.setRecipe(recipe);
  m_composer.setFocus();
}

}  // namespace winnow::ui
