#include "ui/shell/watch_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/theme/scrolling.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

using Kind = app::WatchRequest::Kind;

QLabel* paragraph(const QString& text) {
  auto* label = new QLabel(text);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  return label;
}

}  // namespace

WatchDialog::WatchDialog(QWidget* parent)
    : QDialog(parent),
      m_addresses{{Kind::kCamera, QStringLiteral("/dev/video0")},
                  {Kind::kScreen, QStringLiteral("screen:")},
                  {Kind::kNetwork, QStringLiteral("tcp://127.0.0.1:9000")},
                  {Kind::kFile, QString()}} {
  setWindowTitle(tr("Watch"));
  setAttribute(Qt::WA_DeleteOnClose);
  auto* outer = new QVBoxLayout(this);
  auto* page = new QWidget;
  auto* form = new QFormLayout(page);
  form->setRowWrapPolicy(QFormLayout::WrapLongRows);
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  form->setVerticalSpacing(theme().px(10));
  m_kind = new QComboBox;
  m_kind->addItem(tr("Camera"), int(Kind::kCamera));
  m_kind->addItem(tr("Screen"), int(Kind::kScreen));
  m_kind->addItem(tr("Network stream"), int(Kind::kNetwork));
  m_kind->addItem(tr("File that grows"), int(Kind::kFile));
  form->addRow(tr("&What"), m_kind);
  m_address = new QLineEdit(m_addresses[m_shown]);
  m_browse = new QPushButton(tr("Choose…"));
  m_browse->setAccessibleName(tr("Choose the file"));
  m_browse->setAutoDefault(false);  // Enter watches
  auto* row = new QHBoxLayout;
  setSpacing(row, 6);
  row->addWidget(m_address, 1);
  row->addWidget(m_browse);
  form->addRow(tr("&Address"), row);
  static_cast<QLabel*>(form->labelForField(row))->setBuddy(m_address);
  m_address->setAccessibleName(tr("Address"));
  m_hint = paragraph(QString());
  setTextRole(m_hint, TextRole::kCaption);
  form->addRow(m_hint);
  m_every = new QDoubleSpinBox;
  m_every->setRange(0.1, 60.0);
  m_every->setCorrectionMode(QAbstractSpinBox::CorrectToNearestValue);
  m_every->setDecimals(1);
  m_every->setSingleStep(0.5);
  m_every->setValue(app::WatchRequest().everyS);
  m_every->setSuffix(tr(" s"));
  form->addRow(tr("A &frame every"), m_every);
  m_cap = new QSpinBox;
  m_cap->setRange(64, 1'000'000);
  m_cap->setCorrectionMode(QAbstractSpinBox::CorrectToNearestValue);
  m_cap->setSingleStep(100);
  m_cap->setValue(static_cast<int>(app::WatchRequest().capSlots));
  m_cap->setSuffix(tr(" slots a head"));
  form->addRow(tr("&Keep at most"), m_cap);
  form->addRow(
      paragraph(tr("Nothing of it leaves this computer, and its frames are not saved. What you ask, the answers and the address "
                   "stay in the chat.")));
  outer->addWidget(scrolling(page), 1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  m_watch = buttons->addButton(tr("Watch"), QDialogButtonBox::AcceptRole);
  setPrimary(m_watch);
  outer->addWidget(buttons);
  m_watch->setDefault(true);  // the dialog hears of it only now
  connect(buttons, &QDialogButtonBox::accepted, this, &WatchDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(m_kind, &QComboBox::currentIndexChanged, this, &WatchDialog::changeKind);
  connect(m_address, &QLineEdit::textChanged, this, &WatchDialog::showHint);
  connect(m_browse, &QPushButton::clicked, this, &WatchDialog::browse);
  showHint();
  if (parent != nullptr)
    resize(std::min(theme().px(520), parent->window()->width() - theme().px(24)),
           std::min(theme().px(420), parent->window()->height() - theme().px(24)));
}

Kind WatchDialog::kindNow() const { return static_cast<Kind>(m_kind->currentData().toInt()); }

void WatchDialog::changeKind() {
  m_addresses[m_shown] = m_address->text();
  m_shown = kindNow();
  m_address->setText(m_addresses[m_shown]);
  showHint();
}

QString WatchDialog::hint() const { return m_hint->text(); }

QString WatchDialog::problem() const {
  const QString address = m_address->text().trimmed();
  if (address.isEmpty()) return kindNow() == Kind::kFile ? tr("Choose a file.") : tr("An address is missing.");
  const qsizetype colon = address.indexOf(QLatin1String("://"));
  if (kindNow() == Kind::kNetwork && (colon <= 0 || colon + 3 == address.size()))
    return tr("A network address begins with its kind, such as tcp://, and goes on with what is behind it.");
  return {};
}

void WatchDialog::showHint() {
  QString hint;
  switch (kindNow()) {
    case Kind::kCamera:
      hint = tr("The name of the camera’s device: /dev/video0 is the first one.");
      break;
    case Kind::kScreen:
      hint = tr("screen: is the screen that you see; screen::1.0 is another.");
      break;
    case Kind::kNetwork:
      hint = tr("Where the stream is: tcp://127.0.0.1:9000, udp://, http://.");
      break;
    case Kind::kFile:
      hint = tr("A video file that another program is still writing.");
      break;
  }
  const QString wrong = problem();
  m_hint->setText(wrong.isEmpty() ? hint : wrong);
  m_address->setAccessibleDescription(m_hint->text());
  m_browse->setVisible(kindNow() == Kind::kFile);
  m_watch->setEnabled(wrong.isEmpty());
}

void WatchDialog::browse() {
  auto* dialog = new QFileDialog(this, tr("Choose a file that grows"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, m_address, &QLineEdit::setText);
  dialog->open();
}

void WatchDialog::accept() {
  if (!problem().isEmpty()) return;
  const QString address = m_address->text().trimmed();
  app::WatchRequest request;
  request.kind = kindNow();
  request.address =
      request.kind == Kind::kFile ? QFile::encodeName(QFileInfo(address).absoluteFilePath()).toStdString() : address.toStdString();
  request.everyS = m_every->value();
  request.capSlots = m_cap->value();
  Q_EMIT watchRequested(request);
  QDialog::accept();
}

}  // namespace winnow::ui
