#include "ui/composer/composer.h"

#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMimeData>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "app/words/display_text.h"
#include "app/words/error_text.h"
#include "app/words/media_names.h"
#include "ui/composer/chat_settings_button.h"
#include "ui/composer/document_viewer.h"
#include "ui/composer/folder_chooser.h"
#include "ui/composer/frame_viewer.h"
#include "ui/composer/method_control.h"
#include "ui/composer/offered_content.h"
#include "ui/composer/page_viewer.h"
#include "ui/composer/paste_offer.h"
#include "ui/composer/thinking_choice.h"
#include "ui/theme/file_dialog.h"
#include "ui/theme/icons.h"
#include "ui/theme/labels.h"
#include "ui/theme/rooms.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {
constexpr int kNoticeMs = 12000;
}  // namespace

Composer::Composer(MediaPreview& preview, std::vector<MethodInfo> methods, QWidget* parent) : QFrame(parent), m_preview(preview) {
  setAccessibleName(tr("Composer"));
  auto* layout = new QVBoxLayout(this);
  setMargins(layout, 12, 10, 10, 8);
  setSpacing(layout, 6);
  m_notice = wrappedLabel(QString(), TextRole::kCaption);
  m_notice->hide();
  m_tray = new AttachmentTray(preview);
  m_prompt = new PromptEdit;
  layout->addWidget(m_notice);
  m_pasteOffer = new PasteOffer;
  layout->addWidget(m_tray);
  layout->addWidget(m_pasteOffer);
  layout->addWidget(m_prompt);

  auto* row = new QHBoxLayout;
  setSpacing(row, 4);
  m_attach = new QToolButton;
  m_attach->setAutoRaise(true);
  m_attach->setIcon(icon(Glyph::kAttach));
  m_attach->setToolTip(tr("Attach images, videos, sound or documents (Ctrl+O)"));
  m_attach->setAccessibleName(tr("Attach images, videos, sound or documents"));
  m_method = new MethodControl(std::move(methods));
  m_method->addLaterChoice();
  m_chatSettings = new ChatSettingsButton;
  m_thinking = new ThinkingChoice;
  m_hint = lineLabel(tr("Shift+Enter: new line"), TextRole::kCaption);
  setMuted(m_hint);
  m_compare = new QToolButton;
  m_compare->setAutoRaise(true);
  m_compare->setCheckable(true);
  m_compare->setIcon(icon(Glyph::kColumns));
  m_compare->setToolTip(tr("Compare methods (Ctrl+K)"));
  m_compare->setAccessibleName(tr("Compare methods"));
  m_send = new QToolButton;
  setPrimary(m_send);
  row->addWidget(m_attach);
  row->addWidget(m_method);
  row->addWidget(m_chatSettings);
  row->addWidget(m_thinking);
  row->addStretch(1);
  row->addWidget(m_hint);
  addGap(row, 4);
  row->addWidget(m_compare);
  row->addWidget(m_send);
  layout->addLayout(row);
  setFocusProxy(m_prompt);
  m_prompt->installEventFilter(this);

  connect(m_prompt, &PromptEdit::submitted, this, &Composer::submit);
  connect(m_prompt, &QPlainTextEdit::textChanged, this, [this] {
    updateSend();
    Q_EMIT draftChanged();
  });
  connect(m_prompt, &PromptEdit::mediaPasted, this, &Composer::addMime);
  connect(m_tray, &AttachmentTray::changed, this, [this] {
    updateSend();
    updateGeometry();
    Q_EMIT draftChanged();
  });
  connect(m_prompt, &PromptEdit::textPasted, this, [this](const QTextCursor& pasted) {
    if (pasted.selectionEnd() - pasted.selectionStart() > kLongPaste) m_pasteOffer->offer(pasted);
  });
  connect(m_pasteOffer, &PasteOffer::attachChosen, this, [this](const QString& text) { m_storing.push_back(m_preview.storeText(text)); });
  connect(m_tray, &AttachmentTray::judged, this, &Composer::updateSend);
  connect(m_tray, &AttachmentTray::emptied, m_prompt, [this] { m_prompt->setFocus(); });
  connect(m_tray, &AttachmentTray::frameActivated, this, &Composer::openMedium);
  connect(m_attach, &QToolButton::clicked, this, [this] { browse(); });
  connect(m_method, &MethodControl::recipeChanged, this, &Composer::recipeChanged);
  connect(m_compare, &QToolButton::clicked, this, [this] {
    m_compare->setChecked(compares());  // setComparing() says what is true
    Q_EMIT compareRequested();
  });
  connect(m_send, &QToolButton::clicked, this, [this] {
    if (m_busy) {
      Q_EMIT stopRequested();
    } else {
      submit();
    }
  });
  connect(&m_preview, &MediaPreview::stored, this, [this](PreviewToken token, const QByteArray& path) {
    if (std::erase(m_storing, token) > 0) addFile(path);
  });
  connect(&m_preview, &MediaPreview::lookedInto, this, [this](PreviewToken token, const FolderContents& contents) {
    if (const QByteArray folder = m_lookingInto.take(token); !folder.isEmpty()) addFolder(folder, contents);
  });
  connect(&m_preview, &MediaPreview::failed, this, [this](PreviewToken token, const Error& error) {
    if (std::erase(m_storing, token) == 0 && m_lookingInto.take(token).isEmpty()) return;
    const app::ErrorText text = app::describeError(error);
    showNotice(text.cause + QLatin1Char(' ') + text.remedy);
  });
  m_noticeTimer.setSingleShot(true);
  m_noticeTimer.setInterval(kNoticeMs);
  connect(&m_noticeTimer, &QTimer::timeout, this, [this] { showNotice(QString()); });
  connect(&theme(), &Theme::changed, this, [this] {
    showNotice(m_editing ? QString() : notice());  // its colour is the theme's
    update();
  });
  updateSend();
}

