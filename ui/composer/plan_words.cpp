#include "ui/composer/plan_words.h"

#include <QCoreApplication>
#include <QFile>
#include <QStringList>
#include <algorithm>
#include <cmath>

#include "app/words/attached_words.h"
#include "app/words/format_text.h"
#include "ui/recipes/recipe_words.h"

namespace winnow::ui {
namespace {

class PlanWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::PlanWords)
};

// From these shares of the limit on a plan is called tight.
constexpr double kTightContext = 0.9;
constexpr double kTightMemory = 0.8;
constexpr double kLeastRetention = 0.01;
// Room for a question that is not written yet, beside a document that is cut to fit, and the step to which its tokens are rounded down.
constexpr qint64 kQuestionTokens = 200;
constexpr qint64 kRoundTokens = 100;

int framesOf(const QList<app::Attachment>& attachments) {
  int frames = 0;
  for (const app::Attachment& attachment : attachments) {
    if (attachment.kind == MediaKind::kVideo && attachment.plan.frame_count > 0) frames += attachment.plan.frame_count;
  }
  return frames;
}

int imagesOf(const QList<app::Attachment>& attachments) {
  return static_cast<int>(
      std::count_if(attachments.begin(), attachments.end(), [](const app::Attachment& each) { return each.kind == MediaKind::kImage; }));
}

// "1,512 words", "the first 1,000 tokens of …"; of several all words.
QString documentsText(const QList<app::Attachment>& attachments) {
  qint64 words = 0;
  int documents = 0;
  const app::Attachment* cut = nullptr;
  for (const app::Attachment& attachment : attachments) {
    if (attachment.kind != MediaKind::kDocument) continue;
    ++documents;
    words += attachment.words;
    if (attachment.mostTokens > 0) cut = &attachment;
  }
  if (documents == 0) return {};
  if (documents == 1 && cut != nullptr) return app::documentLength(0, 0, cut->mostTokens);
  return app::documentLength(words, 0, 0);
}

// Tokens of the whole thread with the longest answer.
qint64 tokensNeeded(const Planned& planned) {
  return (planned.kv_bytes_per_token > 0 ? planned.kv_bytes_full / planned.kv_bytes_per_token : planned.tokens.prompt) +
         planned.tokens.generated;
}

QString tokensText(const TokenCounts& tokens, app::AttachedKind attached) {
  const QString all = PlanWords::tr("%Ln token(s)", nullptr, static_cast<int>(tokens.prompt));
  if (tokens.visual == 0) return PlanWords::tr("This question: %1.").arg(all);
  return PlanWords::tr("This question: %1 (%2 for %3, %4 for text).")
      .arg(all, app::formatCount(static_cast<double>(tokens.visual)), app::attachedNoun(attached),
           app::formatCount(static_cast<double>(tokens.text)));
}

QString cacheText(const Planned& planned) {
  const QString full = app::formatBytes(planned.kv_bytes_full);
  if (planned.kv_bytes_after_event == planned.kv_bytes_full) return PlanWords::tr("cache %1").arg(full);
  return PlanWords::tr("cache %1 → %2").arg(full, app::formatBytes(planned.kv_bytes_after_event));
}

QString contextText(qint64 tokens, qint64 limit) {
  return PlanWords::tr("%1 of %2 tokens").arg(app::formatCount(static_cast<double>(tokens)), app::formatCount(static_cast<double>(limit)));
}

QString fitText(const Planned& planned, PlanFit fit, qint64 context) {
  if (!planned.fits_context) {
    return PlanWords::tr("does not fit: %1 tokens, the model reads %2")
        .arg(app::formatCount(static_cast<double>(context)), app::formatCount(static_cast<double>(planned.context_tokens)));
  }
  if (!planned.fits_memory) return PlanWords::tr("does not fit: %1 of memory free").arg(app::formatBytes(planned.free_bytes));
  return fit == PlanFit::kTight ? PlanWords::tr("just fits") : PlanWords::tr("fits");
}

QString takenText(const MediaSampled& medium) {
  return PlanWords::tr("%1: %2 tokens")
      .arg(app::attachedName(QFile::decodeName(QByteArray::fromStdString(medium.path))),
           app::formatCount(static_cast<double>(medium.visual_tokens)));
}

