#include "ui/composer/password_dialog.h"

#include <QCheckBox>
#include <QDialogButtonBox>
#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/words/attached_words.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

PasswordDialog::PasswordDialog(MediaPreview& preview, const QByteArray& path, QWidget* parent)
    : QDialog(parent), m_preview(preview), m_path(path) {
  setAttribute(Qt::WA_DeleteOnClose);
  setWindowTitle(tr("Password"));
  auto* layout = new QVBoxLayout(this);
  setSpacing(layout, 8);
  auto* asks = wrappedLabel(
      tr("“%1” is encrypted. Its password is held until Winnow ends, and saved nowhere.").arg(app::attachedName(QFile::decodeName(path))));
  layout->addWidget(asks);
  m_box = new QLineEdit;
  m_box->setEchoMode(QLineEdit::Password);
  m_box->setAccessibleName(tr("Password of the document"));
  layout->addWidget(m_box);
  m_told = wrappedLabel(QString(), TextRole::kCaption);
  const auto colour = [this] {
    QPalette palette = m_told->palette();
    palette.setColor(QPalette::WindowText, theme().colors().warning);
    m_told->setPalette(palette);
  };
  connect(&theme(), &Theme::changed, this, colour);
  colour();
  auto* shown = new QCheckBox(tr("&Show it"));
  connect(shown, &QCheckBox::toggled, this, [this](bool show) { m_box->setEchoMode(show ? QLineEdit::Normal : QLineEdit::Password); });
  layout->addWidget(shown);
  layout->addWidget(m_told);
  layout->addStretch(1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  m_open = buttons->addButton(tr("Open"), QDialogButtonBox::AcceptRole);
  setPrimary(m_open);
  m_open->setEnabled(false);
  layout->addWidget(buttons);
  m_open->setDefault(true);  // of the dialog that it is in by now
  connect(buttons, &QDialogButtonBox::accepted, this, &PasswordDialog::tryIt);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(m_box, &QLineEdit::textChanged, this, [this](const QString& text) { m_open->setEnabled(!text.isEmpty() && m_token == 0); });
  connect(&m_preview, &MediaPreview::probed, this, [this](PreviewToken token) {
    if (token == m_token) accept();
  });
  connect(&m_preview, &MediaPreview::failed, this, [this](PreviewToken token, const Error& error) {
    if (token != m_token) return;
    error.code == ErrorCode::kPasswordNeeded ? refuse(tr("This is not its password.")) : accept();
  });
  if (parent != nullptr) resize(std::min(theme().px(420), parent->window()->width() - theme().px(24)), sizeHint().height());
  m_box->setFocus();
}

PasswordDialog::~PasswordDialog() {
  if (m_token != 0) m_preview.cancel(m_token);
}

QString PasswordDialog::told() const { return m_told->text(); }

void PasswordDialog::tryIt() {
  m_preview.unlock(m_path, m_box->text());
  m_told->setText(tr("Opening…"));
  m_open->setEnabled(false);
  m_token = m_preview.probe(m_path, {});
}

void PasswordDialog::refuse(const QString& why) {
  m_token = 0;
  m_preview.unlock(m_path, {});
  m_told->setText(why);
  m_open->setEnabled(true);
  m_box->selectAll();
  m_box->setFocus();
}

}  // namespace winnow::ui