QString Composer::notice() const { return m_notice->isHidden() ? QString() : m_notice->text(); }

void Composer::showNotice(const QString& text) {
  const QString shown = text.isEmpty() && m_editing ? tr("You are editing an earlier question. Press Esc to cancel.") : text;
  m_told.clear();
  m_notice->setText(shown);
  m_notice->setVisible(!shown.isEmpty());
  QPalette palette = m_notice->palette();
  palette.setColor(QPalette::WindowText, text.isEmpty() ? theme().colors().mutedText : theme().colors().warning);
  m_notice->setPalette(palette);
  if (!text.isEmpty()) m_noticeTimer.start();
}

void Composer::editQuestion(const app::Draft& question) {
  setDraft(question);
  m_editing = true;
  showNotice(QString());
  m_prompt->setFocus();
}

app::Draft Composer::draft() const { return {m_prompt->toPlainText(), m_tray->attachments()}; }

void Composer::setDraft(const app::Draft& draft) {
  const bool blocked = blockSignals(true);
  m_editing = false;
  m_pasteOffer->dismiss();
  m_tray->clear();
  m_prompt->setPlainText(draft.text);
  m_prompt->moveCursor(QTextCursor::End);
  m_tray->setDetails(app::detailsOf(draft.attachments, m_tray->details()));
  for (const app::Attachment& attachment : draft.attachments) m_tray->add(attachment);
  blockSignals(blocked);
  showNotice(QString());
  updateSend();
}

void Composer::clear() {
  m_withDefaultFrames.clear();
  setDraft({});
}

void Composer::setBusy(bool busy) {
  m_busy = busy;
  updateSend();
}

void Composer::setBlocked(const QString& reason, WhileBlocked what) {
  m_blocked = reason;
  m_queues = !reason.isEmpty() && what == WhileBlocked::kQueue;
  updateSend();
}