// The image that takes the most although nobody asked for as many; null: none takes many.
const MediaSampled* largestUnasked(const std::vector<MediaSampled>& seen) {
  const MediaSampled* largest = nullptr;
  for (const MediaSampled& medium : seen) {
    if (!takes_many_unasked(medium.kind, medium.detail, medium.visual_tokens)) continue;
    if (largest == nullptr || medium.visual_tokens > largest->visual_tokens) largest = &medium;
  }
  return largest;
}

}  // namespace

QList<DocumentRoom> documentRooms(const Planned& planned, const std::vector<MediaSampled>& documents) {
  QList<DocumentRoom> rooms;
  const auto longest = std::max_element(documents.begin(), documents.end(),
                                        [](const MediaSampled& a, const MediaSampled& b) { return a.tokens < b.tokens; });
  for (auto document = documents.begin(); document != documents.end(); ++document) {
    DocumentRoom room{QByteArray::fromStdString(document->path), document->all_tokens};
    if (!planned.fits_context && document == longest) {
      const qint64 most = document->tokens - (tokensNeeded(planned) - planned.context_tokens) - kQuestionTokens;
      room.fits = false;
      room.most = std::max<qint64>(0, most - most % kRoundTokens);
    }
    rooms.append(room);
  }
  return rooms;
}

