#include "ui/shell/chat/kept_chats_dialog.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "app/words/format_text.h"
#include "ui/models/conversation_list_model.h"
#include "ui/theme/dialog_page.h"
#include "ui/theme/elided_label.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kLookAgainMs = 300;  // the engine's thread forgets when it comes to it

}  // namespace

KeptChatsDialog::KeptChatsDialog(const app::ConversationCaches& caches, const ConversationListModel& chats, app::EngineHost& engine,
                                 QWidget* parent)
    : QDialog(parent), m_caches(caches), m_chats(chats), m_engine(engine) {
  setWindowTitle(tr("What chats have read"));
  setAttribute(Qt::WA_DeleteOnClose);
  auto* outer = new QVBoxLayout(this);
  m_total = new QLabel;
  m_total->setWordWrap(true);
  outer->addWidget(m_total);
  m_page = new QWidget;
  new QVBoxLayout(m_page);
  outer->addWidget(scrolling(m_page), 1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  m_all = buttons->addButton(tr("Forget all"), QDialogButtonBox::ResetRole);
  outer->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(m_all, &QPushButton::clicked, this, [this] {
    for (const app::ConversationCaches::Entry& entry : kept()) forget(entry.conversation);
  });
  auto* look = new QTimer(this);
  connect(look, &QTimer::timeout, this, [this] {
    if (static_cast<int>(kept().size()) != rows()) fill();
  });
  look->start(kLookAgainMs);
  fill();
  if (parent != nullptr)
    resize(std::min(theme().px(560), parent->window()->width() - theme().px(24)),
           std::min(theme().px(420), parent->window()->height() - theme().px(24)));
}

std::vector<app::ConversationCaches::Entry> KeptChatsDialog::kept() const {
  std::vector<app::ConversationCaches::Entry> entries = m_caches.entries();
  std::erase_if(entries, [](const app::ConversationCaches::Entry& entry) { return entry.bytes <= 0; });
  return entries;
}

int KeptChatsDialog::rows() const { return static_cast<int>(m_page->findChildren<QPushButton*>().size()); }

void KeptChatsDialog::fill() {
  auto* column = static_cast<QVBoxLayout*>(m_page->layout());
  while (QLayoutItem* item = column->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  auto* list = new QWidget;
  auto* grid = new QGridLayout(list);
  grid->setColumnStretch(0, 1);
  qint64 bytes = 0;
  int row = 0;
  const std::vector<app::ConversationCaches::Entry> entries = kept();
  for (const app::ConversationCaches::Entry& entry : entries) {
    const app::Conversation* chat = m_chats.find(entry.conversation);
    const QString title = chat != nullptr ? ConversationListModel::shownTitle(*chat) : tr("A deleted chat");
    auto* name = new ElidedLabel(Qt::ElideRight);
    name->setText(title);
    grid->addWidget(name, row, 0);
    grid->addWidget(new QLabel(app::formatBytes(entry.bytes)), row, 1, Qt::AlignRight);
    grid->addWidget(new QLabel(app::formatWhen(QDateTime::fromMSecsSinceEpoch(entry.usedMs), QDateTime::currentDateTime())), row, 2);
    auto* button = new QPushButton(tr("Forget"));
    button->setAccessibleName(tr("Forget what is saved for: %1").arg(title));
    connect(button, &QPushButton::clicked, this, [this, button, id = entry.conversation] {
      button->setEnabled(false);
      forget(id);
    });
    grid->addWidget(button, row++, 3);
    bytes += entry.bytes;
  }
  grid->setRowStretch(row, 1);
  column->addWidget(list);
  m_total->setText(entries.empty() ? tr("Nothing is saved yet. After an answer, Winnow saves what the chat has read, so that it can "
                                        "continue later without reading everything again.")
                   : m_caches.keeps()
                       ? tr("Saved for %Ln chat(s); these need not be read again: %1 of at most %2.", "", static_cast<int>(entries.size()))
                             .arg(app::formatBytes(bytes), app::formatBytes(m_caches.quota().totalBytes))
                       : tr("Saving is off. What %Ln chat(s) had read, including their text, is still on the disk: %1.", "",
                            static_cast<int>(entries.size()))
                             .arg(app::formatBytes(bytes)));
  m_all->setEnabled(!entries.empty());
}

void KeptChatsDialog::forget(ConversationId conversation) { m_engine.post(ForgetConversation{conversation}); }

}  // namespace winnow::ui
