#include "ui/shell/turns/transcript_controller.h"

#include <QApplication>
#include <QClipboard>
#include <QCoreApplication>
#include <QDesktopServices>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>
#include <QUrl>
#include <algorithm>
#include <cmath>

#include "app/words/attached_words.h"
#include "app/words/display_text.h"
#include "app/words/error_text.h"
#include "ui/chat_view/place_links.h"
#include "ui/chat_view/transcript_view.h"
#include "ui/composer/document_viewer.h"
#include "ui/composer/frame_pins.h"
#include "ui/composer/frame_viewer.h"
#include "ui/composer/page_viewer.h"
#include "ui/composer/password_dialog.h"
#include "ui/models/found_places_model.h"
#include "ui/shell/ground/window_services.h"
#include "ui/shell/turns/chat_session.h"
#include "ui/shell/turns/comparison_controller.h"
#include "ui/theme/file_dialog.h"
#include "ui/theme/rooms.h"

namespace winnow::ui {
namespace {

constexpr QSize kPicturePx(800, 600);  // of one that an answer points at

QString linkWords(const char* text) { return QCoreApplication::translate("winnow::ui::LinkQuestion", text); }

// Asks before a link of an answer leaves the program: the address is shown as it really is.
void askToOpenLink(QWidget* window, const QUrl& url) {
  auto* box =
      new QMessageBox(QMessageBox::Question, linkWords("Open a link?"),
                      linkWords("The answer contains this link. Your browser will open this address:"), QMessageBox::NoButton, window);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setTextFormat(Qt::PlainText);
  // ASCII form: look-alike letters of other alphabets become visible.
  box->setInformativeText(QString::fromLatin1(url.toEncoded()));
  QPushButton* open = box->addButton(linkWords("Open in browser"), QMessageBox::AcceptRole);
  QPushButton* copy = box->addButton(linkWords("Copy address"), QMessageBox::ActionRole);
  box->setDefaultButton(box->addButton(QMessageBox::Cancel));
  QObject::connect(box, &QMessageBox::buttonClicked, box, [open, copy, url](QAbstractButton* clicked) {
    if (clicked == open) QDesktopServices::openUrl(url);
    if (clicked == copy) QApplication::clipboard()->setText(url.toString(QUrl::FullyEncoded));
  });
  box->open();
}

constexpr int kQuietMs = 400;

}  // namespace

TranscriptController::TranscriptController(const WindowServices& services, ChatSession& session, const ComparisonController& comparison,
                                           TranscriptView& view, QObject* parent)
    : QObject(parent),
      m_store(services.store),
      m_lines(services.store),
      m_preview(services.preview),
      m_session(session),
      m_comparison(comparison),
      m_view(view),
      m_presenter(services.methods) {
  m_timer.setSingleShot(true);
  m_timer.setInterval(kQuietMs);
  OpenChat* chat = &m_session.chat;
  AnswerRun* answers = &m_session.answers;
  connect(chat, &OpenChat::shown, this, &TranscriptController::showChat);
  connect(chat, &OpenChat::titleChanged, this, [this] { m_shown = m_session.chat.id(); });  // a new one gets its number when first saved
  connect(chat, &OpenChat::messageAdded, this, [this](const app::StoredMessage& message) {
    m_view.appendMessage(contentOf(message));
    if (message.role == Role::kUser) m_view.scrollToEnd();
  });
  connect(chat, &OpenChat::messageChanged, this, [this](const app::StoredMessage& message) { m_view.updateMessage(contentOf(message)); });
  connect(answers, &AnswerRun::textAdded, &m_view, &TranscriptView::appendText);
  connect(answers, &AnswerRun::thoughtAdded, &m_view, &TranscriptView::appendThought);
  connect(answers, &AnswerRun::phaseChanged, &m_view, &TranscriptView::setPhase);
  connect(&m_preview, &MediaPreview::thumbnailReady, this, [this](PreviewToken token, int, double, const QImage& image) {
    if (!m_askedPictures.contains(token)) return;
    m_pictures[m_askedPictures.take(token)] = image;
    for (const app::StoredMessage& message : m_session.chat.branch()) {
      const MessageContent content = contentOf(message);
      if (!content.attachments.empty() && content.attachments.front().pointedAt) m_view.updateMessage(content);
    }
  });
  connect(&m_view, &TranscriptView::citeRequested, this, [this](qint64 answer) { m_lines.findBehind(m_session.chat.id(), answer); });
  connect(&m_lines, &app::LineStore::found, this, &TranscriptController::showQuotes);
  connect(&m_view, &TranscriptView::quoteActivated, this, [this](qint64 answer, int number) { showPlace(m_quotes.value(answer)[number]); });
  connect(&m_view, &TranscriptView::scrolled, this, [this] {
    if (!m_restoring) m_timer.start();
  });
  connect(&m_timer, &QTimer::timeout, this, &TranscriptController::saveView);
  const auto again = [answers](AnswerRun::Again how) { return [answers, how](qint64 message) { answers->regenerate(message, how); }; };
  connect(&m_view, &TranscriptView::regenerateRequested, answers, again(AnswerRun::Again::kAnew));
  connect(&m_view, &TranscriptView::continueRequested, answers, again(AnswerRun::Again::kGoingOn));
  connect(&m_view, &TranscriptView::answerAloneRequested, answers, again(AnswerRun::Again::kAlone));
  connect(&m_view, &TranscriptView::answerNowRequested, answers, [answers] { answers->stop(AnswerRun::Stopped::kWaiting); });
  connect(&m_view, &TranscriptView::readAllRequested, answers, again(AnswerRun::Again::kFromAll));
  connect(&m_view, &TranscriptView::readAgainRequested, this, [answers](qint64 answer) {
    if (!answers->canSend()) return;
    answers->readAgain();
    answers->regenerate(answer, AnswerRun::Again::kAnew);
  });
  connect(&m_view, &TranscriptView::branchRequested, this, [this](qint64 message, int step) {
    if (!m_session.answers.busy()) m_session.chat.switchBranch(message, step);
  });
  connect(&m_view, &TranscriptView::findFileRequested, this, &TranscriptController::findFile);
  connect(&m_view, &TranscriptView::attachmentActivated, this, [this](qint64 message, int index) { openAttachment(message, index); });
  connect(&m_view, &TranscriptView::linkActivated, this, [this](qint64 message, const QUrl& url) {
    const QList<app::StoredMessage>& messages = m_session.chat.loaded().messages;
    if (const std::optional<int> page = pageOf(url)) {
      if (const std::optional<PaperInThread> paper = onlyPaper(messages, message))
        openPaper(paper->medium.message, paper->medium.attachment, *page);
    } else if (const std::optional<double> seconds = timeOf(url)) {
      if (const std::optional<MediumInThread> video = onlyVideo(messages, message)) openMedium(video->message, video->attachment, *seconds);
    } else {
      askToOpenLink(m_view.window(), url);
    }
  });
  if (services.store.isOpen()) showChat();
}

MessageContent TranscriptController::contentOf(const app::StoredMessage& message) {
  QStringList quotes;
  for (const app::SearchHit& hit : m_quotes.value(message.id)) quotes << tr("%1 · %2").arg(placeName(*hit.place), foundWords(hit));
  MessageContent content = m_presenter.contentOf(
      message, {m_session.chat.loaded(), m_session.answers.phase(), m_comparison.question(), m_unchecked.value(message.id), quotes});
  for (AttachmentSummary& attachment : content.attachments) {
    if (!attachment.pointedAt) continue;
    if (const QImage picture = pictureOf(*attachment.pointedAt); !picture.isNull()) attachment.thumbnail = picture;
  }
  return content;
}

QImage TranscriptController::pictureOf(const PointedAt& pointedAt) {
  const app::Attachment& attachment = m_session.chat.message(pointedAt.message)->attachments[pointedAt.attachment];
  const bool page = attachment.pages.first > 0;
  const double at = page ? attachment.pages.first : std::max(0.0, pointedAt.atS);
  const std::pair place(attachment.path, at);
  if (const auto known = m_pictures.find(place); known != m_pictures.end()) return known->second;
  m_pictures[place] = {};
  m_askedPictures[m_preview.thumbnails(attachment.path, page ? MediaKind::kDocument : attachment.kind, {at}, kPicturePx)] = place;
  return {};
}

void TranscriptController::noteUnchecked(app::MessageId answer, const QString& reason) {
  m_unchecked[answer] = reason;
  m_session.chat.tellChanged(answer);
}

void TranscriptController::showChat() {
  m_restoring = true;
  m_timer.stop();
  const OpenChat& chat = m_session.chat;
  if (m_shown != chat.id()) m_pictures.clear();
  std::vector<MessageContent> messages;
  for (const app::StoredMessage& message : chat.branch()) messages.push_back(contentOf(message));
  m_view.setMessages(std::move(messages));
  if (m_shown != chat.id()) m_view.restoreAnchor({chat.loaded().view.anchorMessage, chat.loaded().view.anchorOffset});
  m_shown = chat.id();
  m_restoring = false;
  if (m_wanted)
    QMetaObject::invokeMethod(this, &TranscriptController::showWanted, Qt::QueuedConnection);  // its draft comes into the box first
}

void TranscriptController::saveView() {
  m_timer.stop();
  if (m_view.messageCount() == 0) return;
  const TranscriptView::Anchor anchor = m_view.anchor();
  m_session.chat.saveView(anchor.message, anchor.offset);
}

void TranscriptController::showQuotes(app::MessageId answer, const QList<app::SearchHit>& lines) {
  if (lines.isEmpty()) return Q_EMIT refused(tr("No line of this chat's files has words of the answer."));
  m_quotes[answer] = lines;
  m_session.chat.tellChanged(answer);
}

void TranscriptController::showPlace(const app::SearchHit& hit) {
  m_wanted = hit;
  m_session.chat.id() == hit.conversation ? showWanted() : m_session.chat.open(hit.conversation);
}

void TranscriptController::showWanted() {
  if (!m_wanted || m_session.chat.id() != m_wanted->conversation) return;
  const app::SearchHit hit = *std::exchange(m_wanted, std::nullopt);
  const app::FileLine& line = hit.place->line;
  const double at = hit.place->medium == MediaKind::kDocument ? line.line : std::max(0.0, line.startS);
  if (hit.message == 0) return Q_EMIT placeInDraftWanted(hit.place->path, at);
  const app::StoredMessage* message = m_session.chat.message(hit.message);
  if (message == nullptr) return;
  m_view.restoreAnchor({hit.message, 0});
  int found = -1;
  for (int i = 0; i < message->attachments.size(); ++i) {
    const app::Attachment& attachment = message->attachments[i];
    if (attachment.sha256 == hit.place->sha256 && (found < 0 || attachment.pages.first == line.page)) found = i;
  }
  if (found < 0) return;
  if (line.page > 0) return openPaper(hit.message, found, line.page);
  const bool listed = message->attachments[found].kind == MediaKind::kVideo && line.startS >= 0;
  listed ? Q_EMIT contentsRequested(hit.message, found, at) : openMedium(hit.message, found, at);
}

void TranscriptController::openAttachment(qint64 message, int index) {
  const app::StoredMessage* stored = m_session.chat.message(message);
  if (stored != nullptr && stored->role == Role::kAssistant) {
    const std::vector<AttachmentSummary> pictures = contentOf(*stored).attachments;
    if (index < 0 || index >= std::ssize(pictures)) return;
    const PointedAt& pointedAt = *pictures[static_cast<std::size_t>(index)].pointedAt;
    return openMedium(pointedAt.message, pointedAt.attachment, pointedAt.atS, pointedAt.boxes);
  }
  const bool listed = stored != nullptr && index >= 0 && index < stored->attachments.size() && stored->attachments[index].hasContents &&
                      stored->attachments[index].kind == MediaKind::kVideo;
  listed ? Q_EMIT contentsRequested(message, index, 0) : openMedium(message, index, 0);
}

void TranscriptController::openMedium(qint64 message, int index, double at, const std::vector<DrawnBox>& boxes) {
  const app::StoredMessage* stored = m_session.chat.message(message);
  if (stored == nullptr || index < 0 || index >= stored->attachments.size()) return;
  const app::Attachment& attachment = stored->attachments[index];
  if (app::wasWatched(attachment)) {
    Q_EMIT refused(tr("The watched source cannot be viewed again: its frames were not saved."));
    return;
  }
  const bool seen = attachment.kind == MediaKind::kImage && attachment.pages.first > 0;
  if (seen || !attachment.sampled.pageLines.empty()) return openPaper(message, index, seen ? attachment.pages.first : 0);
  if (attachment.kind == MediaKind::kDocument) {
    auto* viewer = new DocumentViewer(m_preview, attachment, static_cast<int>(at), m_view.window());
    setPins(viewer, new FramePins(viewer), message, index);
    return viewer->open();
  }
  std::vector<double> times = attachment.sampled.actualS;
  if (attachment.kind == MediaKind::kVideo && times.empty()) times = app::plannedTimes(attachment);
  const auto nearer = [at](double a, double b) { return std::abs(a - at) < std::abs(b - at); };
  const auto first = static_cast<int>(std::ranges::min_element(times, nearer) - times.begin());
  auto* viewer = new FrameViewer(m_preview, attachment.path, attachment.kind, times, times.empty() ? 0 : first, m_view.window());
  viewer->compareWith(attachment);
  auto* pins = new FramePins(viewer);
  if (attachment.kind == MediaKind::kVideo) pins->setFrames(std::move(times), attachment.durationS);
  setPins(viewer, pins, message, index);
  if (attachment.kind == MediaKind::kImage) {  // the arrows step through those of the question
    std::vector<QByteArray> images;
    for (const app::Attachment& each : stored->attachments) {
      if (each.kind == MediaKind::kImage && !app::wasWatched(each)) images.push_back(each.path);
    }
    viewer->setPictures(images);
    connect(viewer, &FrameViewer::pictureShown, this, [this, viewer, message](const QByteArray& path) {
      const app::StoredMessage* shown = m_session.chat.message(message);
      const auto same = [&path](const app::Attachment& each) { return each.path == path; };
      const auto at = shown == nullptr ? -1 : std::ranges::find_if(shown->attachments, same) - shown->attachments.begin();
      if (at < 0 || at >= shown->attachments.size()) return;
      viewer->compareWith(shown->attachments[at]);
      setPins(viewer, new FramePins(viewer), message, static_cast<int>(at));
    });
  }
  viewer->setBoxes(boxes);
  viewer->open();
}

void TranscriptController::openPaper(qint64 message, int index, int page) {
  const app::Attachment& paper = m_session.chat.message(message)->attachments[index];
  auto* viewer = new PageViewer(m_preview, paper, page, m_view.window());
  if (paper.kind == MediaKind::kDocument) setPins(viewer, new FramePins(viewer), message, index);
  connect(viewer, &PageViewer::quoted, this, &TranscriptController::quoted);
  enterRoom(viewer, RoomWidth::kWhole);
}

template <typename Viewer>
void TranscriptController::setPins(Viewer* viewer, FramePins* pins, qint64 message, int index) {
  pins->setRanges(m_session.chat.message(message)->attachments[index].pins);
  connect(pins, &FramePins::changed, this, [this, pins, message, index] { m_session.chat.setPins(message, index, pins->ranges()); });
  viewer->setPins(pins, tr("After a change, your next question reads the whole chat again."));
}

// Wherever it is attached in this chat.
void TranscriptController::moveMedia(const QByteArray& from, const QByteArray& to) {
  m_store.moveMedia(m_session.chat.id(), from, to);
  for (const app::StoredMessage& each : QList(m_session.chat.loaded().messages)) {
    app::StoredMessage* message = m_session.chat.edit(each.id);
    for (app::Attachment& attachment : message->attachments) {
      if (attachment.path == from) attachment.path = to;
      if (attachment.subtitles == from) attachment.subtitles = to;
    }
    if (!message->attachments.isEmpty()) m_session.chat.tellChanged(each.id);
  }
}

void TranscriptController::findFile(qint64 answer) {
  const app::StoredMessage* failed = m_session.chat.message(answer);
  if (failed == nullptr || failed->state != app::MessageState::kFailed) return;
  find(app::parseFailure(failed->failureCode, failed->failure), [this, answer] { m_session.answers.regenerate(answer); });
}

// Reading the file shows if it is the one that was attached.
void TranscriptController::find(const Error& error, std::function<void()> then) {
  const auto missing = QByteArray::fromStdString(error.subject);
  const auto here = [this, chat = m_session.chat.id()] { return m_session.chat.id() == chat && !m_session.answers.busy(); };
  if (error.code == ErrorCode::kPasswordNeeded) {
    auto* password = new PasswordDialog(m_preview, missing, m_view.window());
    connect(password, &QDialog::accepted, this, [here, then = std::move(then)] {
      if (here()) then();
    });
    return password->open();
  }
  const QString name = app::attachedName(QFile::decodeName(missing));
  QFileDialog* dialog = fileDialog(m_view.window(), tr("Find %1").arg(name), folderHolding(QFile::decodeName(missing)));
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, [this, missing, here, then = std::move(then)](const QString& file) {
    if (!here()) return;
    moveMedia(missing, QFile::encodeName(file));
    then();
  });
  dialog->open();
}

}  // namespace winnow::ui
