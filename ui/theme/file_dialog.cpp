#include "ui/theme/file_dialog.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QStandardPaths>

namespace winnow::ui {
namespace {

QString& savedLastIn() {
  static QString folder;
  return folder;
}

QString folderToOpen(const QString& folder) {
  if (!folder.isEmpty() && QFileInfo(folder).isDir()) return folder;
  const QString documents = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
  return QFileInfo(documents).isDir() ? documents : QDir::homePath();
}

}  // namespace

QFileDialog* fileDialog(QWidget* parent, const QString& title, const QString& folder) {
  auto* dialog = new QFileDialog(parent, title, folderToOpen(folder));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  return dialog;
}

QFileDialog* saveDialog(QWidget* parent, const QString& title, const QString& name) {
  QFileDialog* dialog = fileDialog(parent, title, savedLastIn());
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  if (!name.isEmpty()) dialog->selectFile(name);
  QObject::connect(dialog, &QFileDialog::fileSelected, dialog, [](const QString& file) { savedLastIn() = QFileInfo(file).absolutePath(); });
  return dialog;
}

QString folderHolding(const QString& path) {
  const QFileInfo file(path);
  return file.isAbsolute() ? file.absolutePath() : QString();
}

}  // namespace winnow::ui
