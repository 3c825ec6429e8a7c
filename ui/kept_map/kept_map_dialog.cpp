#include "ui/kept_map/kept_map_dialog.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QScrollArea>
#include <QSlider>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/words/error_text.h"
#include "app/words/format_text.h"
#include "ui/inspector/chart_export.h"
#include "ui/kept_map/kept_heat_map.h"
#include "ui/kept_map/lit_strip.h"
#include "ui/kept_map/patch_view.h"
#include "ui/kept_map/token_text_view.h"
#include "ui/theme/dialog_page.h"
#include "ui/theme/find_bar.h"
#include "ui/theme/icons.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kPlayMs = 600;
constexpr std::size_t kMostPictures = 64;
constexpr QSize kLargest(1280, 960);
constexpr int kNarrowUnits = 820;  // below this the frame stands under the heat-map

}  // namespace

KeptMapDialog::KeptMapDialog(MediaPreview& preview, const QString& subject, QWidget* parent)
    : QDialog(parent), m_preview(preview), m_model(this) {
  setAttribute(Qt::WA_DeleteOnClose);
  setArrowsStep(this);
  setWindowTitle(tr("Kept tokens: %1").arg(subject));
  setSizeGripEnabled(true);
  if (parent != nullptr) resize(parent->window()->size() * 0.92);
  auto* layout = new QVBoxLayout(this);
  setMargins(layout, 16, 12, 16, 12);
  setSpacing(layout, 8);

  auto* top = new QHBoxLayout;
  top->addWidget(captionLabel(tr("What each layer kept of the prompt, just before the answer.")), 1, Qt::AlignVCenter);
  top->addWidget(buildExport(), 0, Qt::AlignTop);
  layout->addLayout(top);
  m_choice = new QComboBox;
  m_choice->setAccessibleName(tr("What is shown"));
  m_choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_choice->setMinimumContentsLength(16);
  m_choice->hide();
  connect(m_choice, &QComboBox::currentIndexChanged, this, [this](int index) {
    if (index >= 0) Q_EMIT choiceMade(index);
  });
  layout->addWidget(m_choice);

  m_stack = new QStackedWidget;
  m_sentence = new QLabel;
  m_sentence->setAlignment(Qt::AlignCenter);
  m_sentence->setWordWrap(true);
  setMuted(m_sentence);
  m_stack->addWidget(m_sentence);
  m_tabs = new QTabWidget;
  m_tabs->setDocumentMode(true);
  m_tabs->addTab(buildMap(), tr("Map"));
  m_tabs->addTab(buildTable(), tr("Table"));
  m_stack->addWidget(m_tabs);
  layout->addWidget(m_stack, 1);

  m_timer.setInterval(kPlayMs);
  connect(&m_timer, &QTimer::timeout, this, [this] { m_model.setLayer(m_model.layer() + 1 < m_model.layers() ? m_model.layer() + 1 : 0); });
  connect(&m_model, &KeptMapModel::mapChanged, this, &KeptMapDialog::onMap);
  connect(&m_model, &KeptMapModel::sharesChanged, this, &KeptMapDialog::onSelection);
  connect(&m_model, &KeptMapModel::selectionChanged, this, &KeptMapDialog::onSelection);
  connect(&m_preview, &MediaPreview::thumbnailReady, this, [this](PreviewToken token, int, double, const QImage& image) {
    if (token != m_token) return;
    m_pictures.insert(m_wanted, image);
    m_order.push_back(m_wanted);
    if (m_order.size() > kMostPictures) {
      m_pictures.remove(m_order.front());
      m_order.erase(m_order.begin());
    }
    m_patches->setPicture(image);
  });
  connect(&m_preview, &MediaPreview::failed, this, [this](PreviewToken token, const Error& error) {
    if (token == m_token) m_patches->setMessage(app::describeError(error).cause);
  });
  showSentence(tr("The map appears once the prompt has been read."));
}

