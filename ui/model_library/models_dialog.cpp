#include "ui/model_library/models_dialog.h"

#include <QDialogButtonBox>
#include <QKeyEvent>
#include <QPushButton>
#include <QScrollArea>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/model_library/card_list.h"
#include "ui/model_library/get_page.h"
#include "ui/model_library/here_page.h"
#include "ui/theme/dialog_page.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

ModelsDialog::ModelsDialog(const Sources& sources, const QString& loaded, QWidget* parent) : QDialog(parent), m_sources(sources) {
  setWindowTitle(tr("Models"));
  setAttribute(Qt::WA_DeleteOnClose);
  setArrowsStep(this);
  auto* outer = new QVBoxLayout(this);
  m_here = new HerePage(m_sources.shelf, loaded);
  m_get = new GetPage(m_sources.shelf, m_sources.queue, m_sources.hub);
  m_tabs = new QTabWidget;
  m_tabs->setDocumentMode(true);
  for (QWidget* page : {static_cast<QWidget*>(m_here), static_cast<QWidget*>(m_get)}) {
    QScrollArea* scroll = scrolling(page);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_tabs->addTab(scroll, QString());
  }
  outer->addWidget(m_tabs, 1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  buttons->button(QDialogButtonBox::Close)->setAutoDefault(false);  // Enter in the line is for the line
  outer->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(m_here, &HerePage::openRequested, this, &ModelsDialog::take);
  connect(m_get, &GetPage::openRequested, this, &ModelsDialog::take);
  connect(&m_sources.shelf, &app::ModelShelf::listed, this, &ModelsDialog::nameTabs);
  connect(&m_sources.queue, &app::DownloadQueue::listed, this, &ModelsDialog::nameTabs);
  connect(&m_sources.queue, &app::DownloadQueue::finished, &m_sources.shelf, &app::ModelShelf::look);
  nameTabs();
  if (!m_sources.queue.downloads().empty()) m_tabs->setCurrentIndex(1);
  connect(&m_sources.shelf, &app::ModelShelf::listed, this, &ModelsDialog::showFirstFull);
  connect(m_tabs, &QTabWidget::currentChanged, this, [this] { m_turned = true; });
  const QSize room = parent->window()->size() - QSize(theme().px(24), theme().px(24));
  resize(std::min(theme().px(760), room.width()), std::min(theme().px(640), room.height()));
  m_tabs->tabBar()->setFocus();
  m_sources.shelf.look();
}

void ModelsDialog::nameTabs() {
  const auto here = static_cast<int>(m_sources.shelf.models().size());
  const auto coming = static_cast<int>(m_sources.queue.downloads().size());
  m_tabs->setTabText(0, here > 0 ? tr("On this computer (%L1)").arg(here) : tr("On this computer"));
  m_tabs->setTabText(1, coming > 0 ? tr("Get a model (%L1)").arg(coming) : tr("Get a model"));
}

// The first page that has something, once it is known what lies here.
void ModelsDialog::showFirstFull() {
  if (!m_turned && m_sources.shelf.models().empty()) m_tabs->setCurrentIndex(1);
  m_turned = true;
}

// A speech model that was just fetched hears from now on, and loads into no chat.
void ModelsDialog::take(const QString& path, const QString& name) {
  for (const app::ListedModel& model : m_sources.shelf.models()) {
    if (model.found.path == path && model.found.hears) return m_sources.shelf.hearWith(model.found);
  }
  accept();
  Q_EMIT openRequested(path, name);
}

void ModelsDialog::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Up && event->key() != Qt::Key_Down) return QDialog::keyPressEvent(event);
  stepCards(m_tabs->currentIndex() == 0 ? m_here->cards() : m_get->cards(), event->key() == Qt::Key_Down ? 1 : -1);
}

}  // namespace winnow::ui
