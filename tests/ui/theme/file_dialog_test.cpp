// Every dialog for files opens where the last one of its kind was chosen, or in the user's documents; never in the program's folder.
#include "ui/theme/file_dialog.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QStandardPaths>
#include <memory>

#include "tests/ui/support/window_fixture.h"
#include "ui/shell/chat/export_chat.h"

namespace winnow::test {
namespace {

class FileDialogTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    m_started = QDir::currentPath();
    ASSERT_TRUE(m_programFolder.isValid());
    ASSERT_TRUE(QDir::setCurrent(m_programFolder.path()));
  }
  void TearDown() override {
    QDir::setCurrent(m_started);
    WindowTest::TearDown();
  }
  static QString documents() {
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
    return QFileInfo(folder).isDir() ? folder : QDir::homePath();
  }
  // Where the dialog that is open opened; closes it.
  QString place() {
    auto* dialog = m_window->findChild<QFileDialog*>();
    if (dialog == nullptr) return QStringLiteral("no dialog");
    const QString folder = dialog->directory().absolutePath();
    delete dialog;
    return folder;
  }

  QTemporaryDir m_programFolder;
  QString m_started;
};

TEST_F(FileDialogTest, OpensInTheFolderThatIsKnownOrInTheDocuments) {
  const QTemporaryDir videos;
  const auto placeFor = [](const QString& folder) {
    const std::unique_ptr<QFileDialog> dialog(ui::fileDialog(nullptr, {}, folder));
    return dialog->directory().absolutePath();
  };
  EXPECT_EQ(placeFor(videos.path()), videos.path());
  EXPECT_EQ(placeFor({}), documents());
  EXPECT_EQ(placeFor(videos.filePath(QStringLiteral("gone since"))), documents());
  EXPECT_EQ(ui::folderHolding(QStringLiteral("/models/some.gguf")), QStringLiteral("/models"));
  EXPECT_EQ(ui::folderHolding(QStringLiteral("some.gguf")), QString());
  EXPECT_EQ(ui::folderHolding({}), QString());
}

TEST_F(FileDialogTest, AnExportOpensWhereOneWasSavedLast) {
  ask(QStringLiteral("What color is the star?"));
  ui::exportChat(m_window.get(), session().chat.loaded(), list_methods());
  EXPECT_EQ(place(), documents());
  const QTemporaryDir exports;
  {
    const std::unique_ptr<QFileDialog> other(ui::saveDialog(nullptr, {}, QStringLiteral("layers.csv")));
    EXPECT_EQ(other->selectedFiles(), QStringList(other->directory().filePath(QStringLiteral("layers.csv"))));
    Q_EMIT other->fileSelected(exports.filePath(QStringLiteral("layers.csv")));
  }
  ui::exportChat(m_window.get(), session().chat.loaded(), list_methods());
  EXPECT_EQ(place(), exports.path());
}

TEST_F(FileDialogTest, AttachOpensInTheDocumentsThenWhereTheLastFileWas) {
  composer()->browse();
  EXPECT_EQ(place(), documents());
  const QTemporaryDir videos;
  composer()->browse();
  auto* dialog = m_window->findChild<QFileDialog*>();
  ASSERT_NE(dialog, nullptr);
  Q_EMIT dialog->filesSelected({videos.filePath(QStringLiteral("clip.mp4"))});
  delete dialog;
  composer()->browse();
  EXPECT_EQ(place(), videos.path());
}

}  // namespace
}  // namespace winnow::test
