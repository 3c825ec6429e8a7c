#include "ui/shell/model/model_menu.h"

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <optional>
#include <utility>

#include "app/chats/settings/settings.h"
#include "app/engine/remote/key_ring.h"
#include "app/library/models/model_finder.h"
#include "app/words/display_text.h"
#include "app/words/fault_texts.h"
#include "app/words/format_text.h"
#include "app/words/library_words.h"
#include "ui/shell/ground/window_services.h"
#include "ui/shell/model/connect_dialog.h"
#include "ui/shell/model/model_session.h"
#include "ui/theme/file_dialog.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kLabelUnits = 360;  // a longer name is shortened in its middle

}  // namespace

ModelMenu::ModelMenu(ModelSession& model, const WindowServices& services, NoticeBar& notice, QWidget* window)
    : QObject(window),
      m_model(model),
      m_settings(services.settings),
      m_keys(services.keys),
      m_finder(services.models),
      m_notice(notice),
      m_window(window) {
  m_menu = new QMenu(tr("&Model"), window);
  m_menu->setToolTipsVisible(true);
  m_one = new QActionGroup(m_menu);
  buildWeights();
  m_button = new QToolButton(window);
  m_button->setAutoRaise(true);
  m_button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  m_button->setPopupMode(QToolButton::InstantPopup);
  m_button->setToolTip(tr("Model"));
  m_button->setMenu(m_menu);
  connect(&m_model, &ModelSession::changed, this, &ModelMenu::update);
  connect(&m_model, &ModelSession::refused, this, &ModelMenu::showRefused);
  connect(&m_keys, &app::KeyRing::notKept, this, &ModelMenu::showNotKept);
  connect(&m_settings, &app::Settings::changed, this, [this](const QString& key) {
    if (key == QLatin1String(app::setting_keys::kRecentModelFolders)) rebuild();
  });
  if (m_finder != nullptr) {
    connect(m_menu, &QMenu::aboutToShow, m_finder, &app::ModelFinder::look);
    connect(m_finder, &app::ModelFinder::changed, this, &ModelMenu::rebuild);
  }
  update();
}

void ModelMenu::buildWeights() {
  m_weights = new QMenu(tr("&Weights"), m_menu);
  m_weights->setToolTipsVisible(true);
  auto* group = new QActionGroup(m_weights);
  const auto add = [&](WeightFormat format, const QString& label, const QString& means) {
    QAction* action = m_weights->addAction(label, this, [this, format] { m_model.chooseWeights(format); });
    action->setCheckable(true);
    action->setActionGroup(group);
    action->setData(static_cast<int>(format));
    action->setToolTip(means);
  };
  add(WeightFormat::kAuto, tr("&As stored"), tr("The file's own precision, where this computer supports it."));
  add(WeightFormat::kFp32, tr("&32 bits"), tr("Nothing is rounded. Takes the most memory."));
  add(WeightFormat::kBf16, tr("&16 bits"), tr("What most models are published in."));
  add(WeightFormat::kInt8, tr("&8 bits"),
      tr("Half the memory of 16 bits, faster, almost the same answers. For folders; quantised files stay as they are."));
  add(WeightFormat::kInt4, tr("&4 bits"),
      tr("A third of the memory of 16 bits, fastest, some words differ. For folders; quantised files stay as they are."));
  m_weights->addSeparator();
  m_held = m_weights->addAction(QString());
  m_held->setEnabled(false);
}

QString ModelMenu::heldText() const {
  if (m_model.state() != ModelState::kReady) return {};
  const ModelInfo& info = m_model.info();
  if (!info.server.empty()) return tr("Now: %1").arg(app::displayText(QString::fromStdString(info.server)));
  return tr("Now: %1 in memory (%2)").arg(app::formatBytes(info.weight_bytes), QString::fromStdString(info.dtype));
}

QString ModelMenu::title() const {
  switch (m_model.state()) {
    case ModelState::kLoading: return m_model.progress();
    case ModelState::kReady: return app::displayText(QString::fromStdString(m_model.info().name));
    case ModelState::kFailed: return tr("Model not loaded");
    case ModelState::kNone: break;
  }
  return tr("Choose a model");
}

void ModelMenu::update() {
  const bool failed = m_model.state() == ModelState::kFailed;
  m_button->setText(m_window->fontMetrics().elidedText(title(), Qt::ElideMiddle, theme().px(220)));
  m_button->setAccessibleName(tr("Model: %1").arg(title()));
  m_button->setIcon(icon(failed ? Glyph::kWarning : Glyph::kChip, failed ? IconColor::kDanger : IconColor::kMuted));
  if (m_model.state() == ModelState::kReady && !m_model.error()) m_notice.end(NoticeAbout::kModel);
  rebuild();
}

void ModelMenu::rebuild() {
  m_menu->clear();
  m_menu->addAction(icon(Glyph::kChip, IconColor::kMuted), tr("Open a &GGUF file…"), this, &ModelMenu::chooseFile);
  m_menu->addAction(icon(Glyph::kFolder, IconColor::kMuted), tr("Open a &folder…"), this, &ModelMenu::chooseFolder);
  m_menu->addAction(icon(Glyph::kChip, IconColor::kMuted), tr("Conn&ect to a server…"), this, &ModelMenu::chooseServer);
  if (m_manage != nullptr) m_menu->addAction(m_manage);
  if (!m_offer.isEmpty()) m_menu->addAction(icon(Glyph::kChip, IconColor::kMuted), m_offer, this, &ModelMenu::offerTaken);
  m_menu->addMenu(m_weights);
  m_menu->addActions(m_serving);
  for (QAction* action : m_weights->actions()) {
    if (action->isCheckable()) action->setChecked(action->data().toInt() == static_cast<int>(m_model.weights()));
  }
  m_held->setText(heldText());
  m_held->setVisible(!m_held->text().isEmpty());
  m_menu->addSeparator();
  const QString demo = m_model.demoFolder();
  if (!demo.isEmpty()) offer(tr("Demo model (shapes and letters)"), demo);
  for (const QString& path : m_settings.recentModelFolders()) {
    // Models that were found stand below, by the name that its program has for it; Ollama's files have no other.
    const bool nameless = QFileInfo(path).fileName().startsWith(QLatin1String("sha256-"));
    const bool found = m_finder != nullptr && m_finder->find(path) != nullptr;
    if (path != demo && !nameless && !found) offer(app::modelLabel(path), path);
  }
  offerFound();
}

