#include "ui/models/conversation_list_model.h"

#include <QDateTime>
#include <algorithm>
#include <utility>

#include "app/words/display_text.h"

namespace winnow::ui {
namespace {

bool isNewer(const app::Conversation& a, const app::Conversation& b) {
  if (a.activity != b.activity) return a.activity > b.activity;
  if (a.updatedMs != b.updatedMs) return a.updatedMs > b.updatedMs;  // imported ones
  return a.id > b.id;
}

}  // namespace

QString ConversationListModel::shownTitle(const app::Conversation& conversation) {
  const QString text = conversation.title.isEmpty() ? conversation.preview : conversation.title;
  const QString shown = app::displayText(text).simplified();
  return shown.isEmpty() ? tr("New chat") : shown;
}

// 1: the only one of this name, or the first.
int ConversationListModel::numberOfName(const app::Conversation& conversation) const {
  const QString title = shownTitle(conversation);
  int number = 1;
  for (const app::Conversation& other : m_all) number += other.id < conversation.id && shownTitle(other) == title ? 1 : 0;
  return number;
}

QString ConversationListModel::toldTitle(const app::Conversation& conversation) const {
  const int number = numberOfName(conversation);
  return number == 1 ? shownTitle(conversation) : tr("%1 (%2)").arg(shownTitle(conversation)).arg(number);
}

QString ConversationListModel::whenText(const app::Conversation& conversation) const {
  const QString when = app::formatWhen(QDateTime::fromMSecsSinceEpoch(conversation.updatedMs), QDateTime::currentDateTime());
  const int number = numberOfName(conversation);
  return number == 1 ? when : tr("%1 · no. %2 of this name").arg(when).arg(number);
}

QString ConversationListModel::folderOf(const app::Conversation& conversation) const {
  return conversation.pinned ? QString() : m_folders.folderOf(conversation.id);
}

QString ConversationListModel::headingOf(const app::Conversation& conversation) const {
  const QString folder = folderOf(conversation);
  if (folder.isEmpty()) return groupOf(conversation);
  const auto chats = std::ranges::count_if(m_all, [&](const app::Conversation& each) { return folderOf(each) == folder; });
  return tr("%1 (%2)").arg(folder).arg(chats);
}

bool ConversationListModel::isClosed(int row) const { return !m_found && m_folders.isClosed(folderOf(m_conversations[row])); }

bool ConversationListModel::comesBefore(const app::Conversation& a, const app::Conversation& b) const {
  if (a.pinned != b.pinned) return a.pinned;
  const QString folderA = folderOf(a), folderB = folderOf(b);
  if (folderA == folderB) return isNewer(a, b);
  if (folderA.isEmpty() != folderB.isEmpty()) return folderB.isEmpty();
  return m_names(folderA, folderB);
}

QString ConversationListModel::groupOf(const app::Conversation& conversation) const {
  if (conversation.pinned) return tr("Pinned");
  if (const QString folder = folderOf(conversation); !folder.isEmpty()) return folder;
  return app::formatAge(QDateTime::fromMSecsSinceEpoch(conversation.updatedMs).date(), QDate::currentDate());
}

void ConversationListModel::setConversations(const QList<app::Conversation>& conversations) {
  m_all.clear();
  for (const app::Conversation& conversation : conversations) m_all.insert(conversation.id, conversation);
  arrange();
}

// Row by row instead of a reset: the selection and a name that is being edited stay.
void ConversationListModel::arrange() {
  const QList<app::Conversation> wanted = wantedRows();
  QSet<ConversationId> ids;
  for (const app::Conversation& conversation : wanted) ids.insert(conversation.id);
  for (int row = rowCount() - 1; row >= 0; --row) {
    if (ids.contains(m_conversations[row].id)) continue;
    beginRemoveRows({}, row, row);
    m_conversations.removeAt(row);
    endRemoveRows();
  }
  for (int row = 0; row < wanted.size(); ++row) putRow(wanted[row], row);
  // Other rows, too: another one may be the first of its group, and those that are called alike are told apart anew.
  if (!m_conversations.isEmpty()) Q_EMIT dataChanged(index(0), index(rowCount() - 1));
}

void ConversationListModel::setFolders(const ConversationFolders& folders) {
  m_folders = folders;
  arrange();
}

void ConversationListModel::editFolders(const std::function<void(ConversationFolders&)>& edit) {
  edit(m_folders);
  arrange();
  Q_EMIT foldersChanged();
}

void ConversationListModel::put(const app::Conversation& conversation) {
  m_all.insert(conversation.id, conversation);
  arrange();
}

void ConversationListModel::remove(ConversationId id) {
  m_all.remove(id);
  arrange();
}

void ConversationListModel::showOnly(std::optional<Found> found) {
  // Whole: a view must not go on to the next row when the chat that is open is not among the found.
  beginResetModel();
  m_found = std::move(found);
  m_conversations = wantedRows();
  endResetModel();
}

QList<app::Conversation> ConversationListModel::wantedRows() const {
  QList<app::Conversation> rows;
  for (const app::Conversation& conversation : m_all) {
    if (!m_found || m_found->contains(conversation.id)) rows.append(conversation);
  }
  std::ranges::sort(rows, [this](const app::Conversation& a, const app::Conversation& b) { return comesBefore(a, b); });
  if (m_found) return rows;
  QString closed;  // that the chat before is in
  rows.removeIf([&](const app::Conversation& conversation) {
    const QString folder = folderOf(conversation);
    const bool hidden = !folder.isEmpty() && folder == closed;
    closed = m_folders.isClosed(folder) ? folder : QString();
    return hidden;
  });
  return rows;
}

void ConversationListModel::putRow(const app::Conversation& conversation, int target) {
  const int old = rowOf(conversation.id);
  if (old < 0) {
    beginInsertRows({}, target, target);
    m_conversations.insert(target, conversation);
    endInsertRows();
    return;
  }
  if (old != target) {
    // Moving keeps the selection on the row. The rows before the target are where they belong, so that it moves up.
    beginMoveRows({}, old, old, {}, target);
    m_conversations.move(old, target);
    endMoveRows();
  }
  m_conversations[target] = conversation;
}

void ConversationListModel::setRunning(ConversationId id) {
  m_running = id;
  if (!m_conversations.isEmpty()) Q_EMIT dataChanged(index(0), index(rowCount() - 1), {kRunningRole});
}

int ConversationListModel::rowOf(ConversationId id) const {
  for (int row = 0; row < m_conversations.size(); ++row) {
    if (m_conversations[row].id == id) return row;
  }
  return -1;
}

ConversationId ConversationListModel::idAt(int row) const {
  return row >= 0 && row < m_conversations.size() && !isClosed(row) ? m_conversations[row].id : 0;
}

const app::Conversation* ConversationListModel::find(ConversationId id) const {
  const auto found = m_all.constFind(id);
  return found == m_all.cend() ? nullptr : &*found;
}

int ConversationListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_conversations.size());
}

