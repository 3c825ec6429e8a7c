#include "ui/shell/model/connect_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>

#include "app/library/network/addresses.h"
#include "app/words/display_text.h"
#include "app/words/error_text.h"
#include "ui/theme/dialog_page.h"
#include "ui/theme/file_dialog.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

using KeyKind = app::KeySource::Kind;

QComboBox* editable(const QString& name) {
  auto* box = new QComboBox;
  box->setEditable(true);
  box->setInsertPolicy(QComboBox::NoInsert);
  box->setAccessibleName(name);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  return box;
}

// Unencrypted, and not to this very machine.
bool goesOpenly(const app::ServerAddress& address) {
  const QUrl url(QString::fromStdString(address.url));
  return url.scheme() == QLatin1String("http") && !app::isLoopback(url.host());
}

}  // namespace

ConnectDialog::ConnectDialog(const QStringList& known, app::KeyRing& keys, QWidget* parent)
    : QDialog(parent), m_keys(keys), m_models(&keys) {
  build();
  connect(m_test, &QPushButton::clicked, this, &ConnectDialog::test);
  connect(m_browse, &QPushButton::clicked, this, &ConnectDialog::browse);
  connect(m_address, &QComboBox::currentTextChanged, this, &ConnectDialog::changed);
  connect(m_address, &QComboBox::activated, this, [this](int index) { fill(m_address->itemData(index).toString()); });
  connect(m_keyKind, &QComboBox::currentIndexChanged, this, &ConnectDialog::changed);
  for (QLineEdit* line : {m_keyName, m_key}) connect(line, &QLineEdit::textChanged, this, &ConnectDialog::changed);
  connect(&m_models, &app::ServerModels::listed, this, &ConnectDialog::showListed);
  connect(&m_keys, &app::KeyRing::desktopChanged, this, &ConnectDialog::changed);
  connect(m_keyKind, &QComboBox::currentIndexChanged, this, [this] {
    if (chosenKind() == KeyKind::kDesktop) m_keys.look();
  });
  for (const QString& place : known) {
    if (!app::isServerAddress(place.toStdString())) continue;
    const QString url = place.section(QLatin1Char('#'), 0, 0);
    if (m_address->findText(url) < 0) m_address->addItem(url, place);
  }
  m_address->setCurrentIndex(m_address->count() > 0 ? 0 : -1);
  fill(m_address->currentData().toString());
  changed();
  if (parent != nullptr)
    resize(std::min(theme().px(540), parent->window()->width() - theme().px(24)),
           std::min(theme().px(400), parent->window()->height() - theme().px(24)));
}

