#include "app/words/attached_words.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QRegularExpression>
#include <QStringList>
#include <algorithm>
#include <iterator>

#include "app/ground/notices/notice_text.h"
#include "app/words/display_text.h"
#include "app/words/format_text.h"

namespace winnow::app {
namespace {

class AttachedWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::app::AttachedWords)
};

class WatchedName {
  Q_DECLARE_TR_FUNCTIONS(winnow::app::WatchedName)
};

struct KindWords {
  AttachedKind kind;
  const char* label;
  const char* noun;
};

#define SAY(text) QT_TRANSLATE_NOOP("winnow::app::AttachedWords", text)

constexpr KindWords kKindWords[] = {
    {AttachedKind::kImage, SAY("Image"), SAY("the image")},
    {AttachedKind::kImages, SAY("Images"), SAY("the images")},
    {AttachedKind::kVideo, SAY("Video"), SAY("the video")},
    {AttachedKind::kVideos, SAY("Videos"), SAY("the videos")},
    {AttachedKind::kVisual, SAY("Images, videos"), SAY("the images and videos")},
    {AttachedKind::kDocument, SAY("Document"), SAY("the document")},
    {AttachedKind::kDocuments, SAY("Documents"), SAY("the documents")},
};
constexpr KindWords kOfAnyKind = {AttachedKind::kMixed, SAY("Attached"), SAY("what is attached")};

#undef SAY

const KindWords& kindWords(AttachedKind kind) {
  const auto* const found = std::ranges::find(kKindWords, kind, &KindWords::kind);
  return found != std::end(kKindWords) ? *found : kOfAnyKind;
}

}  // namespace

void AttachedCounts::add(MediaKind kind) {
  switch (kind) {
    case MediaKind::kImage: ++images; break;
    case MediaKind::kVideo: ++videos; break;
    case MediaKind::kDocument: ++documents; break;
  }
}

AttachedKind attachedKind(const AttachedCounts& counts) {
  const bool visual = counts.images > 0 || counts.videos > 0;
  if (counts.documents > 0) {
    if (visual) return AttachedKind::kMixed;
    return counts.documents == 1 ? AttachedKind::kDocument : AttachedKind::kDocuments;
  }
  if (counts.images > 0 && counts.videos > 0) return AttachedKind::kVisual;
  if (counts.images > 0) return counts.images == 1 ? AttachedKind::kImage : AttachedKind::kImages;
  if (counts.videos > 0) return counts.videos == 1 ? AttachedKind::kVideo : AttachedKind::kVideos;
  return AttachedKind::kNothing;
}

AttachedKind attachedKind(const QList<Attachment>& attachments) {
  AttachedCounts counts;
  for (const Attachment& attachment : attachments) counts.add(attachment.kind);
  return attachedKind(counts);
}

QString attachedName(const QString& path) {
  const QString name = QFileInfo(path).fileName();
  static const QRegularExpression kPicture(QStringLiteral("^pasted-[0-9a-f]{32}\\.png$"));
  static const QRegularExpression kText(QStringLiteral("^pasted-(?:(.+)-)?[0-9a-f]{8}\\.txt$"));
  if (kPicture.match(name).hasMatch()) return AttachedWords::tr("Pasted image");
  const QRegularExpressionMatch text = kText.match(name);
  if (!text.hasMatch()) return displayText(name).simplified();
  const QString words = displayText(text.captured(1)).replace(QLatin1Char('-'), QLatin1Char(' '));
  return words.isEmpty() ? AttachedWords::tr("Pasted text") : AttachedWords::tr("Pasted text: %1…").arg(words);
}

QString attachedLabel(AttachedKind kind) { return AttachedWords::tr(kindWords(kind).label); }

QString attachedNoun(AttachedKind kind) { return AttachedWords::tr(kindWords(kind).noun); }

QString documentLength(qint64 words, qint64 tokens, qint64 mostTokens) {
  QStringList parts;
  if (words > 0) parts << AttachedWords::tr("%Ln word(s)", nullptr, static_cast<int>(words));
  if (mostTokens > 0 && tokens > mostTokens) {
    parts << AttachedWords::tr("the first %1 of %2 tokens")
                 .arg(formatCount(static_cast<double>(mostTokens)), formatCount(static_cast<double>(tokens)));
  } else if (mostTokens > 0 && tokens == 0) {
    parts << AttachedWords::tr("the first %Ln token(s)", nullptr, static_cast<int>(mostTokens));
  } else if (tokens > 0) {
    parts << AttachedWords::tr("%Ln token(s)", nullptr, static_cast<int>(tokens));
  }
  return parts.join(QStringLiteral(" · "));
}

QString watchedName(const QString& address) {
  const QString shown = displayText(address).simplified();
  const QString screen = QStringLiteral("screen:");
  if (shown == screen) return WatchedName::tr("the screen");
  if (shown.startsWith(screen)) return WatchedName::tr("the screen %1").arg(shown.mid(screen.size()));
  if (shown.startsWith(QLatin1String("/dev/"))) return WatchedName::tr("the camera %1").arg(shown);
  return shown;
}

QString noticeWords(const MediaNotice& notice) {
  QString text = QCoreApplication::translate("winnow::app::NoticeTexts", noticePattern(notice));
  text.replace(QLatin1String("%1"), formatCount(static_cast<double>(notice.amount)));
  text.replace(QLatin1String("%2"), formatCount(static_cast<double>(notice.of)));
  text.replace(QLatin1String("%3"), QString::fromStdString(notice.name));
  return sentenceOf(text);
}

QString noticeWords(const std::vector<MediaNotice>& notices) {
  QStringList lines;
  for (const MediaNotice& notice : notices) lines << noticeWords(notice);
  return lines.join(QLatin1Char('\n'));
}

}  // namespace winnow::app
