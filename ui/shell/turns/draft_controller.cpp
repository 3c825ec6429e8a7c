#include "ui/shell/turns/draft_controller.h"

#include <algorithm>

#include "ui/chat_view/transcript_view.h"
#include "ui/composer/composer.h"
#include "ui/composer/method_control.h"
#include "ui/shell/chat/thread_media.h"
#include "ui/shell/ground/window_services.h"
#include "ui/shell/turns/chat_session.h"

namespace winnow::ui {
namespace {
constexpr int kSaveAfterMs = 400;
constexpr double kAroundS = 30.0;
}  // namespace

DraftController::DraftController(const WindowServices& services, ChatSession& session, Composer& composer, TranscriptView& transcript,
                                 QObject* parent)
    : QObject(parent),
      m_store(services.store),
      m_settings(services.settings),
      m_session(session),
      m_composer(composer),
      m_writtenEarly(!services.store.isOpen()) {
  m_timer.setSingleShot(true);
  m_timer.setInterval(kSaveAfterMs);
  OpenChat* chat = &m_session.chat;
  AnswerRun* answers = &m_session.answers;
  connect(chat, &OpenChat::storeOpened, this, [this] {
    applySettings();
    m_composer.setBrowseFolder(m_settings.lastMediaFolder());
  });
  connect(chat, &OpenChat::shown, this, &DraftController::showChat);
  connect(chat, &OpenChat::titleChanged, this, [this] { m_shown = m_session.chat.id(); });  // a new one gets its number when first saved
  connect(answers, &AnswerRun::stateChanged, this, [this] {
    if (!m_store.isOpen()) m_writtenEarly = true;
  });
  connect(&m_composer, &Composer::sendRequested, this, [this] { m_sending = true; });
  connect(&m_composer, &Composer::queueRequested, this, [this] {
    m_offered = {};  // it is the user's now
    saveNow();
  });
  connect(answers, &AnswerRun::sent, this, [this] {
    m_timer.stop();
    m_sending = false;
    m_composer.clear();
    m_composer.setFocus();
  });
  connect(&m_composer, &Composer::draftChanged, this, [this] {
    if (!m_restoring) m_timer.start();
  });
  connect(&m_timer, &QTimer::timeout, this, &DraftController::saveNow);
  connect(&m_composer, &Composer::browseFolderChanged, &m_settings, &app::Settings::setLastMediaFolder);
  connect(&m_composer, &Composer::editLastRequested, this, [this] { edit(0); });
  connect(&m_composer, &Composer::editCancelled, answers, &AnswerRun::cancelEdit);
  connect(&transcript, &TranscriptView::editRequested, this, &DraftController::edit);
  connect(&transcript, &TranscriptView::newChatRequested, this, &DraftController::askInNewChat);
  connect(&m_settings, &app::Settings::changed, this, &DraftController::applySettings);
  connect(&m_session.model, &ModelSession::changed, this, &DraftController::applySettings);
  if (!m_store.isOpen()) return;
  applySettings();
  showChat();
}

void DraftController::applySettings() {
  m_composer.prompt()->setEnterKey(m_settings.sendKey() == app::SendKey::kEnter ? EnterKey::kSends : EnterKey::kControlSends);
  m_composer.setDefaultFrames(framesToBeginWith(m_settings, m_session.model.info()));
}

void DraftController::showChat() {
  m_restoring = true;
  m_timer.stop();
  const OpenChat& chat = m_session.chat;
  if (m_shown != chat.id()) {
    m_sending = false;
    // Words written while the chats were not open join what was written in this one before.
    app::Draft draft = chat.loaded().draft;
    if (m_writtenEarly) {
      const app::Draft early = m_composer.draft();
      draft.text += (draft.text.isEmpty() || early.text.isEmpty() ? QString() : QStringLiteral("\n")) + early.text;
      draft.attachments += early.attachments;
    }
    MediaDetails details;
    for (const app::StoredMessage& message : chat.branch()) details = app::detailsOf(message.attachments, details);
    m_composer.tray()->setDetails(details);
    m_composer.setDraft(draft);
    if (m_writtenEarly) m_timer.start();
  }
  m_shown = chat.id();
  m_composer.method()->setRecipe(chat.options().recipe);
  m_restoring = false;
  m_writtenEarly = !m_store.isOpen();
}

void DraftController::begin(const QList<QByteArray>& files, const QString& question) {
  if (files.isEmpty() && question.isEmpty()) return;
  const app::Draft draft = m_composer.draft();
  if (draft.text.trimmed().isEmpty() && draft.attachments.isEmpty()) {
    m_session.chat.startNew();
    m_offered = {question, {}};
    m_composer.setDraft(m_offered);
    m_composer.prompt()->selectAll();  // what is typed takes its place
  }
  for (const QByteArray& file : files) m_composer.addFile(file);
}

void DraftController::startNew() {
  saveNow();
  // Files that were refused are no draft, and what the program offered is nobody's.
  if (m_composer.draft().isEmpty() || isOffered(m_composer.draft())) m_composer.clear();
  m_session.chat.startNew();
  m_composer.setFocus();
}

void DraftController::attachAround(const QByteArray& video, double atS) {
  m_composer.addFile(video);
  const AttachmentTray& tray = *m_composer.tray();
  if (tray.count() > 0) tray.card(tray.count() - 1)->setStretch(std::max(0.0, atS - kAroundS), atS + kAroundS);
}

void DraftController::askInNewChat(app::MessageId answer) {
  const app::StoredMessage* failed = m_session.chat.message(answer);
  const QList<app::StoredMessage> thread = failed != nullptr ? m_session.chat.threadTo(failed->parent) : QList<app::StoredMessage>();
  if (thread.isEmpty()) return;
  app::Draft draft{thread.last().text, {}};
  for (const app::StoredMessage& message : thread) draft.attachments += m_session.subject.attachedOf(message.attachments);
  draft.attachments = draft.attachments.last(std::min<qsizetype>(draft.attachments.size(), app::kMaxAttachments));
  for (app::Attachment& attachment : draft.attachments) attachment.sampled = {};
  startNew();
  m_composer.setDraft(draft);
  m_timer.start();
}

void DraftController::edit(app::MessageId question) {
  const app::Draft unsent = m_composer.draft();
  if (!m_composer.editing() && (!unsent.text.trimmed().isEmpty() || !unsent.attachments.isEmpty())) {
    m_composer.showNotice(tr("Send or clear what you have written, then edit the question."));
    return;
  }
  if (const std::optional<app::Draft> draft = m_session.answers.beginEdit(question)) {
    m_composer.editQuestion(*draft);
  } else if (const QString reason = m_session.answers.blockedReason(); !reason.isEmpty()) {
    m_composer.showNotice(reason);
  }
}

void DraftController::saveNow() {
  m_timer.stop();
  if (!m_store.isOpen() || m_restoring) return;
  // The question being sent stays in the box until the engine has it; saved as a draft it would come back beside the question.
  if (m_sending && m_session.answers.busy()) return;
  const app::Draft draft = m_composer.draft();
  if (!isOffered(draft)) m_session.chat.saveDraft(draft);
}

bool DraftController::isOffered(const app::Draft& draft) const {
  return m_session.chat.id() == 0 && !m_offered.text.isEmpty() && draft.text == m_offered.text && draft.attachments.size() <= 1;
}

}  // namespace winnow::ui