void Composer::updateSend() {
  keepTold();
  const bool something = !m_prompt->toPlainText().trimmed().isEmpty() || m_comparing == Comparing::kLastQuestion;
  m_send->setIcon(icon(m_busy ? Glyph::kStop : Glyph::kSend, IconColor::kOnAccent));
  m_send->setAccessibleName(m_busy ? tr("Stop") : compares() ? tr("Compare") : tr("Send"));
  m_send->setEnabled(m_busy || (something && (m_blocked.isEmpty() || (m_queues && !compares())) && !m_tray->opening() &&
                                m_tray->refusedCount() == 0 && !m_tray->tooLong()));
  const QString unheard = this->unheard();
  m_send->setToolTip(m_busy                       ? tr("Stop (Esc)")
                     : m_queues && !compares()    ? tr("Send when the other answer is finished (Enter)")
                     : !m_blocked.isEmpty()       ? m_blocked
                     : m_tray->refusedCount() > 0 ? refusal()
                     : m_tray->tooLong()          ? tooLong()
                     : !unheard.isEmpty()         ? unheard
                     : compares()                 ? tr("Compare (Enter)")
                                                  : tr("Send (Enter)"));
}

void Composer::setComparing(Comparing comparing) {
  if (m_comparing == comparing) return;
  m_comparing = comparing;
  m_compare->setChecked(compares());
  arrangeTray();
  updateSend();
}

QString Composer::tooLong() const { return tr("A document is too long for the model. Use its beginning, or remove it."); }

// Why a sound cannot be asked about yet; empty: none is in the way.
QString Composer::unheard() const {
  for (int i = 0; i < m_tray->count(); ++i) {
    if (const QString why = m_tray->card(i)->unheard(); !why.isEmpty()) return why;
  }
  return {};
}

QString Composer::refusal() const {
  const int count = m_tray->refusedCount();
  return count == 1 ? tr("One file cannot be used. Remove it, then send.")
                    : tr("%Ln files cannot be used. Remove them, then send.", nullptr, count);
}

// The note on an obstacle follows it: refused files are counted down, and a note that is over goes away.
void Composer::keepTold() {
  if (m_told.isEmpty()) return;
  const QString now = obstacle();
  if (now == m_told) return;
  showNotice(now);
  m_noticeTimer.stop();
  m_told = now;
}

QString Composer::obstacle() const {
  if (m_busy) return tr("An answer is being written. Stop it first, or wait.");
  if (!m_blocked.isEmpty() && (!m_queues || compares())) return m_blocked;
  if (const QString why = unheard(); !why.isEmpty()) return why;
  if (m_tray->opening()) return tr("A file is still being opened.");
  if (m_tray->refusedCount() > 0) return refusal();
  if (m_tray->tooLong()) return tooLong();
  if (const qsizetype count = m_tray->attachments().size(); count > app::kMaxAttachments)
    return tr("%1 files and pages are attached, and %2 fit into one question. Use the text of a PDF, or remove some.")
        .arg(count)
        .arg(app::kMaxAttachments);
  if (m_prompt->toPlainText().toUtf8().size() > app::kMaxMessageBytes) return tr("This text is too long for one question.");
  return {};
}

bool Composer::readyToSend() {
  const QString reason = obstacle();
  if (reason.isEmpty()) return true;
  if (reason == refusal()) m_tray->showFirstRefused();
  showNotice(reason);
  m_noticeTimer.stop();
  m_told = reason;
  return false;
}

void Composer::submit() {
  const QString text = m_prompt->toPlainText();
  if ((text.trimmed().isEmpty() && m_comparing != Comparing::kLastQuestion) || !readyToSend()) return;
  m_queues ? Q_EMIT queueRequested() : Q_EMIT sendRequested(text, m_tray->attachments());
}

bool Composer::accepts(const QMimeData& mime) {
  const OfferedContent offered = contentOf(mime);
  return offered.kind != OfferedKind::kNothing && (offered.kind != OfferedKind::kText || offered.urls.isEmpty());
}

