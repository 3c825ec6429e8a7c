#include "ui/composer/page_viewer.h"

#include <QFile>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSplitter>
#include <QTextBlock>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/words/attached_words.h"
#include "app/words/display_text.h"
#include "app/words/error_text.h"
#include "ui/composer/frame_pins.h"
#include "ui/composer/page_list.h"
#include "ui/composer/password_dialog.h"
#include "ui/composer/viewer_parts.h"
#include "ui/theme/find_bar.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr double kZoomStep = 1.2;
constexpr int kMostZoomSteps = 8;
constexpr int kLeastZoomSteps = -4;
constexpr int kUsualWidthUnits = 640;
constexpr double kTallest = 3.0;            // of a page's sides; a taller one is shown smaller
constexpr std::size_t kMostFound = 10'000;  // places of a word that are counted

}  // namespace

PageViewer::PageViewer(MediaPreview& preview, const app::Attachment& paper, int page, QWidget* parent)
    : QDialog(parent), m_preview(preview), m_paper(paper), m_page(std::max(page, 1)) {
  setAttribute(Qt::WA_DeleteOnClose);
  setArrowsStep(this);
  setWindowTitle(app::attachedName(QFile::decodeName(paper.path)));
  if (parent != nullptr) resize(parent->window()->size() * 0.86);
  build();
  connect(&m_preview, &MediaPreview::probed, this, [this](PreviewToken token, const MediaSummary& summary) {
    if (token == m_summaryToken) onSummary(summary);
  });
  connect(&m_preview, &MediaPreview::textRead, this,
          [this](PreviewToken token, const QString& text, const std::vector<std::int32_t>& pageLines) {
            if (token == m_textToken) onText(text, pageLines);
          });
  connect(&m_preview, &MediaPreview::thumbnailReady, this, [this](PreviewToken token, int, double, const QImage& image) {
    if (token != m_pictureToken) return;
    m_image = image;
    present();
  });
  connect(&m_preview, &MediaPreview::failed, this, [this](PreviewToken token, const Error& error) {
    if (token == m_summaryToken || token == m_pictureToken) onFailed(error);
  });
  load();
}

PageViewer::~PageViewer() {
  for (const PreviewToken token : {m_summaryToken, m_textToken, m_pictureToken}) {
    if (token != 0) m_preview.cancel(token);
  }
}

void PageViewer::build() {
  auto* layout = new QVBoxLayout(this);
  m_changed = new ChangedFileNote(m_preview);
  layout->addWidget(m_changed);
  auto* middle = new QSplitter(Qt::Horizontal);
  middle->setChildrenCollapsible(false);
  m_list = new PageList(m_preview, m_paper.path);
  m_list->installEventFilter(this);
  m_picture = new QLabel(tr("Opening…"));
  m_picture->setAlignment(Qt::AlignCenter);
  m_picture->setWordWrap(true);
  m_scroll = new QScrollArea;
  setFocusFrame(m_scroll);
  m_scroll->setFocusPolicy(Qt::StrongFocus);
  m_scroll->setAlignment(Qt::AlignCenter);
  m_scroll->setWidgetResizable(true);
  m_scroll->setWidget(m_picture);
  m_scroll->setAccessibleName(tr("Picture of the page"));
  m_scroll->setMinimumWidth(theme().px(200));
  m_scroll->installEventFilter(this);
  m_scroll->viewport()->installEventFilter(this);
  m_words = new QWidget;
  auto* words = new QVBoxLayout(m_words);
  words->setContentsMargins(0, 0, 0, 0);
  setSpacing(words, 6);
  m_find = new FindBar(tr("Find in all pages"), tr("Find in all pages"));
  m_text = new QPlainTextEdit;
  setFocusFrame(m_text);
  m_text->setReadOnly(true);
  m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  m_text->setAccessibleName(tr("Text of the document"));
  m_text->setMinimumWidth(theme().px(160));
  words->addWidget(m_find);
  words->addWidget(m_text, 1);
  middle->addWidget(m_list);
  middle->addWidget(m_scroll);
  middle->addWidget(m_words);
  middle->setStretchFactor(1, 4);
  middle->setStretchFactor(2, 3);
  middle->setSizes({m_list->width(), theme().px(560), theme().px(420)});
  layout->addWidget(middle, 1);
  auto* bar = new QHBoxLayout;
  setSpacing(bar, 8);
  m_caption = lineLabel(QString(), TextRole::kCaption);
  setMuted(m_caption);
  m_pin = new PinButton(tr("Pin this document"), tr("Unpin this document"));
  m_quote = new QPushButton(tr("&Quote in the question"));
  m_quote->setAutoDefault(false);
  m_quote->setToolTip(tr("Puts the selected words, with their page, into the question"));
  m_quote->setEnabled(false);
  bar->addWidget(m_caption, 1);
  bar->addWidget(m_quote);
  bar->addWidget(m_pin);
  layout->addLayout(bar);
  connect(m_list, &PageList::chosen, this, &PageViewer::show);
  connect(m_quote, &QPushButton::clicked, this, &PageViewer::quote);
  connect(m_text, &QPlainTextEdit::selectionChanged, this, [this] { m_quote->setEnabled(m_text->textCursor().hasSelection()); });
  connect(m_text, &QPlainTextEdit::cursorPositionChanged, this, [this] {
    if (!m_following && !m_pageLines.empty()) m_list->choose(pageOfLine(m_text->textCursor().blockNumber()));
  });
  connect(m_find, &FindBar::wordsChanged, this, &PageViewer::find);
  connect(m_find, &FindBar::stepRequested, this, &PageViewer::step);
  connect(m_find, &FindBar::closed, m_text, [this] { m_text->setFocus(); });
  connect(m_pin, &PinButton::clicked, this, [this] {
    if (m_pins) m_pins->toggle(0);
    showPin();
  });
  connect(&theme(), &Theme::changed, this, &PageViewer::markFound);
  m_list->setFocus();
}