QVariant ConversationListModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= m_conversations.size()) return {};
  const app::Conversation& conversation = m_conversations[index.row()];
  switch (role) {
    case Qt::DisplayRole: return shownTitle(conversation);
    case Qt::EditRole: return conversation.title.isEmpty() ? shownTitle(conversation) : conversation.title;
    case Qt::ToolTipRole: return (isClosed(index.row()) ? headingOf(conversation) : shownTitle(conversation)).toHtmlEscaped();
    case kIdRole: return QVariant::fromValue(conversation.id);
    case kRunningRole: return conversation.id == m_running;
    case kPinnedRole: return conversation.pinned;
    case kFolderRole: return m_found ? QString() : folderOf(conversation);
    case kClosedRole: return isClosed(index.row());
    case Qt::AccessibleTextRole:
      if (isClosed(index.row())) return tr("Folder %1, closed").arg(headingOf(conversation));
      return conversation.pinned ? tr("%1, pinned").arg(toldTitle(conversation)) : toldTitle(conversation);
    case kGroupRole: {
      const auto group = [this](const app::Conversation& each) { return std::pair(folderOf(each), groupOf(each)); };
      const bool first = index.row() == 0 || group(m_conversations[index.row() - 1]) != group(conversation);
      return first && !m_found ? headingOf(conversation) : QString();
    }
    case kSubtitleRole:
      if (const QString found = m_found ? m_found->value(conversation.id) : QString(); !found.isEmpty()) return found;
      return whenText(conversation);
    default: return {};
  }
}

bool ConversationListModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!index.isValid() || role != Qt::EditRole) return false;
  const QString title = value.toString().simplified().left(app::kMaxTitleLength);
  const app::Conversation& conversation = m_conversations[index.row()];
  if (title == conversation.title || title.isEmpty()) return false;
  Q_EMIT renameRequested(conversation.id, title);
  return true;
}

Qt::ItemFlags ConversationListModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return Qt::NoItemFlags;
  const Qt::ItemFlags shown = Qt::ItemIsEnabled | Qt::ItemIsSelectable;
  return isClosed(index.row()) ? shown : shown | Qt::ItemIsEditable;
}

}  // namespace winnow::ui