QToolButton* KeptMapDialog::buildExport() {
  auto* button = new QToolButton;
  button->setText(tr("Save or copy"));
  button->setIcon(icon(Glyph::kCopy, IconColor::kMuted));
  button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  button->setAutoRaise(true);
  button->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(button);
  menu->addAction(icon(Glyph::kCopy, IconColor::kMuted), tr("&Copy table"), this, &KeptMapDialog::copyTable);
  menu->addAction(tr("Save &table…"), this, [this] { saveNumbers(m_splitter, *m_tableModel, QStringLiteral("kept-tokens")); });
  menu->addAction(icon(Glyph::kImage, IconColor::kMuted), tr("Save &picture…"), this,
                  [this] { savePicture(m_splitter, QStringLiteral("kept-tokens")); });
  menu->addSeparator();
  m_textActions = {menu->addAction(icon(Glyph::kDocument, IconColor::kMuted), tr("Copy te&xt, shaded"), this,
                                   [this] { QApplication::clipboard()->setMimeData(keptTextMime(shownText())); }),
                   menu->addAction(tr("Save text as P&DF, to print…"), this,
                                   [this] {
                                     saveAs(this, tr("Save the text"), QStringLiteral("kept-text.pdf"), tr("PDF (*.pdf)"),
                                            [this] { return keptTextPdf(textTitle(), shownText()); });
                                   }),
                   menu->addAction(tr("Save text as &HTML…"), this, [this] {
                     saveAs(this, tr("Save the text"), QStringLiteral("kept-text.html"), tr("Web page (*.html)"),
                            [this] { return keptTextHtml(textTitle(), shownText()); });
                   })};
  button->setMenu(menu);
  return button;
}

QWidget* KeptMapDialog::buildMap() {
  auto* page = new QWidget;
  auto* layout = new QVBoxLayout(page);
  setMargins(layout, 0, 10, 0, 0);
  setSpacing(layout, 8);
  layout->addWidget(buildControls());
  m_splitter = new QSplitter(Qt::Horizontal);
  m_splitter->setChildrenCollapsible(false);
  m_splitter->setHandleWidth(theme().px(12));

  auto* left = new QWidget;
  auto* mapColumn = new QVBoxLayout(left);
  setMargins(mapColumn, 0, 0, 0, 0);
  setSpacing(mapColumn, 6);
  m_cell = wrappedLabel(QString(), TextRole::kStrong);
  m_heatMap = new KeptHeatMap(m_model);
  mapColumn->addWidget(m_cell);
  mapColumn->addWidget(m_heatMap, 1);
  m_strip = new LitStrip(m_model, m_preview, *m_heatMap);
  mapColumn->addWidget(m_strip);
  mapColumn->addWidget(new KeptLegend(m_model));

  auto* right = new QWidget;
  auto* detailColumn = new QVBoxLayout(right);
  setMargins(detailColumn, 0, 0, 0, 0);
  setSpacing(detailColumn, 6);
  m_partTitle = wrappedLabel(QString(), TextRole::kStrong);
  m_detail = new QStackedWidget;
  m_patches = new PatchView(m_model);
  m_text = new TokenTextView(m_model);
  m_detail->addWidget(m_patches);
  m_detail->addWidget(m_text);
  m_key = captionLabel();
  m_pointed = captionLabel();
  connect(m_patches, &PatchView::patchPointed, this, &KeptMapDialog::onPointed);
  connect(m_text, &TokenTextView::tokenPointed, this, &KeptMapDialog::onPointed);
  m_find = new FindBar(tr("Find words, or :12 for line 12"), tr("Find in the text"));
  connect(m_find, &FindBar::wordsChanged, m_text, &TokenTextView::find);
  connect(m_find, &FindBar::stepRequested, m_text, &TokenTextView::stepFound);
  connect(m_find, &FindBar::closed, m_text, [this] { m_text->setFocus(); });
  connect(m_text, &TokenTextView::foundChanged, m_find, [this] { m_find->showCount(m_text->foundIndex(), m_text->foundCount()); });
  detailColumn->addWidget(m_partTitle);
  detailColumn->addWidget(m_find);
  detailColumn->addWidget(m_pointed);
  detailColumn->addWidget(m_detail, 1);
  detailColumn->addWidget(m_key);

  m_splitter->addWidget(left);
  m_splitter->addWidget(right);
  m_splitter->setStretchFactor(0, 1);
  m_splitter->setStretchFactor(1, 1);
  layout->addWidget(m_splitter, 1);
  return scrolling(page);
}