void PageViewer::load() {
  m_summaryToken = m_preview.probe(m_paper.path, m_paper.encoding);
  m_textToken = m_preview.readText(m_paper.path, m_paper.encoding);
  m_changed->look(m_paper);
}

void PageViewer::onSummary(const MediaSummary& summary) {
  m_pages = static_cast<int>(summary.pages);
  std::vector<int> numbers(static_cast<std::size_t>(m_pages));
  std::iota(numbers.begin(), numbers.end(), 1);
  m_list->setPages(numbers);
  m_list->choose(std::clamp(m_page, 1, std::max(m_pages, 1)));
}

void PageViewer::onText(const QString& text, const std::vector<std::int32_t>& pageLines) {
  m_words->setVisible(!text.trimmed().isEmpty());  // a scan has none
  m_following = true;
  m_text->setPlainText(app::displayText(text));
  m_following = false;
  m_pageLines = pageLines;
  goToText();
}

void PageViewer::onFailed(const Error& error) {
  const app::ErrorText why = app::describeError(error);
  m_picture->setText(why.cause + QLatin1Char('\n') + why.remedy);
  if (error.code != ErrorCode::kPasswordNeeded || findChild<PasswordDialog*>() != nullptr) return;
  auto* password = new PasswordDialog(m_preview, m_paper.path, this);
  connect(password, &QDialog::accepted, this, &PageViewer::load);
  password->open();
}

void PageViewer::show(int page) {
  if (m_pages == 0) return;
  m_page = std::clamp(page, 1, m_pages);
  if (m_list->page() != m_page) return m_list->choose(m_page);  // which comes back here
  m_caption->setText(tr("Page %1 of %2").arg(m_page).arg(m_pages));
  if (!m_text->hasFocus() && m_foundIndex < 0) goToText();
  askPicture();
}

void PageViewer::askPicture() {
  if (m_pages == 0) return;
  if (m_pictureToken != 0) m_preview.cancel(m_pictureToken);
  const int room = m_zoomSteps == 0 ? m_scroll->viewport()->width() : theme().px(kUsualWidthUnits);
  const double width = std::max(room, 64) * std::pow(kZoomStep, m_zoomSteps) * devicePixelRatioF();
  const bool known = !m_image.isNull() && m_image.width() > 0;
  const double ratio = known ? std::min(kTallest, double(m_image.height()) / m_image.width()) : std::sqrt(2.0);
  m_pictureToken = m_preview.thumbnails(m_paper.path, MediaKind::kDocument, {double(m_page)}, {qRound(width), qRound(width * ratio)});
}

void PageViewer::present() {
  QPixmap pixmap = QPixmap::fromImage(m_image);
  const double room = (m_scroll->viewport()->width() - 2.0) * devicePixelRatioF();
  if (m_zoomSteps == 0 && pixmap.width() > room) pixmap = pixmap.scaledToWidth(qRound(room), Qt::SmoothTransformation);
  pixmap.setDevicePixelRatio(devicePixelRatioF());
  m_picture->setWordWrap(false);
  m_picture->setPixmap(pixmap);
  m_picture->setAccessibleName(tr("Page %1").arg(m_page));
  m_scroll->verticalScrollBar()->setValue(0);
}

void PageViewer::resizeBy(int steps) {
  m_zoomSteps = std::clamp(m_zoomSteps + steps, kLeastZoomSteps, kMostZoomSteps);
  askPicture();
}

int PageViewer::pageOfLine(int line) const {
  const auto behind = std::ranges::upper_bound(m_pageLines, line);
  return std::max(1, static_cast<int>(behind - m_pageLines.begin()));
}

void PageViewer::goToText() {
  const auto at = static_cast<std::size_t>(m_page - 1);
  if (at >= m_pageLines.size()) return;
  m_following = true;
  QTextCursor begin(m_text->document()->findBlockByNumber(m_pageLines[at]));
  m_text->setTextCursor(begin);
  // The page's first line stands at the top.
  m_text->verticalScrollBar()->setValue(begin.block().firstLineNumber());
  m_following = false;
}