void Composer::addMime(const QMimeData& mime) {
  const OfferedContent offered = contentOf(mime);
  const bool elsewhere = !std::ranges::all_of(offered.urls, &QUrl::isLocalFile);
  const QString onlyHere = tr("Only files on this computer can be attached.");
  switch (offered.kind) {
    case OfferedKind::kFiles:
      for (const QUrl& url : offered.urls) {
        if (url.isLocalFile()) addFile(QFile::encodeName(url.toLocalFile()));
      }
      if (elsewhere) showNotice(onlyHere);
      break;
    case OfferedKind::kPicture:
      if (const auto image = qvariant_cast<QImage>(mime.imageData()); image.isNull()) {
        showNotice(tr("The clipboard holds a picture that cannot be read."));
      } else {
        m_storing.push_back(m_preview.store(image));
      }
      break;
    case OfferedKind::kText: elsewhere ? showNotice(onlyHere) : m_prompt->pasteText(offered.text); break;
    case OfferedKind::kNothing: showNotice(tr("This cannot be attached. Winnow takes images, videos, sound, documents and text."));
  }
}

void Composer::setDefaultFrames(int frames) {
  const int before = std::exchange(m_defaultFrames, frames);
  for (int i = 0; i < m_tray->count(); ++i) {
    const AttachmentCard* card = m_tray->card(i);
    const app::Attachment& attachment = card->attachment();
    if (card->frameCount() == nullptr || attachment.plan.frame_count != before || !m_withDefaultFrames.contains(attachment.path)) continue;
    card->frameCount()->setValue(frames);
  }
}

void Composer::addFile(const QByteArray& path) {
  const QString name = QFile::decodeName(path);
  if (name.endsWith(QLatin1String(".gguf"), Qt::CaseInsensitive)) {
    Q_EMIT modelDropped(name);  // whether it is one is seen when it is loaded
    return;
  }
  if (QFileInfo(name).isDir()) {
    m_lookingInto.insert(m_preview.lookInto(path), path);
    return;
  }
  app::Attachment attachment{.path = path, .plan = {.frame_count = m_defaultFrames}};
  m_withDefaultFrames.insert(path);
  const QString refused = m_tray->add(attachment);
  if (!refused.isEmpty()) showNotice(refused);
  m_prompt->setFocus();
}

void Composer::addFolder(const QByteArray& folder, const FolderContents& contents) {
  const QString path = QFile::decodeName(folder);
  if (contents.model) {
    Q_EMIT modelDropped(path);
    return;
  }
  const QString name = app::displayText(QFileInfo(QDir::cleanPath(path)).fileName());
  if (contents.files.empty()) {
    showNotice(tr("“%1” contains no images, videos or documents and is not a model.").arg(name));
    return;
  }
  const int room = std::max(0, app::kMaxAttachments - m_tray->count());
  const auto count = [&](MediaKind kind) { return std::ranges::count(contents.files, kind, &app::FolderFile::kind); };
  if (count(MediaKind::kDocument) == 0 && count(MediaKind::kVideo) < 2 && std::ssize(contents.files) <= room) {
    for (const app::FolderFile& file : contents.files) addFile(file.path);
    return;
  }
  auto* chooser = new FolderChooser(name, contents.files, room, this);
  connect(chooser, &FolderChooser::chosen, this, [this](const QList<QByteArray>& paths) {
    for (const QByteArray& path : paths) addFile(path);
  });
  connect(chooser, &FolderChooser::allWanted, this, [this, folder] { Q_EMIT shelfRequested(folder); });
  enterRoom(chooser);
}

void Composer::browse(BrowseFor what) {
  if (what == BrowseFor::kFolder) {
    QFileDialog* folders = fileDialog(this, tr("Attach the images, videos or documents of a folder"), m_browseFolder);
    folders->setFileMode(QFileDialog::Directory);
    folders->setOption(QFileDialog::ShowDirsOnly);
    folders->setLabelText(QFileDialog::Accept, tr("Attach"));
    connect(folders, &QFileDialog::fileSelected, this, [this](const QString& folder) { addFile(QFile::encodeName(folder)); });
    return folders->open();
  }
  QFileDialog* dialog = fileDialog(this, tr("Attach images, videos, sound or documents"), m_browseFolder);
  dialog->setFileMode(QFileDialog::ExistingFiles);
  const QString seen = app::mediaNames();
  const QString heard = app::soundNames();
  const QString texts = QLatin1String(app::kPaperNames) + QLatin1Char(' ') + QLatin1String(app::kOtherTextNames);
  // All first: a chosen file that the filter hides would be left out without a word, where its card says why it cannot be read.
  dialog->setNameFilters({tr("All files (*)"), tr("Images, videos, sound and documents (%1 %2 %3)").arg(seen, heard, texts),
                          tr("Images and videos (%1)").arg(seen), tr("Sound (%1)").arg(heard), tr("Documents (%1)").arg(texts)});
  dialog->setLabelText(QFileDialog::Accept, tr("Attach"));
  connect(dialog, &QFileDialog::filesSelected, this, [this](const QStringList& files) {
    for (const QString& file : files) addFile(QFile::encodeName(file));
    if (!files.isEmpty()) {
      m_browseFolder = QFileInfo(files.first()).absolutePath();
      Q_EMIT browseFolderChanged(m_browseFolder);
    }
  });
  dialog->open();
}

