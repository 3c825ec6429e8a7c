#include "ui/shell/model_menu.h"

#include <QFileDialog>
#include <QFileInfo>

#include "ui/shell/model_session.h"
#include "ui/shell/notice_bar.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"
#include "ui/words/display_text.h"
#include "ui/words/model_fault_text.h"

namespace winnow::ui {

ModelMenu::ModelMenu(ModelSession& model, app::Settings& settings, const QString& demoFolder, NoticeBar& notice, QWidget* window)
    : QObject(window), m_model(model), m_settings(settings), m_demoFolder(demoFolder), m_notice(notice), m_window(window) {
  m_menu = new QMenu(tr("&Model"), window);
  m_menu->setToolTipsVisible(true);
  m_button = new QToolButton(window);
  m_button->setAutoRaise(true);
  m_button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  m_button->setPopupMode(QToolButton::InstantPopup);
  m_button->setToolTip(tr("Model"));
  m_button->setMenu(m_menu);
  connect(&m_model, &ModelSession::changed, this, &ModelMenu::update);
  connect(&m_settings, &app::Settings::changed, this, [this](const QString& key) {
    if (key == QLatin1String(app::setting_keys::kRecentModelFolders)) rebuild();
  });
  update();
}

QString ModelMenu::title() const {
  switch (m_model.state()) {
    case ModelState::kLoading:
      return m_model.progress();
    case ModelState::kReady:
      return displayText(QString::fromStdString(m_model.info().name));
    case ModelState::kFailed:
      return tr("Model not loaded");
    case ModelState::kNone:
      break;
  }
  return tr("Choose a model");
}

void ModelMenu::update() {
  const bool failed = m_model.state() == ModelState::kFailed;
  m_button->setText(m_window->fontMetrics().elidedText(title(), Qt::ElideMiddle, theme().px(220)));
  m_button->setAccessibleName(tr("Model: %1").arg(title()));
  m_button->setIcon(icon(failed ? Glyph::kWarning : Glyph::kChip, failed ? IconColor::kDanger : IconColor::kMuted));
  if (failed && m_model.error()) showFault(describeModelFault(*m_model.error(), m_model.folder(), m_model.isDemo()));
  if (m_model.state() == ModelState::kReady) m_notice.dismiss();
  rebuild();
}

void ModelMenu::rebuild() {
  m_menu->clear();
  m_menu->addAction(icon(Glyph::kFolder, IconColor::kMuted), tr("&Choose a folder…"), this, &ModelMenu::chooseFolder);
  const auto offer = [this](const QString& label, const QString& folder) {
    QAction* action = m_menu->addAction(label, this, [this, folder] { m_model.load(folder); });
    action->setCheckable(true);
    action->setChecked(m_model.state() == ModelState::kReady && m_model.folder() == folder);
    action->setToolTip(displayText(folder).toHtmlEscaped());
  };
  const auto offerByName = [&offer](const QString& path) {
    offer(displayText(QFileInfo(path).fileName()).replace(QLatin1Char('&'), QLatin1String("&&")), path);
  };
  if (!m_offer.isEmpty()) m_menu->addAction(icon(Glyph::kChip, IconColor::kMuted), m_offer, this, &ModelMenu::offerTaken);
  m_menu->addSeparator();
  if (!m_demoFolder.isEmpty()) offer(tr("Demo model (shapes and letters)"), m_demoFolder);
  for (const QString& model : m_ownModels) offerByName(model);
  for (const QString& folder : m_settings.recentModelFolders()) {
    if (folder != m_demoFolder && !m_ownModels.contains(folder)) offerByName(folder);
  }
}

void ModelMenu::setOwnModels(const QStringList& models) {
  m_ownModels = models;
  rebuild();
}

void ModelMenu::addOwnModel(const QString& model) {
  if (!m_ownModels.contains(model)) m_ownModels.append(model);
  rebuild();
}

void ModelMenu::setOffer(const QString& label) {
  m_offer = label;
  rebuild();
}

void ModelMenu::chooseFolder() {
  auto* dialog = new QFileDialog(m_window, tr("Choose a model folder"), QFileInfo(m_settings.lastModelFolder()).absolutePath());
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::Directory);
  dialog->setOption(QFileDialog::ShowDirsOnly, true);
  dialog->setLabelText(QFileDialog::Accept, tr("Load"));
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& folder) { m_model.load(folder); });
  dialog->open();
}

void ModelMenu::showFault(const ErrorText& text) {
  const auto load = [this](const QString& folder) { return [this, folder] { m_model.load(folder); }; };
  const QString tried = m_model.folder();
  Notice notice = noticeOf(text);
  if (m_model.error() && m_model.error()->code == ErrorCode::kModelInside) {
    notice.actions.push_back({tr("Use that folder"), load(QFile::decodeName(m_model.error()->subject.c_str()))});
  }
  notice.actions.push_back({tr("Choose another folder…"), [this] { chooseFolder(); }});
  if (!m_demoFolder.isEmpty() && tried != m_demoFolder) notice.actions.push_back({tr("Use the demo model"), load(m_demoFolder)});
  if (!tried.isEmpty()) notice.actions.push_back({tr("Try again"), load(tried)});
  m_notice.present(notice);
}

}  // namespace winnow::ui
