#include "ui/shell/chat/open_chat.h"

#include <algorithm>
#include <utility>

#include "app/chats/chat/lines_digest.h"
#include "app/engine/cache_store/kept_transcripts.h"
#include "ui/shell/chat/chat_list.h"
#include "ui/shell/chat/thread_media.h"

namespace winnow::ui {
namespace {

// Null: there is none.
template <class Messages>
auto* messageIn(Messages& messages, app::MessageId id) {
  const auto found = std::find_if(messages.begin(), messages.end(), [id](const app::StoredMessage& message) { return message.id == id; });
  return found == messages.end() ? nullptr : &*found;
}

}  // namespace

OpenChat::OpenChat(app::ChatStore& store, app::Settings& settings, ChatList& list, QObject* parent)
    : QObject(parent), m_store(store), m_lines(store), m_settings(settings), m_list(list) {
  m_current.conversation.options = m_settings.conversationDefaults();
  m_standardPrompt = m_current.conversation.options.systemPrompt;
  using app::ChatStore;
  connect(&m_store, &ChatStore::opened, this, [this](app::RequestToken, const app::StoreOpened& report) { onOpened(report); });
  connect(&m_store, &ChatStore::opening, this, &OpenChat::stateChanged);
  connect(&m_store, &ChatStore::openFailed, this, &OpenChat::stateChanged);
  connect(&m_store, &ChatStore::conversationCreated, this, &OpenChat::onCreated);
  connect(&m_store, &ChatStore::conversationLoaded, this, &OpenChat::onLoaded);
  connect(&m_store, &ChatStore::failed, this, &OpenChat::onFailed);
  const auto takeName = [this](const app::Conversation& conversation) {
    if (conversation.id != id()) return;
    m_current.conversation.title = conversation.title;
    m_current.conversation.preview = conversation.preview;
    Q_EMIT titleChanged();
  };
  connect(&m_store, &ChatStore::called, this, takeName);
  connect(&m_store, &ChatStore::conversationChanged, this,
          [takeName](app::RequestToken, const app::Conversation& conversation) { takeName(conversation); });
  connect(&m_settings, &app::Settings::changed, this, [this](const QString& key) {
    if (key != QLatin1String(app::setting_keys::kSystemPrompt)) return;
    const QString before = std::exchange(m_standardPrompt, m_settings.chatDefaults().systemPrompt);
    QString& prompt = m_current.conversation.options.systemPrompt;
    if (id() == 0 && m_creating == 0 && prompt == before) prompt = m_standardPrompt;
  });
  connect(&m_list, &ChatList::removed, this, [this](ConversationId gone, ConversationId next) {
    if (gone != id()) return;
    next != 0 ? open(next) : showAsNew();
  });
  connect(&m_list, &ChatList::restored, this, &OpenChat::open);
}

void OpenChat::onOpened(const app::StoreOpened& report) {
  Q_EMIT replaced();
  m_current = app::LoadedConversation();
  m_settings.load(report.settings);
  const ConversationId last = m_settings.lastConversation();
  last != 0 && m_list.find(last) != nullptr ? open(last) : showAsNew();
  Q_EMIT storeOpened();
  Q_EMIT stateChanged();
}

app::ConversationOptions OpenChat::optionsOf(ConversationId chat) const {
  if (chat == id()) return options();
  const app::Conversation* listed = m_list.find(chat);
  return listed != nullptr ? listed->options : m_settings.conversationDefaults();
}

const app::StoredMessage* OpenChat::message(app::MessageId id) const { return messageIn(m_current.messages, id); }
app::StoredMessage* OpenChat::edit(app::MessageId id) { return messageIn(m_current.messages, id); }

QList<app::StoredMessage> OpenChat::branch() const { return threadTo(m_current.conversation.activeLeaf); }
QList<app::StoredMessage> OpenChat::threadTo(app::MessageId message) const { return app::branchTo(m_current.messages, message); }

// ---- which chat it is --------------------------------------------------------------------------------------------------------------

void OpenChat::showAsNew() {
  m_loading = 0;
  m_current = app::LoadedConversation();
  m_current.conversation.options = m_settings.conversationDefaults();
  Q_EMIT aboutToShow();
  Q_EMIT shown();
  Q_EMIT titleChanged();
  Q_EMIT stateChanged();
}

void OpenChat::startNew() {
  // A chat that is being created has what was written so far, and its number is not known yet.
  m_newWhenCreated = m_creating != 0;
  if (m_newWhenCreated) return;
  // An empty chat is new already.
  const bool empty = id() != 0 && m_current.messages.isEmpty() && m_current.conversation.title.isEmpty() && m_current.draft.isEmpty();
  empty ? showAgain() : showAsNew();
  Q_EMIT startedNew();
}

void OpenChat::open(ConversationId chat) {
  if (chat == 0 || chat == id()) return;
  m_loading = m_store.loadConversation(chat);
}

app::RequestToken OpenChat::reload() {
  if (id() != 0) m_loading = m_store.loadConversation(id());
  return m_loading;
}

void OpenChat::onLoaded(app::RequestToken token, const app::LoadedConversation& loaded) {
  if (token != m_loading) return;
  m_loading = 0;
  m_current = loaded;
  m_settings.setLastConversation(id());
  Q_EMIT aboutToShow();
  Q_EMIT shown();
  Q_EMIT titleChanged();
  Q_EMIT stateChanged();
}

void OpenChat::switchBranch(app::MessageId message, int step) {
  const QList<app::MessageId> siblings = app::siblingsOf(m_current.messages, message);
  const qsizetype at = siblings.indexOf(message) + step;
  if (at < 0 || at >= siblings.size()) return;
  m_current.conversation.activeLeaf = app::newestLeafUnder(m_current.messages, siblings[at]);
  m_store.setActiveLeaf(id(), m_current.conversation.activeLeaf);
  Q_EMIT aboutToShow();
  Q_EMIT shown();
}

void OpenChat::create() {
  if (m_creating == 0)
    m_creating =
        m_store.createConversation(QString(), options(), std::exchange(m_draftBeforeCreation, std::nullopt).value_or(app::Draft{}));
}

void OpenChat::onCreated(app::RequestToken token, const app::Conversation& conversation) {
  if (token != m_creating) return;
  m_creating = 0;
  if (id() == 0) {
    m_current.conversation = conversation;
    m_settings.setLastConversation(conversation.id);
  }
  if (m_draftBeforeCreation) m_store.saveDraft(conversation.id, *std::exchange(m_draftBeforeCreation, std::nullopt));
  Q_EMIT created(conversation.id);
  Q_EMIT titleChanged();
  if (m_newWhenCreated) startNew();
}

void OpenChat::onFailed(app::RequestToken token, const Error& error) {
  if (token == m_creating) {
    m_creating = 0;
    m_newWhenCreated = false;  // it would take what could not be saved away
    Q_EMIT creationFailed();
  }
  if (token == m_loading) m_loading = 0;
  if (!is_storage(error.code)) Q_EMIT problem(error);  // those are told by Notices::storage()
  Q_EMIT stateChanged();
}

// ---- what it consists of -----------------------------------------------------------------------------------------------------------

void OpenChat::setRecipe(const app::NamedRecipe& recipe) {
  app::ConversationOptions changed = options();
  changed.recipe = recipe;
  setOptions(changed);
}

void OpenChat::setOptions(const app::ConversationOptions& options) {
  m_current.conversation.options = options;
  if (id() != 0) m_store.setOptions(id(), options);
  Q_EMIT stateChanged();
}

void OpenChat::saveDraft(const app::Draft& draft) {
  if (!m_store.isOpen()) return;
  m_current.draft = draft;
  if (id() != 0) {
    m_store.saveDraft(id(), draft);
    return;
  }
  if (draft.isEmpty()) return;
  m_draftBeforeCreation = draft;
  create();
}

void OpenChat::saveView(app::MessageId anchor, double offset) {
  if (id() == 0 || !m_store.isOpen()) return;
  m_store.saveViewState(id(), {anchor, offset});
}

void OpenChat::setPins(app::MessageId question, int place, const app::PinnedRanges& pins) {
  app::StoredMessage* message = edit(question);
  if (message == nullptr || place < 0 || place >= message->attachments.size()) return;
  app::Attachment& attachment = message->attachments[place];
  if (attachment.pins == pins) return;
  attachment.pins = pins;
  m_store.storeAsked(question, place, attachment);
  tellChanged(question);
}

// All that is said in it, as it was read for the answer; of a stretch only that is known.
void OpenChat::keepLines(const MediaSampled& sampled, const app::Attachment& attachment) {
  if (attachment.sha256.isEmpty() || sampled.lines.empty() || !isWhole(sampled.plan)) return;
  const bool heard = app::isAmongTranscripts(m_store.folders().data, QByteArray::fromStdString(sampled.subtitles));
  const app::LineKind kind = heard ? app::LineKind::kHeard : app::LineKind::kSubtitle;
  m_lines.store(attachment.sha256, kind, app::fileLines(sampled.lines, kind));
}

// The engine names a medium by what was requested of it; the same file with the same plan was sampled alike wherever it is attached.
void OpenChat::takeSampled(const MediaSampled& sampled, QList<app::StoredMessage>& thread) {
  if (sampled.kind == MediaKind::kImage && sampled.notices.empty() && sampled.read_width_px == 0) return;
  const bool video = sampled.kind == MediaKind::kVideo;
  app::SampledTimes times = video ? app::SampledTimes{sampled.asked_s, sampled.actual_s} : app::SampledTimes{{}, {}, sampled.all_tokens};
  for (const TimedLine& line : sampled.lines) times.linesS.push_back(line.start_s);
  times.linesDigest = app::digestOf(sampled.lines);
  times.notices = sampled.notices;
  times.planned = sampled.planned_frames;
  times.pageLines = sampled.page_lines;
  times.readWidthPx = sampled.read_width_px;
  times.readHeightPx = sampled.read_height_px;
  app::Attachment asked;
  asked.path = QByteArray::fromStdString(sampled.path);
  asked.kind = sampled.kind;
  asked.plan = sampled.plan;
  asked.mostTokens = sampled.most_tokens;
  asked.subtitles = QByteArray::fromStdString(sampled.subtitles);
  asked.encoding = QByteArray::fromStdString(sampled.encoding);
  asked.detail = sampled.detail;
  asked.pages = sampled.pages;
  bool otherLines = false;
  for (app::StoredMessage& message : thread) {
    bool changed = false;
    for (int place = 0; place < message.attachments.size(); ++place) {
      app::Attachment& attachment = message.attachments[place];
      if (!app::asksTheSame(attachment, asked) || attachment.sampled == times) continue;
      const QByteArray before = std::exchange(attachment.sampled, times).linesDigest;
      otherLines = otherLines || (!before.isEmpty() && before != times.linesDigest);
      m_store.storeSampled(message.id, place, times);
      keepLines(sampled, attachment);
      changed = true;
    }
    app::StoredMessage* here = changed ? edit(message.id) : nullptr;
    if (here == nullptr) continue;
    here->attachments = message.attachments;
    tellChanged(here->id);
  }
  if (otherLines) Q_EMIT subtitlesChanged(asked.subtitles);
}

void OpenChat::addComparison(const app::Comparison& comparison) {
  if (message(comparison.question) == nullptr) return;
  m_current.comparisons.append(comparison);
  tellChanged(comparison.question);
}

void OpenChat::append(const app::StoredMessage& message, Shown shown) {
  m_current.messages.append(message);
  m_current.conversation.activeLeaf = message.id;
  if (message.role == Role::kUser) {
    m_current.draft = {};
    if (m_current.messages.size() == 1) m_current.conversation.preview = app::firstWords(message.text, message.attachments);
  }
  if (shown == Shown::kAlone) Q_EMIT messageAdded(message);
  if (message.role == Role::kUser) Q_EMIT titleChanged();  // the first words stand for a chat without a name
}

void OpenChat::tellChanged(app::MessageId id) {
  if (const app::StoredMessage* changed = message(id)) Q_EMIT messageChanged(*changed);
}

void OpenChat::showAgain(app::MessageId withdrawn, app::MessageId leaf) {
  if (m_current.messages.removeIf([withdrawn](const app::StoredMessage& each) { return each.id == withdrawn; }) > 0) {
    m_current.conversation.activeLeaf = leaf;
    Q_EMIT aboutToShow();
  }
  Q_EMIT shown();
}

}  // namespace winnow::ui