void Composer::openMedium(const QByteArray& path, MediaKind kind, const std::vector<double>& times, int index) {
  const AttachmentCard* attached = nullptr;
  for (int i = 0; i < m_tray->count(); ++i) {
    if (m_tray->card(i)->attachment().path == path) attached = m_tray->card(i);
  }
  const auto open = [&](auto* viewer) {
    if (attached != nullptr) viewer->setPins(attached->pins());
    viewer->open();
  };
  if (kind == MediaKind::kDocument) {
    app::Attachment document{.path = path};
    if (attached != nullptr) document.encoding = attached->attachment().encoding;
    if (attached != nullptr) document.subtitles = attached->attachment().subtitles;
    if (attached != nullptr && attached->pages() > 0 && (index == 0 || !times.empty())) {
      auto* viewer =
          new PageViewer(m_preview, document, times.empty() ? 0 : static_cast<int>(times[static_cast<std::size_t>(index)]), this);
      if (times.empty()) viewer->setPins(attached->pins());
      connect(viewer, &PageViewer::quoted, m_prompt, &PromptEdit::quote);
      return enterRoom(viewer, RoomWidth::kWhole);
    }
    return open(new DocumentViewer(m_preview, document, index, this));
  }
  auto* viewer = new FrameViewer(m_preview, path, kind, times, index, this);
  if (kind == MediaKind::kImage) {
    viewer->setPictures(m_tray->images());
    connect(viewer, &FrameViewer::pictureShown, this, [this, viewer](const QByteArray& shown) {
      for (int i = 0; i < m_tray->count(); ++i) {
        if (m_tray->card(i)->attachment().path == shown) viewer->setPins(m_tray->card(i)->pins());
      }
    });
  }
  open(viewer);
}

bool Composer::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_prompt && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_Up && key->modifiers() == Qt::NoModifier && m_prompt->document()->isEmpty() && m_tray->count() == 0) {
      Q_EMIT editLastRequested();
      return true;
    }
    if (key->key() == Qt::Key_Escape && m_editing) {
      clear();
      Q_EMIT editCancelled();
      Q_EMIT draftChanged();
      return true;
    }
  }
  if (watched == m_prompt && (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut)) update();
  return QFrame::eventFilter(watched, event);
}

void Composer::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  const int thinking = m_thinking->isHidden() ? 0 : m_thinking->sizeHint().width();
  m_hint->setVisible(width() > m_method->sizeHint().width() + m_hint->sizeHint().width() + thinking + theme().px(156));
  arrangeTray();
  m_prompt->setMaximumLines(window()->height() < theme().px(480) ? 3 : 8);
}

// If methods are chosen in a low window, they and the question come before the pictures.
void Composer::arrangeTray() {
  const bool low = window()->height() < theme().px(600);
  m_tray->setMaximumShare(compares() && low ? 0 : std::max(theme().px(72), window()->height() * 44 / 100));
}

void Composer::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = theme().colors();
  painter.setBrush(c.surface);
  painter.setPen(QPen(m_prompt->hasFocus() ? c.accent : c.border, m_prompt->hasFocus() ? 1.5 : 1.0));
  const qreal radius = theme().px(16);
  painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), radius, radius);
}

}  // namespace winnow::ui
