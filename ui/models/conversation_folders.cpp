#include "ui/models/conversation_folders.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

#include "app/words/format_text.h"

namespace winnow::ui {
namespace {

QString nameFrom(const QString& typed) { return typed.simplified().left(ConversationFolders::kLongestName); }

}  // namespace

ConversationFolders ConversationFolders::fromJson(const QByteArray& json) {
  ConversationFolders folders;
  for (const QJsonValue& folder : QJsonDocument::fromJson(json).array()) {
    const QString name = nameFrom(folder[QLatin1String("name")].toString());
    if (name.isEmpty()) continue;
    for (const QJsonValue& id : folder[QLatin1String("chats")].toArray())
      folders.put(static_cast<ConversationId>(qMax<qint64>(0, id.toInteger())), name);
    if (folder[QLatin1String("closed")].toBool()) folders.setClosed(name, true);
  }
  return folders;
}

QByteArray ConversationFolders::toJson() const {
  QJsonArray folders;
  for (const QString& name : names()) {
    QList<ConversationId> ids = m_folderOf.keys(name);
    std::ranges::sort(ids);
    QJsonArray chats;
    for (const ConversationId id : ids) chats.append(static_cast<qint64>(id));
    folders.append(
        QJsonObject{{QStringLiteral("name"), name}, {QStringLiteral("closed"), isClosed(name)}, {QStringLiteral("chats"), chats}});
  }
  return QJsonDocument(folders).toJson(QJsonDocument::Compact);
}

QStringList ConversationFolders::names() const {
  QStringList names(m_folderOf.cbegin(), m_folderOf.cend());
  names.removeDuplicates();
  std::ranges::sort(names, app::nameOrder());
  return names;
}

void ConversationFolders::put(ConversationId id, const QString& name) {
  const QString folder = nameFrom(name);
  if (folder.isEmpty() || id == 0) {
    m_folderOf.remove(id);
  } else {
    m_folderOf.insert(id, folder);
  }
}

void ConversationFolders::rename(const QString& name, const QString& newName) {
  setClosed(name, false);
  for (const ConversationId id : m_folderOf.keys(name)) put(id, newName);
}

void ConversationFolders::setClosed(const QString& name, bool closed) {
  if (closed) {
    m_closed.insert(name);
  } else {
    m_closed.remove(name);
  }
}

}  // namespace winnow::ui
