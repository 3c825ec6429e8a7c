// Chats of another program join the list, and the window says how many, or why none did.
#include <QFile>

#include "tests/ui/support/window_fixture.h"
#include "ui/shell/ground/notice_bar.h"

namespace winnow::test {
namespace {

class ImportedChats : public WindowTest {
 protected:
  QString import(const QByteArray& written) {
    QFile file(m_folder.filePath(QStringLiteral("exported.json")));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly) && file.write(written) == written.size());
    file.close();
    auto* bar = m_window->findChild<ui::NoticeBar*>(QStringLiteral("undo"));
    bar->dismiss();
    session().list.import(file.fileName(), {});
    EXPECT_TRUE(waitUntil([bar] { return !bar->text().isEmpty(); }));
    return bar->text();
  }
};

TEST_F(ImportedChats, JoinTheListAndAreReadLikeOwnOnes) {
  const QByteArray older = R"([{"title": "Moons", "created_at": 1500000000, "chat": {"history": {"currentId": "a", "messages": {
      "a": {"role": "user", "content": "Which moon?"}}}}}])";
  const QByteArray chats = R"([{"title": "Rivers", "created_at": 1600000000, "chat": {"history": {"currentId": "b", "messages": {
      "a": {"role": "user", "content": "Longest river?"}, "b": {"parentId": "a", "role": "assistant", "content": "The **Nile**.", "model": "qwen"}}}}}])";
  EXPECT_EQ(import(chats), QStringLiteral("1 chat imported."));
  ASSERT_TRUE(waitUntil([this] { return session().list.model().rowCount() == 1; }));
  session().chat.open(session().list.model().idAt(0));
  ASSERT_TRUE(waitUntil([this] { return session().chat.branch().size() == 2; }));
  EXPECT_EQ(session().chat.branch().last().run.modelName, QStringLiteral("qwen"));
  EXPECT_EQ(import(older), QStringLiteral("1 chat imported."));
  ASSERT_TRUE(waitUntil([this] { return session().list.model().rowCount() == 2; }));
  EXPECT_EQ(session().list.model().idAt(0), session().chat.id()) << "the newer one stays above";
  EXPECT_EQ(import(chats), QStringLiteral("0 chats imported. 1 had been imported before."));
  EXPECT_TRUE(import(R"([{"title": "x"}])").startsWith(QStringLiteral("“exported.json” has no chats of ChatGPT or Open WebUI")));
  EXPECT_EQ(import("PK\x03\x04"), QStringLiteral("“exported.json” is an archive. Unpack it, then choose the file in it."));
}

}  // namespace
}  // namespace winnow::test