QWidget* KeptMapDialog::buildControls() {
  auto* bar = new QWidget;
  auto* row = new QHBoxLayout(bar);
  setMargins(row, 0, 0, 0, 0);
  setSpacing(row, 8);
  m_play = new QToolButton;
  m_play->setAutoRaise(true);
  connect(m_play, &QToolButton::clicked, this, [this] { setPlaying(!playing()); });
  auto* label = new QLabel(tr("&Layer"));
  m_layer = new QSlider(Qt::Horizontal);
  m_layer->setAccessibleName(tr("Layer"));
  m_layer->setPageStep(1);
  m_layer->setMinimumWidth(theme().px(80));
  label->setBuddy(m_layer);
  m_layerNumber = new QLabel;
  connect(m_layer, &QSlider::valueChanged, &m_model, &KeptMapModel::setLayer);
  m_head = new QComboBox;
  m_head->setAccessibleName(tr("KV heads"));
  m_head->setToolTip(tr("KV heads"));
  m_head->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  connect(m_head, &QComboBox::currentIndexChanged, this, [this](int index) {
    if (index >= 0) m_model.setHead(m_head->itemData(index).toInt());
  });
  row->addWidget(m_play);
  row->addWidget(label);
  row->addWidget(m_layer, 1);
  row->addWidget(m_layerNumber);
  row->addWidget(m_head);
  setPlaying(false);
  return bar;
}

QWidget* KeptMapDialog::buildTable() {
  auto* page = new QWidget;
  auto* layout = new QVBoxLayout(page);
  setMargins(layout, 0, 10, 0, 0);
  m_tableModel = new KeptTableModel(m_model, this);
  m_table = new QTableView;
  m_table->setModel(m_tableModel);
  setFocusFrame(m_table);
  m_table->setAccessibleName(tr("Kept share by layer and part of the prompt"));
  setTextRole(m_table, TextRole::kCaption);
  setTextRole(m_table->horizontalHeader(), TextRole::kCaption);
  m_table->setShowGrid(false);
  m_table->setAlternatingRowColors(true);
  m_table->verticalHeader()->hide();
  m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_table->horizontalHeader()->setHighlightSections(false);
  m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  const auto rows = [this] { m_table->verticalHeader()->setDefaultSectionSize(theme().px(26)); };
  connect(&theme(), &Theme::changed, this, rows);
  rows();
  auto* copy = new QAction(tr("Copy"), m_table);
  copy->setShortcut(QKeySequence::Copy);
  copy->setShortcutContext(Qt::WidgetShortcut);
  m_table->addAction(copy);
  m_table->setContextMenuPolicy(Qt::ActionsContextMenu);
  connect(copy, &QAction::triggered, this, &KeptMapDialog::copyTable);
  layout->addWidget(m_table, 1);
  return page;
}

void KeptMapDialog::setChoices(const QStringList& names, int current) {
  const QSignalBlocker quiet(m_choice);
  m_choice->clear();
  m_choice->addItems(names);
  m_choice->setCurrentIndex(current);
  m_choice->setVisible(names.size() > 1);
}

void KeptMapDialog::showSentence(const QString& sentence) {
  m_sentence->setText(sentence);
  m_stack->setCurrentIndex(0);
}

bool KeptMapDialog::showsSentence() const { return m_stack->currentIndex() == 0; }
QString KeptMapDialog::sentence() const { return m_sentence->text(); }
QString KeptMapDialog::cellLine() const { return m_cell->text(); }

