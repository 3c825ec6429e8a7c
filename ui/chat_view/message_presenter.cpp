#include "ui/chat_view/message_presenter.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QSet>
#include <algorithm>

#include "app/chats/chat/answer_boxes.h"
#include "app/chats/chat/server_answer.h"
#include "app/words/attached_words.h"
#include "app/words/display_text.h"
#include "app/words/error_text.h"
#include "app/words/format_text.h"
#include "engine/metrics/kept_figures.h"
#include "ui/chat_view/agreement_marks.h"
#include "ui/recipes/recipe_words.h"

namespace winnow::ui {
namespace {

constexpr double kAllOfIt = 0.999;

QString tr(const char* text, int n = -1) { return QCoreApplication::translate("winnow::ui::MessagePresenter", text, nullptr, n); }

// " · 12 subtitle lines", or nothing.
QString subtitleDetail(const app::Attachment& video) {
  if (video.subtitles.isEmpty()) return {};
  const auto lines = static_cast<int>(video.sampled.linesS.size());
  return QStringLiteral(" · ") + (video.sampled.actualS.empty() ? tr("with subtitles") : tr("%Ln subtitle line(s)", lines));
}

int framesPlanned(const app::Attachment& video) { return video.sampled.planned > 0 ? video.sampled.planned : video.plan.frame_count; }

int framesRead(const app::Attachment& video) {
  return video.sampled.askedS.empty() ? std::min(video.plan.taken, framesPlanned(video)) : static_cast<int>(video.sampled.askedS.size());
}

QString planDetail(const app::Attachment& attachment) {
  if (attachment.kind == MediaKind::kDocument) {
    const QString length = app::documentLength(attachment.words, attachment.sampled.tokens, attachment.mostTokens);
    // Sound, whose words are its text.
    if (attachment.durationS > 0) return tr("Sound, %1").arg(app::formatLength(attachment.durationS)) + QStringLiteral(" · ") + length;
    return length.isEmpty() ? tr("Document") : length;
  }
  if (attachment.kind == MediaKind::kImage) {
    return attachment.widthPx > 0 ? tr("%1 × %2 pixels").arg(attachment.widthPx).arg(attachment.heightPx) : tr("Image");
  }
  if (app::wasWatched(attachment)) return tr("Watched · a frame every %1 s").arg(app::formatReal(attachment.plan.every_s, 4));
  const double to = attachment.plan.to_s < 0 ? attachment.durationS : attachment.plan.to_s;
  const QString range = QStringLiteral("%1–%2").arg(app::formatClock(attachment.plan.from_s), app::formatClock(to));
  const app::SampledTimes& sampled = attachment.sampled;
  const auto asked = sampled.askedS.empty() ? attachment.plan.frame_count : static_cast<int>(sampled.askedS.size());
  const auto done = sampled.actualS.empty() ? asked : static_cast<int>(sampled.actualS.size());
  const QString subtitles = subtitleDetail(attachment);
  if (attachment.plan.taken > 0)
    return tr("%1 of %2 frames · %3").arg(framesRead(attachment)).arg(framesPlanned(attachment)).arg(range) + subtitles;
  if (asked != done) return tr("%2 of %1 frames read · %3").arg(asked).arg(done).arg(range) + subtitles;
  return tr("%Ln frame(s)", done) + QStringLiteral(" · ") + range + subtitles;
}

// " · 3 pinned", or nothing.
QString pinDetail(const app::Attachment& attachment) {
  if (attachment.pins.empty()) return {};
  if (attachment.kind != MediaKind::kVideo) return QStringLiteral(" · ") + tr("pinned");
  const app::PinnedRanges pins = app::effectivePins(attachment);
  const std::vector<double> times = attachment.sampled.actualS.empty() ? app::plannedTimes(attachment) : attachment.sampled.actualS;
  int pinned = 0;
  for (const double time : times) pinned += app::anyContains(pins, time) ? 1 : 0;
  return QStringLiteral(" · ") + tr("%Ln pinned", pinned);
}

AttachmentSummary summaryOf(const app::Attachment& attachment) {
  AttachmentSummary summary{.kind = attachment.kind, .path = QFile::decodeName(attachment.path)};
  if (app::wasWatched(attachment)) {
    summary.title = app::watchedName(summary.path);
    summary.title.front() = summary.title.front().toUpper();
  } else {
    summary.title = app::attachedName(summary.path);
    if (attachment.pages.first > 0 && attachment.kind == MediaKind::kImage)
      summary.title = tr("%1, page %2").arg(summary.title).arg(attachment.pages.first);
  }
  summary.detail = planDetail(attachment) + pinDetail(attachment);
  if (!attachment.thumbnailPng.isEmpty()) summary.thumbnail.loadFromData(attachment.thumbnailPng, "PNG");
  return summary;
}

// "dog (120, 80 – 560, 900)", in pixels.
QString boxText(const app::AnswerBox& box) {
  const QString label = box.label.isEmpty() ? QString() : app::displayText(box.label) + QLatin1Char(' ');
  const auto corner = [](double x, double y) { return QStringLiteral("%1, %2").arg(qRound(x)).arg(qRound(y)); };
  if (box.kind == app::AnswerBox::Kind::kPoint) return QStringLiteral("%1(%2)").arg(label, corner(box.left, box.top));
  return QStringLiteral("%1(%2 – %3)").arg(label, corner(box.left, box.top), corner(box.right, box.bottom));
}

// The pictures and frames that the answer points at, with its boxes.
std::vector<AttachmentSummary> pointedAt(const app::StoredMessage& answer, const QList<app::StoredMessage>& messages) {
  std::vector<AttachmentSummary> pictures;
  QStringList labels;
  for (const app::PointedPicture& picture : app::picturesPointedAt(answer, messages)) {
    const app::Attachment& attachment =
        std::ranges::find(messages, picture.message, &app::StoredMessage::id)->attachments[picture.attachment];
    if (app::wasWatched(attachment)) continue;
    AttachmentSummary summary = summaryOf(attachment);
    if (picture.timeS >= 0.0) {
      summary.title = tr("%1 at %2").arg(summary.title, app::formatClock(picture.timeS));
      summary.thumbnail = {};
    }
    const QSize pixels(attachment.widthPx, attachment.heightPx);
    summary.pointedAt = PointedAt{picture.message, picture.attachment, picture.timeS, pixels, {}};
    QStringList texts;
    for (const app::AnswerBox& box : picture.boxes) {
      if (!labels.contains(box.label)) labels << box.label;
      const QRectF place(QPointF(box.left / pixels.width(), box.top / pixels.height()),
                         QPointF(box.right / pixels.width(), box.bottom / pixels.height()));
      summary.pointedAt->boxes.push_back({place, app::displayText(box.label), static_cast<int>(labels.indexOf(box.label))});
      texts << boxText(box);
    }
    summary.detail = texts.join(QStringLiteral(" · "));
    pictures.push_back(std::move(summary));
  }
  return pictures;
}

// "clip.mp4: Parts of the video are damaged."
QString noticedOf(const QList<app::Attachment>& attachments) {
  QStringList lines;
  for (const app::Attachment& attachment : attachments) {
    const QString name = app::attachedName(QFile::decodeName(attachment.path));
    for (const MediaNotice& notice : attachment.sampled.notices) {
      const QString line = name + QStringLiteral(": ") + app::noticeWords(notice);
      if (!lines.contains(line)) lines << line;
    }
  }
  return lines.join(QLatin1Char('\n'));
}

MessageStatus statusOf(const app::StoredMessage& message) {
  switch (message.state) {
    case app::MessageState::kInterrupted: return MessageStatus::kInterrupted;
    case app::MessageState::kAbandoned: return MessageStatus::kAbandoned;
    case app::MessageState::kFailed: return MessageStatus::kFailed;
    case app::MessageState::kStreaming:
      return message.text.isEmpty() && message.thought.isEmpty() ? MessageStatus::kWaiting : MessageStatus::kStreaming;
    case app::MessageState::kComplete: break;
  }
  return MessageStatus::kComplete;
}

MessageMetrics metricsOf(const app::Run& run, const std::vector<MethodInfo>& methods) {
  const TurnFigures& figures = run.figures;
  MessageMetrics metrics;
  metrics.valid = true;
  metrics.byServer = app::isServersAnswer(run);
  metrics.promptTokens = figures.tokens.thread_text;
  metrics.cachedTokens = app::serversCachedTokens(figures);
  metrics.method = recipesLabel(methods, app::namedMakers(run));
  if (const auto ofNew = app::recipeOfNew(run)) metrics.ofNew = recipeLabel(methods, *ofNew);
  metrics.ttftMs = figures.timings_ms.ttft;
  metrics.tokensPerS = figures.tokens_per_s;
  metrics.keptShare = kept_share(figures);
  metrics.keptOfAll = kept_of_all(slots_of(figures.layers), figures.tokens);
  const HeldBytes held = held_bytes(figures);
  metrics.kvBytes = held.prompt;
  metrics.answerBytes = held.answer;
  metrics.kvFullBytes = figures.kv_bytes.full;
  metrics.thoughtTokens = static_cast<int>(figures.tokens.thought);
  metrics.thoughtMs = figures.timings_ms.thought;
  const bool shortText = std::find(figures.notes.begin(), figures.notes.end(), CompressionNote::kShortText) != figures.notes.end();
  if (shortText) metrics.shortTextTokens = run.recipe.spec.min_event_tokens;
  metrics.nothingToJudge = figures.tokens.thread_visual == 0 && describe(run.recipe.spec).value_or(RecipeTraits()).before_question;
  return metrics;
}

// "SmolLM2, continued by Demo model".
QString writersOf(const app::Run& run) {
  QString writers;
  for (const QString& name : run.begunBy + QStringList{run.modelName})
    writers = writers.isEmpty() ? app::displayText(name) : tr("%1, continued by %2").arg(writers, app::displayText(name));
  return writers;
}

// The attachments that the answer's question could be about, and those that were there before.
struct Attached {
  app::AttachedKind all = app::AttachedKind::kNothing;
  bool before = false;
  bool now = false;
  bool lines = false;  // of documents or subtitles
};

// Without a copy of the branch, for every message of a chat is presented; messages stand behind their parents.
Attached attachedTo(const app::StoredMessage& answer, const app::LoadedConversation& chat) {
  app::AttachedCounts counts;
  Attached attached;
  app::MessageId wanted = answer.parent;
  for (auto message = chat.messages.rbegin(); message != chat.messages.rend() && wanted != 0; ++message) {
    if (message->id != wanted) continue;
    wanted = message->parent;
    for (const app::Attachment& attachment : message->attachments) {
      counts.add(attachment.kind);
      attached.lines = attached.lines || attachment.kind == MediaKind::kDocument || !attachment.subtitles.isEmpty();
      (message->id == answer.parent ? attached.now : attached.before) = true;
    }
  }
  attached.all = app::attachedKind(counts);
  return attached;
}

LinkedPlaces placesIn(const QList<app::StoredMessage>& messages, app::MessageId answer) {
  LinkedPlaces places;
  if (const std::optional<MediumInThread> video = onlyVideo(messages, answer))
    places.timesUpToS = std::ranges::find(messages, video->message, &app::StoredMessage::id)->attachments[video->attachment].durationS;
  if (const std::optional<PaperInThread> paper = onlyPaper(messages, answer)) places.pages = paper->pages;
  return places;
}

// Calls visit(message, number, attachment) for what is attached in the answer's thread, the latest message first.
template <typename Visit>
void visitThread(const QList<app::StoredMessage>& messages, app::MessageId answer, const Visit& visit) {
  app::MessageId wanted = answer;
  for (auto message = messages.rbegin(); message != messages.rend() && wanted != 0; ++message) {
    if (message->id != wanted) continue;
    wanted = message->parent;
    for (int i = 0; i < message->attachments.size(); ++i) visit(message->id, i, message->attachments[i]);
  }
}

// The pages that were read of it; PageRange(): it has none.
PageRange pagesRead(const app::Attachment& attachment) {
  if (attachment.kind != MediaKind::kDocument) return attachment.pages;
  const int first = std::max(1, attachment.pages.first);
  const int count = static_cast<int>(attachment.sampled.pageLines.size());
  return count == 0 ? PageRange() : PageRange{first, first + count - 1};
}

// The method chose by an earlier question, and this one has not read the attachments again.
bool wasChosenEarlier(const app::Run& run, const Attached& attached, const std::vector<MethodInfo>& methods) {
  const TokenCounts& tokens = run.figures.tokens;
  if (!attached.before || run.guard != Guard::kKeep || tokens.thread_visual == 0 || kept_share(run.figures) >= kAllOfIt) return false;
  const RecipeSpec spec = app::namedMakers(run).back().spec;
  const RecipeTraits traits = describe(spec).value_or(RecipeTraits());
  const MethodInfo* method = findMethod(methods, spec.method);
  if (method == nullptr || !method->query_aware || traits.before_question || traits.fetches) return false;
  // One that prunes counts what it left out among the thread's tokens, also of what it has just read.
  return attached.now && traits.phase != MethodPhase::kPrefill ? tokens.visual < tokens.thread_visual : tokens.visual == 0;
}

std::vector<ComparisonSummary> comparisonsOf(app::MessageId question, const MessageSurroundings& around) {
  std::vector<ComparisonSummary> summaries;
  if (around.comparing == question && question != 0) summaries.push_back({0, tr("Comparing…")});
  for (const app::Comparison& comparison : around.chat.comparisons) {
    if (comparison.question != question) continue;
    const int methods = static_cast<int>(comparison.columns.size());
    summaries.push_back({comparison.id, comparison.failure.isEmpty() ? tr("Comparison of %Ln method(s)", methods)
                                                                     : tr("Comparison of %Ln method(s): failed", methods)});
  }
  return summaries;
}

}  // namespace

std::optional<MediumInThread> onlyVideo(const QList<app::StoredMessage>& messages, app::MessageId answer) {
  std::vector<MediumInThread> videos;
  visitThread(messages, answer, [&](app::MessageId message, int number, const app::Attachment& attachment) {
    if (attachment.kind == MediaKind::kVideo && !app::wasWatched(attachment)) videos.push_back({message, number});
  });
  return videos.size() == 1 ? std::optional(videos.front()) : std::nullopt;
}

std::optional<PaperInThread> onlyPaper(const QList<app::StoredMessage>& messages, app::MessageId answer) {
  std::optional<PaperInThread> only;
  QSet<QByteArray> papers;
  visitThread(messages, answer, [&](app::MessageId message, int number, const app::Attachment& attachment) {
    const PageRange pages = pagesRead(attachment);
    if (pages.first == 0) return;
    papers.insert(attachment.path);
    if (!only) only = {{message, number}, pages};
    only->pages = {std::min(only->pages.first, pages.first), std::max(only->pages.last, pages.last)};
  });
  return papers.size() == 1 ? only : std::nullopt;
}

MessageContent MessagePresenter::contentOf(const app::StoredMessage& message, const MessageSurroundings& around) const {
  MessageContent content;
  content.id = message.id;
  content.text = message.text;
  content.thought = message.thought;
  content.speaker = message.role == Role::kUser ? Speaker::kUser : Speaker::kAssistant;
  // No writer is named if it is unknown.
  const QString writers = message.hasCause ? writersOf(message.run) : QString();
  content.roleLabel = message.role == Role::kUser ? tr("You") : writers.isEmpty() ? tr("Winnow") : writers;
  for (const app::Attachment& attachment : message.attachments) content.attachments.push_back(summaryOf(attachment));
  if (message.role == Role::kAssistant) content.attachments = pointedAt(message, around.chat.messages);
  content.noticed = noticedOf(message.attachments);
  if (message.damaged) {
    const QString line = tr("Part of this message was damaged on disk after it was saved. A backup may have the original.");
    content.noticed = content.noticed.isEmpty() ? line : line + QLatin1Char('\n') + content.noticed;
  }
  content.status = statusOf(message);
  if (content.status == MessageStatus::kFailed) content.error = app::parseFailure(message.failureCode, message.failure);
  if (around.running && around.running->answer == message.id) {
    content.phase = around.running->phase;
    content.phaseShare = around.running->share;
    content.thoughtBegan = around.running->thoughtBegan;
    content.thoughtEnded = around.running->thoughtEnded;
    content.canAnswerNow = around.running->canAnswerNow;
    content.framesThere = around.running->framesThere;
  }
  content.hasKeptMap = message.hasKeptMap;
  if (message.hasRun) {
    content.metrics = metricsOf(message.run, m_methods);
    const Attached attached = attachedTo(message, around.chat);
    content.citable = attached.lines && !message.text.isEmpty();
    if (message.run.figures.tokens.thread_visual > 0) content.metrics.keptOf = app::attachedNoun(attached.all);
    if (!content.metrics.byServer && wasChosenEarlier(message.run, attached, m_methods))
      content.chosenEarlier = tr("Written from %1 of %2, chosen for an earlier question.")
                                  .arg(app::formatShare(content.metrics.keptShare), content.metrics.keptOf);
  }
  content.canGoOn = app::canGoOn(message);
  const auto question = std::ranges::find(around.chat.messages, message.parent, &app::StoredMessage::id);
  if (message.hasRun && question != around.chat.messages.end()) {
    const auto part = std::ranges::find_if(question->attachments, [](const app::Attachment& each) { return each.plan.taken > 0; });
    if (part != question->attachments.end())
      content.fromPart = tr("Written from %1 of %2 frames of the video.").arg(framesRead(*part)).arg(framesPlanned(*part));
  }
  if (message.role == Role::kAssistant) content.places = placesIn(around.chat.messages, message.id);
  content.followsTurns = message.role == Role::kAssistant && question != around.chat.messages.end() && question->parent != 0;
  const bool alone =
      message.hasCause && message.run.guard == Guard::kAlone && around.chat.conversation.options.laterQuestions != Guard::kAlone;
  if (content.followsTurns && alone && std::ranges::none_of(question->attachments, app::wasWatched))
    content.noticed = tr("The earlier turns were left out: this answer saw what is attached, and nothing that was said before.");
  if (content.canGoOn && content.status == MessageStatus::kComplete)
    content.cutAtTokens = static_cast<int>(message.run.figures.tokens.generated);
  if (message.hasRun && !message.text.isEmpty() && !app::isServersAnswer(message.run)) {
    content.checkable = true;
    if (const std::optional<Agreement>& agreement = message.run.agreement) {
      content.checked = agreementText(*agreement, message.run.figures.tokens.unread);
      content.divergence = divergenceText(*agreement);
      content.marks = agreementMarks(message.text, *agreement);
      content.verdictKind = agreement->top1 >= 1.0 ? Verdict::kSame : Verdict::kDiffers;
      content.verdict = verdictText(*agreement, content.marks.size());
    } else if (!around.notChecked.isEmpty()) {
      content.verdictKind = Verdict::kNotChecked;
      content.verdict = around.notChecked;
    }
  }
  content.quotes = around.quotes;
  content.comparisons = comparisonsOf(message.id, around);
  const QList<app::MessageId> siblings = app::siblingsOf(around.chat.messages, message.id);
  content.branchCount = std::max<int>(1, static_cast<int>(siblings.size()));
  content.branch = std::max<int>(0, static_cast<int>(siblings.indexOf(message.id)));
  return content;
}

}  // namespace winnow::ui
