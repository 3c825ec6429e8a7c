#include "app/chats/chat/exported_chats.h"

#include <QRegularExpression>
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/json_document.h"
#include "engine/base/known_format.h"

namespace winnow::app {
namespace {

constexpr JsonLimits kLimits = {kMostExportedBytes, 64, 20'000'000};

// Null where there is none.
const Json& at(const Json& value, const char* key) {
  static const Json absent;
  if (!value.is_object()) return absent;
  const auto found = value.find(key);
  return found == value.end() ? absent : *found;
}

std::string string_at(const Json& value, const char* key) {
  const Json& text = at(value, key);
  return text.is_string() ? text.get_ref<const std::string&>() : std::string();
}

QString text_at(const Json& value, const char* key) { return QString::fromStdString(string_at(value, key)); }

qint64 milliseconds_at(const Json& value, const char* key, double unit) {
  const Json& time = at(value, key);
  const double ms = time.is_number() ? time.get<double>() * unit : 0.0;
  return ms > 0.0 && ms < 1e15 ? static_cast<qint64>(ms) : 0;
}

// From the first message to `last`, by the ids that its messages name as their parents.
std::vector<const Json*> branch(const Json& messages, std::string last, const char* parent) {
  std::vector<const Json*> found;
  while (found.size() <= messages.size() && messages.contains(last)) {
    const Json& message = messages[last];
    found.push_back(&message);
    last = string_at(message, parent);
  }
  std::ranges::reverse(found);
  return found;
}

// One of the chat's messages, or more of the one before it.
void add(ExportedChat& chat, ExportedMessage message) {
  message.text = message.text.trimmed();
  if (message.text.isEmpty() && message.thought.isEmpty()) return;
  if (chat.messages.isEmpty() && message.role != Role::kUser) return;
  if (chat.messages.isEmpty() || chat.messages.last().role != message.role) return chat.messages.append(std::move(message));
  ExportedMessage& before = chat.messages.last();
  const auto join = [](QString& text, const QString& more) {
    text += text.isEmpty() || more.isEmpty() ? more : QStringLiteral("\n\n") + more;
  };
  join(before.text, message.text);
  join(before.thought, message.thought);
  if (!message.writer.isEmpty()) before.writer = message.writer;
}

// A message of ChatGPT: its content is a list of texts, pictures and others, or a list of thoughts.
void add_of_chatgpt(const Json& message, ExportedChat& chat) {
  const std::string role = string_at(at(message, "author"), "role");
  if (role != "user" && role != "assistant") return;
  const std::string recipient = string_at(message, "recipient");
  const Json& metadata = at(message, "metadata");
  if ((!recipient.empty() && recipient != "all") || at(metadata, "is_visually_hidden_from_conversation") == true) return;
  ExportedMessage added{role == "user" ? Role::kUser : Role::kAssistant, {}};
  if (added.role == Role::kAssistant) added.writer = text_at(metadata, "model_slug");
  const Json& content = at(message, "content");
  const auto append = [](QString& text, const QString& more) {
    if (!more.isEmpty()) text += (text.isEmpty() ? QString() : QStringLiteral("\n")) + more;
  };
  if (const Json& parts = at(content, "parts"); parts.is_array()) {
    for (const Json& part : parts) {
      if (part.is_string()) append(added.text, QString::fromStdString(part.get_ref<const std::string&>()));
    }
  }
  if (const Json& thoughts = at(content, "thoughts"); thoughts.is_array()) {
    for (const Json& thought : thoughts) append(added.thought, text_at(thought, "content"));
  }
  add(chat, std::move(added));
}

ExportedChat chatgpt_chat(const Json& exported) {
  ExportedChat chat{
      text_at(exported, "title"), milliseconds_at(exported, "create_time", 1e3), milliseconds_at(exported, "update_time", 1e3), {}};
  for (const Json* node : branch(at(exported, "mapping"), string_at(exported, "current_node"), "parent"))
    add_of_chatgpt(at(*node, "message"), chat);
  return chat;
}

// A message of Open WebUI: what a model thought stands in its text, quoted within <details type="reasoning">.
void add_of_open_webui(const Json& message, ExportedChat& chat) {
  const std::string role = string_at(message, "role");
  if (role != "user" && role != "assistant") return;
  ExportedMessage added{role == "user" ? Role::kUser : Role::kAssistant, text_at(message, "content")};
  if (added.role == Role::kAssistant) {
    added.writer = text_at(message, "model");
    static const QRegularExpression details(
        QStringLiteral("<details type=\"reasoning\"[^>]*>\\s*(?:<summary>[^<]*</summary>)?(.*?)</details>"),
        QRegularExpression::DotMatchesEverythingOption);
    static const QRegularExpression quote(QStringLiteral("^(?:>|&gt;) ?"), QRegularExpression::MultilineOption);
    if (const QRegularExpressionMatch thought = details.match(added.text); thought.hasMatch()) {
      added.thought = thought.captured(1).remove(quote).trimmed();
      added.text.remove(thought.capturedStart(), thought.capturedLength());
    }
  }
  add(chat, std::move(added));
}

ExportedChat open_webui_chat(const Json& exported) {
  const Json& of = at(exported, "chat");
  ExportedChat chat{
      text_at(exported, "title"), milliseconds_at(exported, "created_at", 1e3), milliseconds_at(exported, "updated_at", 1e3), {}};
  if (chat.title.isEmpty()) chat.title = text_at(of, "title");
  if (chat.createdMs == 0) chat.createdMs = milliseconds_at(of, "timestamp", 1.0);
  const Json& history = at(of, "history");
  for (const Json* message : branch(at(history, "messages"), string_at(history, "currentId"), "parentId"))
    add_of_open_webui(*message, chat);
  return chat;
}

}  // namespace

QList<ExportedChat> readExportedChats(std::string_view json, const std::string& file) {
  const std::span head(reinterpret_cast<const std::byte*>(json.data()), std::min(json.size(), kFormatHeadBytes));
  if (const KnownFormat* format = known_format(head); format != nullptr && format->kind == FormatKind::kArchive)
    throw Exception(ErrorCode::kArchive, file, format->name);
  const Json all = parse_json(json, file, kLimits);
  QList<ExportedChat> chats;
  bool known = all.is_array() && all.empty();
  const auto read = [&](const Json& exported) {
    const bool fromChatgpt = at(exported, "mapping").is_object();
    const bool fromOpenWebui = at(exported, "chat").is_object();
    known = known || fromChatgpt || fromOpenWebui;
    if (!fromChatgpt && !fromOpenWebui) return;
    ExportedChat chat = fromChatgpt ? chatgpt_chat(exported) : open_webui_chat(exported);
    if (!chat.messages.isEmpty()) chats.append(std::move(chat));
  };
  if (all.is_array()) {
    for (const Json& exported : all) read(exported);
  } else {
    read(all);
  }
  if (!known) throw Exception(ErrorCode::kUnsupportedFormat, file, "it has no chats of ChatGPT or Open WebUI");
  return chats;
}

}  // namespace winnow::app