void KeptMapDialog::showMap(app::SharedKeptMap map, std::vector<MapMedia> media) { m_model.setMap(std::move(map), std::move(media)); }

bool KeptMapDialog::showDifference(const app::SharedKeptMap& first, const app::SharedKeptMap& second, const QString& firstName,
                                   const QString& secondName, std::vector<MapMedia> media) {
  if (m_model.setDifference(first, second, firstName, secondName, std::move(media))) return true;
  showSentence(tr("These two cannot be compared: each left out different tokens before the model read the prompt."));
  return false;
}

void KeptMapDialog::onMap() {
  const bool first = m_stack->currentIndex() == 0;
  if (m_model.isEmpty()) {
    showSentence(tr("There is no map of this answer."));
    return;
  }
  m_stack->setCurrentIndex(1);
  m_layer->setRange(0, std::max(0, m_model.layers() - 1));
  {
    const QSignalBlocker quiet(m_head);
    m_head->clear();
    m_head->addItem(tr("All heads"), KeptMapModel::kAllHeads);
    for (int head = 0; head < m_model.heads(); ++head) m_head->addItem(tr("Head %1").arg(head), head);
  }
  m_head->setVisible(m_model.headsDiffer() || m_model.merges());
  if (first) m_heatMap->setFocus();
  onSelection();
}

void KeptMapDialog::onSelection() {
  if (m_model.isEmpty()) return;
  m_layer->setValue(m_model.layer());
  m_head->setCurrentIndex(m_head->findData(m_model.head()));
  m_layerNumber->setText(tr("%1 of %2, from 0").arg(m_model.layer()).arg(m_model.layers()));
  m_cell->setText(m_model.describe(m_model.layer(), m_model.part()));
  const PromptPart& part = m_model.parts()[static_cast<std::size_t>(m_model.part())];
  m_partTitle->setText(m_model.partName(m_model.part()));
  m_detail->setCurrentWidget(part.visual() ? static_cast<QWidget*>(m_patches) : m_text);
  for (QAction* action : m_textActions) action->setEnabled(!part.visual());
  if (part.visual() && !m_find->isHidden()) m_find->close();

  const bool someHeads = m_model.headsDiffer() && m_model.head() == KeptMapModel::kAllHeads;
  QStringList key;
  if (m_model.isDifference()) {
    key << tr("Blue: only %1 keeps it").arg(m_model.firstName()) << tr("orange: only %1 keeps it").arg(m_model.secondName())
        << (part.visual() ? tr("clear: both, veiled: neither") : tr("plain: both, struck out: neither"));
  } else {
    key << (part.visual() ? tr("Clear: kept, veiled: dropped") : tr("Plain: kept, struck out: dropped"));
    if (someHeads) {
      key << (part.visual()                   ? tr("half veiled: kept by some heads")
              : part.kind == PartKind::kLines ? tr("colour: share of the heads that keep it, as in the map")
                                              : tr("bar: share of the heads that keep it"));
    }
    if (m_model.merges()) key << tr("hatched, +n: n dropped tokens were merged in");
    const auto pinned = [this](int token) { return m_model.map().isPinned(token); };
    if (std::any_of(part.tokens.begin(), part.tokens.end(), pinned)) key << tr("corner: pinned");
    if (!part.lineEnds.empty()) {
      double kept = 0;
      for (const int token : part.lineEnds) kept += m_model.kept(token);
      key << tr("line ends and markers kept: %1 of %2")
                 .arg(app::formatCount(kept), app::formatCount(static_cast<double>(part.lineEnds.size())));
    }
  }
  m_key->setText(key.join(QStringLiteral(" · ")));
  if (!m_patches->hasFocus() && !m_text->hasFocus()) onPointed({});
  fetchPicture();
}

void KeptMapDialog::onPointed(const QString& description) {
  const bool visual = !m_model.isEmpty() && m_model.parts()[static_cast<std::size_t>(m_model.part())].visual();
  m_pointed->setText(!description.isEmpty() ? description
                     : visual               ? tr("Point at a patch, or step with the arrow keys.")
                                            : tr("Point at a word, or step with the arrow keys."));
}