void ConnectDialog::build() {
  setWindowTitle(tr("Connect to a server"));
  setAttribute(Qt::WA_DeleteOnClose);
  auto* outer = new QVBoxLayout(this);
  auto* page = new QWidget;
  QFormLayout* form = formOn(page);
  form->addRow(
      wrappedLabel(tr("A server with an OpenAI-compatible API answers instead of a model on this computer: vLLM, SGLang, llama-server, "
                      "Ollama, LM Studio. What you ask and attach is sent to it."),
                   TextRole::kBody));
  m_address = editable(tr("Address of the server"));
  m_address->lineEdit()->setPlaceholderText(QStringLiteral("http://localhost:8000/v1"));
  form->addRow(tr("&Address"), m_address);
  m_keyKind = new QComboBox;
  m_keyKind->addItem(tr("None"), int(KeyKind::kNone));
  m_keyKind->addItem(tr("Typed here"), int(KeyKind::kDesktop));
  m_keyKind->addItem(tr("In an environment variable"), int(KeyKind::kEnvironment));
  m_keyKind->addItem(tr("In a file"), int(KeyKind::kFile));
  form->addRow(tr("&Key"), m_keyKind);
  auto* row = new QHBoxLayout;
  setSpacing(row, 6);
  m_keyName = new QLineEdit;
  m_key = new QLineEdit;
  m_key->setEchoMode(QLineEdit::Password);
  m_key->setAccessibleName(tr("The key"));
  m_browse = new QPushButton(tr("Choose…"));
  m_browse->setAccessibleName(tr("Choose the file that holds the key"));
  m_browse->setAutoDefault(false);
  row->addWidget(m_keyName, 1);
  row->addWidget(m_key, 1);
  row->addWidget(m_browse);
  form->addRow(row);
  auto* models = new QHBoxLayout;
  setSpacing(models, 6);
  m_model = editable(tr("Model"));
  m_model->lineEdit()->setPlaceholderText(tr("The first that it lists"));
  m_test = new QPushButton(tr("List models"));
  m_test->setAutoDefault(false);
  models->addWidget(m_model, 1);
  models->addWidget(m_test);
  form->addRow(tr("&Model"), models);
  static_cast<QLabel*>(form->labelForField(models))->setBuddy(m_model);
  m_status = wrappedLabel(QString(), TextRole::kCaption);
  form->addRow(m_status);
  outer->addWidget(scrolling(page), 1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  m_connect = buttons->addButton(tr("Connect"), QDialogButtonBox::AcceptRole);
  setPrimary(m_connect);
  outer->addWidget(buttons);
  m_connect->setDefault(true);
  connect(buttons, &QDialogButtonBox::accepted, this, &ConnectDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
}

// Fills in what is known of a server that was used before.
void ConnectDialog::fill(const QString& place) {
  if (place.isEmpty()) return;
  try {
    const app::ServerAddress address = app::serverAddressOf(place.toStdString());
    m_address->setEditText(QString::fromStdString(address.url));
    m_keyKind->setCurrentIndex(std::max(m_keyKind->findData(int(address.key.kind)), 0));
    m_keyName->setText(QString::fromStdString(address.key.name));
    m_model->setEditText(QString::fromStdString(address.model));
    if (address.key.kind == KeyKind::kDesktop) m_typedBefore.insert(address.origin());
    changed();
  } catch (const Exception&) {  // of another version
  }
}

std::optional<app::ServerAddress> ConnectDialog::typed(QString* problem) const {
  try {
    app::ServerAddress address = app::serverAddressOf(m_address->currentText().toStdString());
    address.model = m_model->currentText().trimmed().toStdString();
    address.key.kind = chosenKind();
    const bool isNamed = address.key.kind == KeyKind::kEnvironment || address.key.kind == KeyKind::kFile;
    if (isNamed) address.key.name = m_keyName->text().trimmed().toStdString();
    return address;
  } catch (const Exception&) {
    if (problem != nullptr) *problem = tr("Enter an address such as http://localhost:8000/v1. Keys do not belong into it.");
    return std::nullopt;
  }
}

KeyKind ConnectDialog::chosenKind() const { return static_cast<KeyKind>(m_keyKind->currentData().toInt()); }

QString ConnectDialog::status() const { return m_status->text(); }

QString ConnectDialog::problem() const {
  QString wrong;
  const std::optional<app::ServerAddress> address = typed(&wrong);
  if (!address) return wrong;
  if (address->key.kind == KeyKind::kEnvironment && address->key.name.empty()) return tr("Name the variable that holds the key.");
  if (address->key.kind == KeyKind::kFile && address->key.name.empty()) return tr("Choose the file that holds the key.");
  if (address->key.kind == KeyKind::kDesktop) {
    const std::string key = m_key->text().toStdString();
    if (key.empty()) return m_typedBefore.contains(address->origin()) ? QString() : tr("Type the key.");
    if (!app::isServerKey(key)) return tr("A key has no spaces and no letters beyond English ones.");
  }
  return {};
}

void ConnectDialog::changed() {
  const KeyKind kind = chosenKind();
  const QString wrong = problem();
  const std::optional<app::ServerAddress> address = typed();
  m_keyName->setVisible(kind == KeyKind::kEnvironment || kind == KeyKind::kFile);
  m_keyName->setAccessibleName(kind == KeyKind::kFile ? tr("File that holds the key") : tr("Variable that holds the key"));
  m_keyName->setPlaceholderText(kind == KeyKind::kFile ? tr("/home/me/.keys/server") : QStringLiteral("OPENAI_API_KEY"));
  m_browse->setVisible(kind == KeyKind::kFile);
  m_key->setVisible(kind == KeyKind::kDesktop);
  m_key->setPlaceholderText(address && m_typedBefore.contains(address->origin()) ? tr("The one that is kept") : QString());
  QStringList said;
  if (!wrong.isEmpty()) {
    said << wrong;
  } else if (address) {
    if (kind == KeyKind::kDesktop) said << whoKeeps();
    if (goesOpenly(*address)) said << tr("Without https, others on the way can read what is sent, the key included.");
  }
  m_status->setText(m_address->currentText().trimmed().isEmpty() ? QString() : said.join(QLatin1Char(' ')));
  m_test->setEnabled(wrong.isEmpty());
  m_connect->setEnabled(wrong.isEmpty());
}

QString ConnectDialog::whoKeeps() const {
  switch (m_keys.desktop()) {
    case app::KeyRing::Desktop::kUnknown: return tr("Looking for your desktop’s key store…");
    case app::KeyRing::Desktop::kKeeps: return tr("The key is kept by your desktop’s key store, in no file of Winnow’s.");
    case app::KeyRing::Desktop::kKeepsNothing: break;
  }
  return tr("Your desktop keeps no keys: this one is used until Winnow ends. A file or a variable can hold it instead.");
}

void ConnectDialog::typeKeyOf(const QString& place) {
  fill(place);
  m_keyKind->setCurrentIndex(m_keyKind->findData(int(KeyKind::kDesktop)));
  m_typedBefore.clear();  // what was kept is no more, or is refused
  changed();
  m_key->setFocus();
}

void ConnectDialog::test() {
  const std::optional<app::ServerAddress> address = typed();
  if (!address) return;
  m_status->setText(tr("Asking %1…").arg(app::displayText(QString::fromStdString(address->host()))));
  m_test->setEnabled(false);
  if (chosenKind() == KeyKind::kDesktop && !m_key->text().isEmpty()) m_keys.hold(*address, m_key->text().toStdString());
  m_models.ask(*address);
}

void ConnectDialog::showListed(const app::ListedModels& models) {
  m_test->setEnabled(problem().isEmpty());
  if (models.error) {
    const app::ErrorText text = app::describeError(*models.error);
    m_status->setText(text.cause + QLatin1Char(' ') + text.remedy);
    m_status->setToolTip(text.details.toHtmlEscaped());
    return;
  }
  const QString before = m_model->currentText();
  m_model->clear();
  for (const std::string& name : models.names) m_model->addItem(app::displayText(QString::fromStdString(name)));
  const int found = m_model->findText(before);
  m_model->setCurrentIndex(found >= 0 || m_model->count() == 0 ? found : 0);
  m_status->setText(tr("It can be reached and lists %Ln model(s).", nullptr, static_cast<int>(models.names.size())));
}

void ConnectDialog::browse() {
  QFileDialog* dialog = fileDialog(this, tr("Choose the file that holds the key"), folderHolding(m_keyName->text().trimmed()));
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, m_keyName, &QLineEdit::setText);
  dialog->open();
}

void ConnectDialog::accept() {
  if (!problem().isEmpty()) return;
  const app::ServerAddress address = *typed();
  if (chosenKind() == KeyKind::kDesktop && !m_key->text().isEmpty()) m_keys.keep(address, m_key->text().toStdString());
  Q_EMIT chosen(QString::fromStdString(app::textOf(address)));
  QDialog::accept();
}

}  // namespace winnow::ui
