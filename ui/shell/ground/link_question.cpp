#include "ui/shell/ground/link_question.h"

#include <QApplication>
#include <QClipboard>
#include <QCoreApplication>
#include <QDesktopServices>
#include <QMessageBox>
#include <QPushButton>
#include <QUrl>

namespace winnow::ui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("winnow::ui::LinkQuestion", text); }

}  // namespace

void askToOpenLink(QWidget* window, const QUrl& url) {
  auto* box = new QMessageBox(QMessageBox::Question, tr("Open a link?"),
                              tr("The answer contains this link. Your browser will open this address:"), QMessageBox::NoButton, window);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setTextFormat(Qt::PlainText);
  // ASCII form: look-alike letters of other alphabets become visible.
  box->setInformativeText(QString::fromLatin1(url.toEncoded()));
  QPushButton* open = box->addButton(tr("Open in browser"), QMessageBox::AcceptRole);
  QPushButton* copy = box->addButton(tr("Copy address"), QMessageBox::ActionRole);
  box->setDefaultButton(box->addButton(QMessageBox::Cancel));
  QObject::connect(box, &QMessageBox::buttonClicked, box, [open, copy, url](QAbstractButton* clicked) {
    if (clicked == open) QDesktopServices::openUrl(url);
    if (clicked == copy) QApplication::clipboard()->setText(url.toString(QUrl::FullyEncoded));
  });
  box->open();
}

}  // namespace winnow::ui