void ModelMenu::offerFound() {
  if (m_finder == nullptr) return;
  std::optional<app::ModelOrigin> under;
  for (const app::FoundModel& model : m_finder->models()) {
    if (under != model.origin) m_menu->addSection(app::modelOriginName(model.origin));
    under = model.origin;
    const QString shown = m_menu->fontMetrics().elidedText(app::displayText(model.name), Qt::ElideMiddle, theme().px(kLabelUnits));
    offer(shown + QLatin1Char('\t') + app::formatBytes(model.bytes), model.path, model.name);
  }
}

void ModelMenu::offer(const QString& label, const QString& path, const QString& name) {
  QString shown = app::displayText(label);
  QAction* action =
      m_menu->addAction(shown.replace(QLatin1Char('&'), QLatin1String("&&")), this, [this, path, name] { m_model.load(path, name); });
  action->setCheckable(true);
  action->setActionGroup(m_one);
  action->setChecked(m_model.state() == ModelState::kReady && m_model.folder() == path);
  action->setToolTip(app::displayText(path).toHtmlEscaped());
}

void ModelMenu::setServing(const QList<QAction*>& serving) {
  m_serving = serving;
  rebuild();
}

void ModelMenu::setManage(QAction* manage) {
  m_manage = manage;
  rebuild();
}

void ModelMenu::setOffer(const QString& label) {
  m_offer = label;
  rebuild();
}

void ModelMenu::choose() { m_menu->popup(m_button->mapToGlobal(QPoint(0, m_button->height()))); }

void ModelMenu::chooseFile() {
  QFileDialog* dialog = fileDialog(m_window, tr("Open a GGUF file"), folderHolding(m_settings.lastModelFolder()));
  dialog->setFileMode(QFileDialog::ExistingFile);
  dialog->setNameFilters({tr("GGUF models (*.gguf)"), tr("All files (*)")});
  dialog->setLabelText(QFileDialog::Accept, tr("Load"));
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) { m_model.load(file); });
  dialog->open();
}

void ModelMenu::chooseFolder() {
  QFileDialog* dialog = fileDialog(m_window, tr("Open a model’s folder"), folderHolding(m_settings.lastModelFolder()));
  dialog->setFileMode(QFileDialog::Directory);
  dialog->setOption(QFileDialog::ShowDirsOnly, true);
  dialog->setLabelText(QFileDialog::Accept, tr("Load"));
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& folder) { m_model.load(folder); });
  dialog->open();
}

void ModelMenu::chooseServer() { newConnection()->open(); }

ConnectDialog* ModelMenu::newConnection() {
  auto* dialog = new ConnectDialog(m_settings.recentModelFolders(), m_keys, m_window);
  connect(dialog, &ConnectDialog::chosen, this, [this](const QString& place) { m_model.load(place); });
  return dialog;
}

void ModelMenu::typeKey(const QString& place) {
  ConnectDialog* dialog = newConnection();
  dialog->open();
  dialog->typeKeyOf(place);
}

void ModelMenu::showFault(const app::ErrorText& text) { offerWays(noticeOf(text), m_model.folder()); }

void ModelMenu::showNotKept(const Error& why) {
  m_notice.present(
      {.text = tr("Your desktop did not keep the key: it is used until Winnow ends. A file or a variable can hold it instead."),
       .details = app::describeError(why).details});
}

void ModelMenu::showRefused(const Error& error, const QString& tried) {
  const QString demo = m_model.demoFolder();
  Notice notice = noticeOf(app::describeModelFault(error, tried, !demo.isEmpty() && tried == demo));
  if (m_model.state() == ModelState::kReady) {
    const QString name = app::displayText(QString::fromStdString(m_model.info().name));
    notice.text += QLatin1Char(' ') + tr("“%1” stays loaded.").arg(name);
  }
  if (error.code == ErrorCode::kServerKeyMissing || error.code == ErrorCode::kServerKeyRefused)
    notice.actions.push_back({tr("Type the key…"), [this, tried] { typeKey(tried); }});
  if (error.code == ErrorCode::kModelInside) {
    const QString inside = QFile::decodeName(error.subject.c_str());
    notice.actions.push_back({tr("Use that one"), [this, inside] { m_model.load(inside); }});
  }
  offerWays(std::move(notice), tried);
}

void ModelMenu::offerWays(Notice notice, const QString& tried) {
  const auto load = [this](const QString& path) { return [this, path] { m_model.load(path); }; };
  const QString demo = m_model.demoFolder();
  const bool demoIsThere = m_model.state() == ModelState::kReady && m_model.isDemo();
  notice.actions.push_back({tr("Choose another…"), [this] { choose(); }});
  if (!demo.isEmpty() && tried != demo && !demoIsThere) notice.actions.push_back({tr("Use the demo model"), load(demo)});
  if (!tried.isEmpty()) notice.actions.push_back({tr("Try again"), load(tried)});
  notice.about = NoticeAbout::kModel;
  m_notice.present(notice);
}

}  // namespace winnow::ui
