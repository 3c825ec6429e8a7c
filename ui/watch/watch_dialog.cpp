#include "ui/watch/watch_dialog.h"

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

#include "app/words/display_text.h"
#include "app/words/format_text.h"
#include "ui/theme/dialog_page.h"
#include "ui/theme/file_dialog.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

using Kind = app::WatchRequest::Kind;

}  // namespace

WatchDialog::WatchDialog(const WatchCosts& costs, std::vector<app::Camera> cameras, QWidget* parent)
    : QDialog(parent),
      m_costs(costs),
      m_addresses{{Kind::kCamera, QStringLiteral("/dev/video0")},
                  {Kind::kScreen, QStringLiteral("screen:")},
                  {Kind::kNetwork, QStringLiteral("tcp://127.0.0.1:9000")},
                  {Kind::kFile, QString()}} {
  setWindowTitle(tr("Watch"));
  setAttribute(Qt::WA_DeleteOnClose);
  auto* outer = new QVBoxLayout(this);
  auto* page = new QWidget;
  QFormLayout* form = formOn(page);
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
  m_camera = new QComboBox;
  m_camera->setAccessibleName(tr("Camera"));
  for (const app::Camera& camera : cameras)
    m_camera->addItem(app::displayText(QString::fromStdString(camera.name)).simplified(), QString::fromStdString(camera.device));
  if (!cameras.empty()) m_camera->addItem(tr("Another device…"), QString());
  m_screen = new QComboBox;
  m_screen->setAccessibleName(tr("Screen"));
  m_screen->addItem(tr("The whole screen"), QStringLiteral("screen:"));
  m_screen->addItem(tr("Another screen…"), QString());
  auto* row = new QHBoxLayout;
  setSpacing(row, 6);
  row->addWidget(m_camera, 1);
  row->addWidget(m_screen, 1);
  row->addWidget(m_address, 1);
  row->addWidget(m_browse);
  form->addRow(tr("&Address"), row);
  static_cast<QLabel*>(form->labelForField(row))->setBuddy(m_address);
  m_address->setAccessibleName(tr("Address"));
  m_hint = wrappedLabel(QString(), TextRole::kCaption);
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
  m_cap->setGroupSeparatorShown(true);
  m_cap->setSingleStep(100);
  m_cap->setValue(static_cast<int>(app::WatchRequest().capSlots));
  m_cap->setSuffix(tr(" tokens"));
  form->addRow(tr("&Keep at most"), m_cap);
  m_cost = wrappedLabel(QString(), TextRole::kCaption);
  form->addRow(m_cost);
  form->addRow(wrappedLabel(
      tr("Everything stays on this computer. Frames are not saved. The chat keeps your questions, the answers and the address.")));
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
  for (QComboBox* listed : {m_camera, m_screen}) {
    connect(listed, &QComboBox::currentIndexChanged, this, [this, listed] {
      if (const QString address = listed->currentData().toString(); !address.isEmpty()) m_address->setText(address);
      showHint();
    });
  }
  connect(m_cap, &QSpinBox::valueChanged, this, &WatchDialog::showCost);
  connect(m_every, &QDoubleSpinBox::valueChanged, this, &WatchDialog::showCost);
  if (!cameras.empty()) m_address->setText(QString::fromStdString(cameras.front().device));
  if (cameras.empty()) {
    m_kind->setItemText(0, tr("Camera (none was found)"));
    m_kind->setCurrentIndex(1);  // what every computer has
  }
  showHint();
  showCost();
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

QComboBox* WatchDialog::choices() const {
  if (kindNow() == Kind::kScreen) return m_screen;
  return kindNow() == Kind::kCamera && m_camera->count() > 0 ? m_camera : nullptr;
}

QString WatchDialog::hint() const { return m_hint->text(); }

QString WatchDialog::problem() const {
  const QString address = m_address->text().trimmed();
  if (address.isEmpty()) return kindNow() == Kind::kFile ? tr("Choose a file.") : tr("Enter an address.");
  const qsizetype colon = address.indexOf(QLatin1String("://"));
  if (kindNow() == Kind::kNetwork && (colon <= 0 || colon + 3 == address.size()))
    return tr("Enter a complete network address, such as tcp://127.0.0.1:9000.");
  return {};
}

void WatchDialog::showHint() {
  QString hint;
  switch (kindNow()) {
    case Kind::kCamera:
      hint = m_camera->count() == 0                         ? tr("No camera was found. Enter a device, such as /dev/video0.")
             : m_camera->currentData().toString().isEmpty() ? tr("Enter the camera’s device, such as /dev/video0.")
                                                            : QString();
      break;
    case Kind::kScreen:
      if (m_screen->currentData().toString().isEmpty()) hint = tr("Enter “screen:” and the display’s name, such as screen::1.0.");
      break;
    case Kind::kNetwork: hint = tr("Enter the stream’s address: tcp://127.0.0.1:9000, udp:// or http://."); break;
    case Kind::kFile: hint = tr("Choose a video file that another program is still writing."); break;
  }
  const QString wrong = problem();
  m_hint->setText(wrong.isEmpty() ? hint : wrong);
  m_address->setAccessibleDescription(m_hint->text());
  m_hint->setVisible(!m_hint->text().isEmpty());
  QComboBox* listed = choices();
  for (QComboBox* each : {m_camera, m_screen}) each->setVisible(each == listed);
  m_address->setVisible(listed == nullptr || listed->currentData().toString().isEmpty());
  m_browse->setVisible(kindNow() == Kind::kFile);
  m_watch->setEnabled(wrong.isEmpty());
}

QString WatchDialog::cost() const { return m_cost->text(); }

// A cap is a number of tokens that every layer keeps; what people know is memory and time.
void WatchDialog::showCost() {
  QStringList words;
  if (m_costs.bytesPerToken > 0) words << tr("About %1 of memory.").arg(app::formatBytes(m_cap->value() * m_costs.bytesPerToken));
  if (m_costs.tokensPerFrame > 0) {
    const auto frames = m_cap->value() / m_costs.tokensPerFrame;
    const double seconds = static_cast<double>(frames) * m_every->value();
    words << tr("Keeps the first %1 in full, then the most useful parts.").arg(app::formatClock(seconds));
  }
  m_cost->setText(words.join(QLatin1Char(' ')));
  m_cost->setVisible(!words.isEmpty());
  m_cap->setAccessibleDescription(m_cost->text());
}

void WatchDialog::browse() {
  QFileDialog* dialog = fileDialog(this, tr("Choose a file that grows"), folderHolding(m_address->text().trimmed()));
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