void PageViewer::find(const QString& words) {
  m_found.clear();
  m_foundIndex = -1;
  const QTextDocument* text = m_text->document();
  const int from = m_text->textCursor().selectionStart();
  for (QTextCursor at = words.trimmed().isEmpty() ? QTextCursor() : text->find(words, 0); !at.isNull() && m_found.size() < kMostFound;
       at = text->find(words, at)) {
    m_found.push_back({at.selectionStart(), at.selectionEnd()});
    if (m_foundIndex < 0 && at.selectionStart() >= from) m_foundIndex = static_cast<int>(m_found.size()) - 1;
  }
  if (m_foundIndex < 0 && !m_found.empty()) m_foundIndex = 0;
  step(0);
}

void PageViewer::step(int by) {
  const int count = static_cast<int>(m_found.size());
  if (count > 0) {
    m_foundIndex = (m_foundIndex + by + count) % count;
    const Found& found = m_found[static_cast<std::size_t>(m_foundIndex)];
    QTextCursor cursor(m_text->document());
    cursor.setPosition(found.from);
    cursor.setPosition(found.to, QTextCursor::KeepAnchor);
    m_text->setTextCursor(cursor);  // its page follows
    m_text->centerCursor();
  }
  markFound();
  m_find->showCount(m_foundIndex, count);
}

void PageViewer::markFound() {
  QList<QTextEdit::ExtraSelection> marks;
  for (std::size_t i = 0; i < m_found.size(); ++i) {
    QTextEdit::ExtraSelection mark;
    mark.cursor = QTextCursor(m_text->document());
    mark.cursor.setPosition(m_found[i].from);
    mark.cursor.setPosition(m_found[i].to, QTextCursor::KeepAnchor);
    const bool present = static_cast<int>(i) == m_foundIndex;
    mark.format.setBackground(present ? theme().colors().accent : theme().colors().accentSoft);
    if (present) mark.format.setForeground(theme().colors().onAccent);
    marks.append(mark);
  }
  m_text->setExtraSelections(marks);
}

void PageViewer::quote() {
  const QTextCursor selected = m_text->textCursor();
  const QString words = selected.selectedText().simplified();  // its lines are the page's, not the writer's
  if (words.isEmpty()) return;
  const int line = m_text->document()->findBlock(selected.selectionStart()).blockNumber();
  Q_EMIT quoted(words, m_pageLines.empty() ? m_page : pageOfLine(line));
  accept();
}

void PageViewer::setPins(FramePins* pins, const QString& consequence) {
  m_pins = pins;
  m_pin->offer(tr("Always keep this document, with any method (P)"), consequence);
  connect(pins, &FramePins::shown, this, &PageViewer::showPin);
  showPin();
}

void PageViewer::showPin() {
  if (!m_pins.isNull()) m_pin->setPinned(m_pins->any());
}

bool PageViewer::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_scroll->viewport() && event->type() == QEvent::Resize && m_zoomSteps == 0) askPicture();
  // Keys that the views would take for themselves: a list looks for rows that begin with "+".
  if ((watched == m_scroll || watched == m_list) && event->type() == QEvent::KeyPress) {
    auto* pressed = static_cast<QKeyEvent*>(event);
    const int key = pressed->key();
    const bool sideways = watched == m_scroll && m_scroll->horizontalScrollBar()->maximum() > 0;
    const bool turns = watched == m_scroll && (key == Qt::Key_PageUp || key == Qt::Key_PageDown);
    const bool sizes = key == Qt::Key_Plus || key == Qt::Key_Minus || key == Qt::Key_P;
    if ((turns || sizes || (!sideways && (key == Qt::Key_Left || key == Qt::Key_Right))) && !(pressed->modifiers() & Qt::ControlModifier)) {
      keyPressEvent(pressed);
      return true;
    }
  }
  return QDialog::eventFilter(watched, event);
}

void PageViewer::keyPressEvent(QKeyEvent* event) {
  const int key = event->key();
  if (event->matches(QKeySequence::Find) && m_words->isVisible()) return m_find->open();
  if (event->matches(QKeySequence::FindNext) || event->matches(QKeySequence::FindPrevious))
    return step(event->matches(QKeySequence::FindNext) ? 1 : -1);
  if (key == Qt::Key_Left || key == Qt::Key_PageUp) return show(m_page - 1);
  if (key == Qt::Key_Right || key == Qt::Key_PageDown) return show(m_page + 1);
  if (key == Qt::Key_Home) return show(1);
  if (key == Qt::Key_End) return show(m_pages);
  if (key == Qt::Key_Plus || key == Qt::Key_Minus) return resizeBy(key == Qt::Key_Plus ? 1 : -1);
  if (key == Qt::Key_P && !m_pins.isNull()) return m_pins->toggle(0);
  if (key == Qt::Key_Return || key == Qt::Key_Enter) return;  // closes nothing
  QDialog::keyPressEvent(event);
}

}  // namespace winnow::ui
