#include <QDialog>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <algorithm>

#include "app/engine/cache_store/conversation_caches.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/shell/chat/kept_chats_dialog.h"

namespace winnow::test {
namespace {

class KeptChats : public WindowTest {
 protected:
  void SetUp() override {
    const QString kept = m_folder.filePath(QStringLiteral("kept"));
    ASSERT_TRUE(QDir().mkpath(kept));
    QFile file(kept + QStringLiteral("/3.safetensors"));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(QByteArray(2048, 'k'));
    file.close();
    m_kept = std::make_unique<app::ConversationCaches>(QFile::encodeName(kept).toStdString());
    m_kept->lookAtFolder();
    m_caches = m_kept.get();
    WindowTest::SetUp();
  }
  const ui::KeptChatsDialog* shown() { return m_window->findChild<ui::KeptChatsDialog*>(); }

  std::unique_ptr<app::ConversationCaches> m_kept;
};

// What was kept stayed on the disk, the chats' text in it, when keeping was switched off, and could not be forgotten any more.
TEST_F(KeptChats, SwitchingKeepingOffShowsWhatIsStillThere) {
  EXPECT_EQ(shown(), nullptr);
  m_kept->setUse(app::CacheUse::kForgetOnly);  // as the program does when the setting changes
  m_settings->setKeepConversations(false);
  const ui::KeptChatsDialog* dialog = shown();
  ASSERT_NE(dialog, nullptr);
  EXPECT_EQ(dialog->rows(), 1);
  EXPECT_TRUE(dialog->findChild<QLabel*>()->text().contains(QStringLiteral("is still on the disk")))
      << dialog->findChild<QLabel*>()->text().toStdString();
  for (QPushButton* button : dialog->findChildren<QPushButton*>()) {
    if (button->text() == QStringLiteral("Forget all")) button->click();
  }
  EXPECT_TRUE(waitUntil([this] {
    const std::vector<Request> asked = m_log->requests();
    return std::any_of(asked.begin(), asked.end(), [](const Request& request) {
      const auto* forget = std::get_if<ForgetConversation>(&request.body);
      return forget != nullptr && forget->conversation == 3;
    });
  }));
}

// A row without anything to forget is no row.
TEST_F(KeptChats, AChatOfWhichNothingIsKeptIsNotListed) {
  QFile empty(m_folder.filePath(QStringLiteral("kept/4.safetensors")));
  ASSERT_TRUE(empty.open(QIODevice::WriteOnly));
  empty.close();
  app::ConversationCaches caches(QFile::encodeName(m_folder.filePath(QStringLiteral("kept"))).toStdString());
  caches.lookAtFolder();
  const ui::KeptChatsDialog dialog(caches, session().list.model(), *m_engine, m_window.get());
  EXPECT_EQ(dialog.rows(), 1);
  EXPECT_TRUE(dialog.findChild<QLabel*>()->text().contains(QStringLiteral("1 chat"))) << dialog.findChild<QLabel*>()->text().toStdString();
}

TEST_F(KeptChats, SwitchingKeepingOnShowsNothing) {
  m_settings->setKeepConversations(false);
  delete shown();
  m_settings->setKeepConversations(true);
  EXPECT_EQ(shown(), nullptr);
}

}  // namespace
}  // namespace winnow::test
