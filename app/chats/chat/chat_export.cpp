#include "app/chats/chat/chat_export.h"

#include <QDateTime>
#include <QFile>
#include <QFileInfo>
#include <nlohmann/json.hpp>

#include "app/chats/chat/answer_boxes.h"
#include "app/chats/chat/figure_json.h"
#include "app/chats/chat/run_json.h"
#include "app/ground/notices/notice_text.h"
#include "engine/messages/choice_words.h"

namespace winnow::app {

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kVersion = 1;

std::string time(qint64 ms) { return QDateTime::fromMSecsSinceEpoch(ms, Qt::UTC).toString(Qt::ISODate).toStdString(); }

QString nameOf(const Attachment& attachment) { return QFileInfo(QFile::decodeName(attachment.path)).fileName(); }

// The kind as a heading for people.
QString titleOf(MediaKind kind) {
  return kind == MediaKind::kVideo      ? QStringLiteral("Video")
         : kind == MediaKind::kDocument ? QStringLiteral("Document")
                                        : QStringLiteral("Image");
}

const char* wordOf(Role role) { return role == Role::kUser ? "user" : role == Role::kAssistant ? "assistant" : "system"; }

const char* wordOf(MessageState state) {
  switch (state) {
    case MessageState::kComplete: return "complete";
    case MessageState::kStreaming: return "streaming";
    case MessageState::kInterrupted: return "stopped";
    case MessageState::kFailed: return "failed";
    case MessageState::kAbandoned: return "abandoned";
  }
  return "failed";
}

const char* wordOf(Guard guard) {
  switch (guard) {
    case Guard::kKeep: return "keep";
    case Guard::kPrefill: return "prefill";
    case Guard::kRam: return "ram";
    case Guard::kAlone: return "alone";
  }
  return "keep";
}

const char* wordOf(ColumnState state) {
  switch (state) {
    case ColumnState::kAnswered: return "answered";
    case ColumnState::kStopped: return "stopped";
    case ColumnState::kFailed: return "failed";
    case ColumnState::kLeftOut: return "left_out";
  }
  return "left_out";
}

const char* wordOf(StopReason reason) {
  switch (reason) {
    case StopReason::kStopToken: return "end";
    case StopReason::kLength: return "length";
    case StopReason::kStopString: return "stop_string";
    case StopReason::kInterrupted: return "stopped";
  }
  return "end";
}

OrderedJson recipeOf(const NamedRecipe& recipe) { return OrderedJson::parse(recipeToJson(recipe, -1)); }

OrderedJson samplingOf(const SamplingChoice& choice) {
  const QByteArray json = samplingToJson(choice);
  return json.isEmpty() ? OrderedJson::object() : OrderedJson(parsedJson(json));
}

OrderedJson attachmentOf(const Attachment& attachment) {
  OrderedJson json = {{"kind", word_of(kMediaKindWords, attachment.kind)},
                      {"name", nameOf(attachment).toStdString()},
                      {"sha256", attachment.sha256.toStdString()},
                      {"size_bytes", attachment.sizeBytes}};
  if (attachment.kind == MediaKind::kDocument) {
    json["words"] = attachment.words;
    if (attachment.sampled.tokens > 0) json["tokens"] = attachment.sampled.tokens;
    if (attachment.mostTokens > 0) json["most_tokens"] = attachment.mostTokens;
  } else {
    json["width_px"] = attachment.widthPx;
    json["height_px"] = attachment.heightPx;
    if (attachment.detail != MediaDetail()) json["detail"] = detail_word(attachment.detail);
  }
  if (attachment.pages != PageRange()) json["pages"] = {attachment.pages.first, attachment.pages.last};
  if (!attachment.encoding.isEmpty()) json["encoding"] = attachment.encoding.toStdString();
  for (const MediaNotice& notice : attachment.sampled.notices) json["notices"].push_back(noticeText(notice));
  if (!attachment.pins.empty()) json["pins_s"] = parsedJson(pinsToJson(attachment.pins));
  if (attachment.kind != MediaKind::kVideo) return json;
  const FramePlan& plan = attachment.plan;
  json["duration_s"] = attachment.durationS;
  json["plan"] = {{"frames", plan.frame_count}, {"every_s", plan.every_s}, {"from_s", plan.from_s}, {"to_s", plan.to_s}};
  if (plan.taken > 0)
    json["plan"]["taken"] = attachment.sampled.askedS.empty() ? plan.taken : static_cast<int>(attachment.sampled.askedS.size());
  if (!attachment.subtitles.isEmpty()) json["subtitles"] = QFileInfo(QFile::decodeName(attachment.subtitles)).fileName().toStdString();
  if (!attachment.sampled.actualS.empty()) {
    json["sampled"] = parsedJson(sampledToJson(attachment.sampled));
    for (const char* other : {"notices", "lines_digest"}) json["sampled"].erase(other);  // told in words; a check of ours
  }
  return json;
}

// The recipes that its cache is called by.
OrderedJson madeBy(const Run& run) {
  OrderedJson list = OrderedJson::array();
  for (const NamedRecipe& recipe : namedMakers(run)) list.push_back(recipeOf(recipe));
  return list;
}

// figures: those of the answer are known; else only what it was asked with.
OrderedJson runOf(const Run& run, bool figures) {
  OrderedJson json = {{"model", run.modelName.toStdString()}, {"device", run.device.toStdString()},
                      {"recipe", recipeOf(run.recipe)},       {"made_by", madeBy(run)},
                      {"later_questions", wordOf(run.guard)}, {"sampling", samplingOf(run.sampling)}};
  for (const QString& name : run.begunBy) json["begun_by"].push_back(name.toStdString());
  if (!figures) return json;
  nlohmann::json stored = parsedJson(runToJson(run));
  for (const char* told : {"stop_reason", "begun_by", "family", "guard", "sampling"}) stored["figures"].erase(told);
  json["stop_reason"] = wordOf(run.stopReason);
  json["seed"] = run.figures.seed;
  json["figures"] = stored["figures"];
  json["layers"] = stored["layers"];
  for (const char* judged : {"agreement", "selection"}) {
    if (stored.contains(judged)) json[judged] = stored[judged];
  }
  return json;
}

OrderedJson messageOf(const StoredMessage& message, const QList<StoredMessage>& messages) {
  OrderedJson json = {{"id", message.id},
                      {"parent", message.parent != 0 ? OrderedJson(message.parent) : OrderedJson()},
                      {"role", wordOf(message.role)},
                      {"created", time(message.createdMs)},
                      {"state", wordOf(message.state)},
                      {"text", message.text.toStdString()}};
  if (message.state == MessageState::kFailed) json["failure_code"] = static_cast<int>(message.failureCode);
  for (const Attachment& attachment : message.attachments) json["attachments"].push_back(attachmentOf(attachment));
  if (message.hasCause) json["run"] = runOf(message.run, message.hasRun);
  for (const PointedPicture& picture : picturesPointedAt(message, messages)) {
    for (const AnswerBox& box : picture.boxes) {
      json["boxes"].push_back(boxToJson(box));
      json["boxes"].back()["message"] = picture.message;
    }
  }
  return json;
}

OrderedJson comparisonOf(const Comparison& comparison) {
  OrderedJson json = {{"question", comparison.question}, {"created", time(comparison.createdMs)}, {"columns", OrderedJson::array()}};
  for (const ComparedAnswer& answer : comparison.columns) {
    OrderedJson column = {{"state", wordOf(answer.state)},
                          {"text", answer.text.toStdString()},
                          {"used_as", answer.usedAs != 0 ? OrderedJson(answer.usedAs) : OrderedJson()},
                          {"run", runOf(answer.run, answer.hasFigures)}};
    json["columns"].push_back(std::move(column));
  }
  return json;
}

QString titleOf(const Conversation& conversation) {
  const QString title = conversation.title.isEmpty() ? conversation.preview : conversation.title;
  return title.simplified();
}

// Stands in a line of its own and is no markup.
QString inCode(QString text) { return QLatin1Char('`') + text.replace(u'`', u'\'').simplified() + QLatin1Char('`'); }

}  // namespace