void KeptMapDialog::fetchPicture() {
  const PromptPart& part = m_model.parts()[static_cast<std::size_t>(m_model.part())];
  const MapMedia* media = m_model.mediaOf(part);
  if (media == nullptr || !part.visual()) {
    m_wanted.clear();
    m_patches->setMessage({});
    m_patches->setPicture({});
    return;
  }
  const bool video = media->kind == MediaKind::kVideo;
  const auto frame = static_cast<std::size_t>(std::max(0, part.frame));
  const QByteArray key = QByteArray::number(part.media) + ':' + (video ? QByteArray::number(static_cast<qulonglong>(frame)) : QByteArray());
  if (key == m_wanted) return;
  m_wanted = key;
  if (m_token != 0) m_preview.cancel(m_token);
  m_token = 0;
  m_patches->setMessage({});
  m_patches->setPicture(m_pictures.value(key));
  if (m_patches->hasPicture() || (video && frame >= media->timesS.size())) return;
  m_token = m_preview.thumbnails(media->path, media->kind, {video ? media->timesS[frame] : 0.0}, kLargest);
}

void KeptMapDialog::setPlaying(bool playing) {
  playing ? m_timer.start() : m_timer.stop();
  m_play->setIcon(icon(playing ? Glyph::kPause : Glyph::kPlay));
  const QString name = playing ? tr("Pause") : tr("Play through the layers");
  m_play->setAccessibleName(name);
  m_play->setToolTip(tr("%1 (Space)").arg(name));
}

void KeptMapDialog::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Space && !m_model.isEmpty()) {
    setPlaying(!playing());
    return;
  }
  if (event->matches(QKeySequence::Find) && !m_model.isEmpty()) return openFind();
  // If the focused part has no use for them, arrows step the map. It takes every one of them.
  if (m_heatMap->isVisible() && KeptHeatMap::stepsBy(event->key())) {
    QApplication::sendEvent(m_heatMap, event);
    return;
  }
  QDialog::keyPressEvent(event);
}

// Words are looked for in the text shown, else in the first document, or in what is said in a video.
void KeptMapDialog::openFind() {
  const std::vector<PromptPart>& parts = m_model.parts();
  if (parts[static_cast<std::size_t>(m_model.part())].visual()) {
    const auto document = std::find_if(parts.begin(), parts.end(), [](const PromptPart& part) { return part.kind == PartKind::kLines; });
    if (document == parts.end()) return;
    m_model.setPart(static_cast<int>(document - parts.begin()));
  }
  m_tabs->setCurrentIndex(0);
  m_find->open();
}

std::vector<KeptToken> KeptMapDialog::shownText() const {
  const std::vector<QString> texts = m_text->tokenTexts();
  std::vector<KeptToken> shown;
  for (std::size_t i = 0; i < texts.size(); ++i) shown.push_back({texts[i], m_model.kept(m_text->tokens()[i])});
  return shown;
}

QString KeptMapDialog::textTitle() const {
  const MapMedia* media = m_model.mediaOf(m_model.parts()[static_cast<std::size_t>(m_model.part())]);
  return tr("%1 · layer %2 · %3").arg(windowTitle(), QString::number(m_model.layer()), media != nullptr ? media->title : tr("text"));
}

void KeptMapDialog::resizeEvent(QResizeEvent* event) {
  QDialog::resizeEvent(event);
  m_splitter->setOrientation(width() < theme().px(kNarrowUnits) ? Qt::Vertical : Qt::Horizontal);
}

void KeptMapDialog::hideEvent(QHideEvent* event) {
  QDialog::hideEvent(event);
  setPlaying(false);
}

void KeptMapDialog::copyTable() const { copyNumbers(*m_tableModel, m_table->selectionModel()->selectedIndexes()); }

}  // namespace winnow::ui