PlanView describePlan(const Planned& planned, const PlanSubject& subject) {
  PlanView view;
  const int frames = framesOf(subject.attachments);
  const qint64 context = tokensNeeded(planned);
  const double memoryShare = planned.free_bytes > 0 ? double(planned.peak_bytes + planned.state_bytes) / double(planned.free_bytes) : 0.0;
  const bool fits = planned.fits_context && planned.fits_memory;
  const bool tight = double(context) > kTightContext * double(planned.context_tokens) || memoryShare > kTightMemory;
  view.fit = !fits ? PlanFit::kDoesNotFit : tight ? PlanFit::kTight : PlanFit::kFits;

  QStringList parts;
  const bool textAlone = subject.attachments.isEmpty() && planned.tokens.visual == 0;
  if (frames > 0) parts << PlanWords::tr("%Ln frame(s)", nullptr, frames);
  if (const int images = imagesOf(subject.attachments); images > 0) parts << PlanWords::tr("%Ln image(s)", nullptr, images);
  if (textAlone && planned.fits_context) parts << contextText(context - planned.tokens.generated, planned.context_tokens);
  if (const QString documents = documentsText(subject.attachments); !documents.isEmpty()) parts << documents;
  parts << cacheText(planned) << fitText(planned, view.fit, context);
  // A guess is of the encoder alone, which is most of a long wait and little of a short one.
  constexpr double kLongWaitMs = 5000.0;
  const double guessed = frames * subject.frameMs;
  const double wait = planned.expected_ms > 0.0 ? planned.expected_ms : guessed >= kLongWaitMs ? guessed : 0.0;
  if (wait > 0.0) parts << PlanWords::tr("about %1").arg(app::formatMilliseconds(wait));
  // A video begins with fewer frames than usual where all would take over a minute (frames_in_a_minute).
  const int usual = app::ConversationOptions().frameCount;
  constexpr double kMinuteMs = 60'000.0;
  if (frames > 0 && frames < usual && subject.attachments.size() == 1 && usual * subject.frameMs > kMinuteMs)
    parts << PlanWords::tr("%1 frames: about %2").arg(usual).arg(app::formatSeconds(wait + (usual - frames) * subject.frameMs));
  if (textAlone && planned.expected_ms > 0.0 && planned.expected_per_token_ms > 0.0)
    parts << PlanWords::tr("%1 tokens/s").arg(app::formatCount(1000.0 / planned.expected_per_token_ms));
  const MediaSampled* const largest = largestUnasked(subject.seen);
  if (largest != nullptr) parts.prepend(takenText(*largest));
  view.text = parts.join(QStringLiteral(" · "));
  QStringList detail{
      tokensText(planned.tokens, app::attachedKind(subject.attachments)),
      PlanWords::tr("Peak cache memory: %1. Free now: %2.").arg(app::formatBytes(planned.peak_bytes), app::formatBytes(planned.free_bytes)),
      PlanWords::tr("Chat plus longest answer: %1 of %2 tokens.")
          .arg(app::formatCount(static_cast<double>(context)), app::formatCount(static_cast<double>(planned.context_tokens)))};
  for (const MediaSampled& medium : subject.seen) {
    if (medium.visual_tokens > 0) detail << takenText(medium);
  }
  if (planned.tokens.unread > 0)
    detail
        << PlanWords::tr("Never read: %1 tokens of images and videos.").arg(app::formatCount(static_cast<double>(planned.tokens.unread)));
  if (planned.estimated) detail << PlanWords::tr("How many tokens are read depends on the pictures: these numbers are near.");
  if (planned.state_bytes > 0) detail << PlanWords::tr("Parts of fixed size take %1 more.").arg(app::formatBytes(planned.state_bytes));
  if (subject.window > 0 && planned.state_bytes == 0 && planned.tokens.prompt >= subject.window) {
    detail << PlanWords::tr("Some layers see only the last %1 tokens. Their share is taken from those.")
                  .arg(app::formatCount(static_cast<double>(subject.window)));
  }
  if (planned.expected_encoder_ms > 0.0) {
    detail << PlanWords::tr("The wait: %1 for reading, %2 in the vision encoder, %3 in the decoder.")
                  .arg(app::formatMilliseconds(planned.expected_reading_ms), app::formatMilliseconds(planned.expected_encoder_ms),
                       app::formatMilliseconds(planned.expected_ms - planned.expected_reading_ms - planned.expected_encoder_ms));
  }
  if (planned.expected_ms > 0.0 && planned.expected_per_token_ms > 0.0) {
    detail << PlanWords::tr("Estimated from earlier answers: first word after about %1, then %2 tokens a second.")
                  .arg(app::formatMilliseconds(planned.expected_ms), app::formatCount(1000.0 / planned.expected_per_token_ms));
  } else if (wait > 0.0) {
    detail << PlanWords::tr("The wait is estimated from the speed of this computer until a first answer of this kind has been measured.");
  } else {
    detail << PlanWords::tr("The expected wait is shown after the first answer of this kind.");
  }
  if (frames > 0 && subject.frameMs > 0.0)
    detail << PlanWords::tr("Each frame takes about %1 in the vision encoder.").arg(app::formatMilliseconds(subject.frameMs));
  view.detail = detail.join(QLatin1Char('\n'));
  if (largest != nullptr && subject.pictures.kind != DetailKind::kFixed) {
    view.remedies.append(
        {PlanRemedy::Kind::kDetail, 1.0, 1.0,
         PlanWords::tr("Use at most %1 tokens a picture").arg(app::formatCount(static_cast<double>(subject.pictures.medium)))});
  }
  if (view.fit != PlanFit::kDoesNotFit) return view;

  if (frames > 1) {
    double factor = 1.0;
    if (!planned.fits_context && planned.tokens.visual > 0) {
      const double over = double(context - planned.context_tokens);
      factor = std::min(factor, 1.0 - over / double(planned.tokens.visual));
    }
    if (!planned.fits_memory && memoryShare > 0.0) factor = std::min(factor, kTightMemory / std::max(1.0, memoryShare));
    const int fewer = static_cast<int>(std::floor(factor * frames));
    if (fewer >= 1) {
      const QString text = PlanWords::tr("Use %Ln frame(s)", nullptr, fewer);
      view.remedies.append({PlanRemedy::Kind::kFrames, double(fewer) / frames, 1.0, text});
    }
  }
  if (!planned.fits_memory && subject.narrowCache && (subject.recipe.kv_bits == 0 || subject.recipe.kv_bits > 8))
    view.remedies.append({PlanRemedy::Kind::kNarrowCache, 1.0, 1.0, PlanWords::tr("Use an 8-bit cache")});
  if (!planned.fits_memory && planned.twice && planned.twice->fits_memory)
    view.remedies.append({PlanRemedy::Kind::kReadTwice, 1.0, 1.0, PlanWords::tr("Read the prompt twice")});
  if (!planned.fits_memory && !subject.recipe.budget_tokens && !keeps_everything(subject.recipe) &&
      subject.recipe.retention > kLeastRetention) {
    const double half = std::max(kLeastRetention, std::round(subject.recipe.retention * 50.0) / 100.0);
    view.remedies.append({PlanRemedy::Kind::kRetention, 1.0, half, PlanWords::tr("Keep %1").arg(app::formatShare(half))});
  }
  return view;
}

}  // namespace winnow::ui
