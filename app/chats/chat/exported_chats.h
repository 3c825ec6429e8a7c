// Chats that another program has written to a file, as text: ChatGPT's conversations.json, and the chats that Open WebUI exports.
//
// Used by ChatDatabase::importChats() and by ui, which reads the file. Of a chat with several versions the one that was on screen is
// taken; what is said by tools and systems, and pictures, stay behind. Formats: as both programs wrote them in 2026, which is documented
// nowhere; fields that are missing or of another type count as absent. Threads: plain functions.
#pragma once

#include <QList>
#include <QString>
#include <string>
#include <string_view>

#include "engine/messages/requests.h"

namespace winnow::app {

struct ExportedMessage {
  Role role = Role::kUser;  // of the user or the assistant, in turn
  QString text;
  QString thought{};  // of an answer
  QString writer{};   // of an answer: the model's name; empty: unknown
};

struct ExportedChat {
  QString title;
  qint64 createdMs = 0;  // 0: unknown
  qint64 updatedMs = 0;
  QList<ExportedMessage> messages;  // begins with a question
};

inline constexpr std::uint64_t kMostExportedBytes = std::uint64_t{256} << 20;

// Those with words in them. file: named by errors. Errors: Exception; kDamagedFile (not JSON), kUnsupportedFormat (another program's),
// kLimitExceeded.
QList<ExportedChat> readExportedChats(std::string_view json, const std::string& file);

}  // namespace winnow::app