QByteArray chatToMarkdown(const LoadedConversation& chat, const std::function<ToldMessage(const StoredMessage&)>& told) {
  const Conversation& conversation = chat.conversation;
  QString text = QStringLiteral("# %1\n").arg(titleOf(conversation));
  if (!conversation.options.systemPrompt.isEmpty()) text += QStringLiteral("\n## System\n\n%1\n").arg(conversation.options.systemPrompt);
  for (const StoredMessage& message : branchTo(chat.messages, conversation.activeLeaf)) {
    const ToldMessage words = told(message);
    const QString writer = words.writer.isEmpty() ? QStringLiteral("Model") : words.writer.simplified();
    text += QStringLiteral("\n## %1\n").arg(message.role == Role::kUser ? QStringLiteral("You") : writer);
    if (!message.attachments.isEmpty()) text += QLatin1Char('\n');
    for (qsizetype i = 0; i < message.attachments.size(); ++i) {
      const Attachment& attachment = message.attachments[i];
      text += QStringLiteral("- %1: %2").arg(titleOf(attachment.kind), inCode(nameOf(attachment)));
      if (const QString detail = words.attachments.value(i); !detail.isEmpty()) text += QStringLiteral(" · ") + detail;
      text += QLatin1Char('\n');
    }
    if (!message.text.isEmpty()) text += QStringLiteral("\n%1\n").arg(message.text);
    if (message.state == MessageState::kFailed) text += QStringLiteral("\n*This answer failed.*\n");
    for (const QString& note : words.notes) text += QStringLiteral("\n> %1\n").arg(QString(note).replace(u'\n', u' '));
  }
  return text.toUtf8();
}

QByteArray chatToJson(const LoadedConversation& chat) {
  const Conversation& conversation = chat.conversation;
  OrderedJson json = {{"format", "winnow-chat"},
                      {"version", kVersion},
                      {"title", titleOf(conversation).toStdString()},
                      {"created", time(conversation.createdMs)},
                      {"updated", time(conversation.updatedMs)},
                      {"system_prompt", conversation.options.systemPrompt.toStdString()},
                      {"recipe", recipeOf(conversation.options.recipe)},
                      {"later_questions", wordOf(conversation.options.laterQuestions)},
                      {"sampling", samplingOf(conversation.options.sampling)},
                      {"shown", conversation.activeLeaf != 0 ? OrderedJson(conversation.activeLeaf) : OrderedJson()},
                      {"messages", OrderedJson::array()},
                      {"comparisons", OrderedJson::array()}};
  for (const StoredMessage& message : chat.messages) json["messages"].push_back(messageOf(message, chat.messages));
  for (const Comparison& comparison : chat.comparisons) json["comparisons"].push_back(comparisonOf(comparison));
  return QByteArray::fromStdString(json.dump(2, ' ', false, OrderedJson::error_handler_t::replace)) + '\n';
}

}  // namespace winnow::app
