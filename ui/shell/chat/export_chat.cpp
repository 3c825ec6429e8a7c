#include "ui/shell/chat/export_chat.h"

#include <QCoreApplication>
#include <QFileDialog>

#include "app/chats/chat/chat_export.h"
#include "ui/chat_view/answer_figures.h"
#include "ui/chat_view/message_note.h"
#include "ui/chat_view/message_presenter.h"
#include "ui/inspector/chart_export.h"
#include "ui/models/conversation_list_model.h"
#include "ui/theme/file_dialog.h"

namespace winnow::ui {
namespace {

class ExportChatWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::ExportChatWords)
};

// A file name of the chat's title: letters, digits, and single dashes in place of everything else.
QString fileNameOf(const QString& title) {
  QString name;
  for (const QChar c : title.left(60)) {
    if (c.isLetterOrNumber()) {
      name += c;
    } else if (!name.isEmpty() && !name.endsWith(u'-')) {
      name += u'-';
    }
  }
  while (name.endsWith(u'-')) name.chop(1);
  return name.isEmpty() ? QStringLiteral("chat") : name;
}

}  // namespace

QByteArray chatAsMarkdown(const app::LoadedConversation& chat, const std::vector<MethodInfo>& methods) {
  const MessagePresenter presenter(methods);
  return app::chatToMarkdown(chat, [&](const app::StoredMessage& message) {
    const MessageContent content = presenter.contentOf(message, {chat, std::nullopt});
    app::ToldMessage told;
    for (const AttachmentSummary& attachment : content.attachments) told.attachments << attachment.detail;
    if (message.role != Role::kAssistant) return told;
    if (message.hasCause) told.writer = content.roleLabel;
    told.notes = noteOf(content).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    for (const AttachmentSummary& pointedAt : content.attachments)
      told.notes << ExportChatWords::tr("In %1, in pixels: %2").arg(pointedAt.title, pointedAt.detail);
    QStringList figures;
    for (const QString& text : metricTexts(content)) figures << text;
    if (!figures.isEmpty()) told.notes << figures.join(QStringLiteral(" · "));
    return told;
  });
}

void exportChat(QWidget* window, const app::LoadedConversation& chat, const std::vector<MethodInfo>& methods) {
  const QString name = fileNameOf(ConversationListModel::shownTitle(chat.conversation)) + QStringLiteral(".md");
  QFileDialog* dialog = saveDialog(window, ExportChatWords::tr("Export the chat"), name);
  const QString markdown = ExportChatWords::tr("Markdown: what is shown (*.md)");
  const QString json = ExportChatWords::tr("JSON: everything, with figures (*.json)");
  dialog->setNameFilters({markdown, json});
  dialog->setDefaultSuffix(QStringLiteral("md"));
  QObject::connect(dialog, &QFileDialog::filterSelected, dialog, [dialog, json](const QString& filter) {
    dialog->setDefaultSuffix(filter == json ? QStringLiteral("json") : QStringLiteral("md"));
  });
  // Takes the chat as it is now: it may be another one, or another branch, by the time a name is chosen.
  QObject::connect(dialog, &QFileDialog::fileSelected, window, [window, chat, methods](const QString& path) {
    const bool everything = path.endsWith(QLatin1String(".json"), Qt::CaseInsensitive);
    writeInBackground(window, path, everything ? app::chatToJson(chat) : chatAsMarkdown(chat, methods));
  });
  dialog->open();
}

}  // namespace winnow::ui
