#include "ui/words/attached_words.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QRegularExpression>
#include <QStringList>

#include "ui/words/display_text.h"
#include "ui/words/format_text.h"

namespace winnow::ui {
namespace {

class AttachedWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::AttachedWords)
};

}  // namespace

AttachedKind attachedKind(bool pictures, bool documents) {
  if (pictures == documents) return AttachedKind::kBoth;
  return documents ? AttachedKind::kDocuments : AttachedKind::kPictures;
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

QString attachedLabel(AttachedKind kind) {
  if (kind == AttachedKind::kDocuments) return AttachedWords::tr("Document");
  return kind == AttachedKind::kBoth ? AttachedWords::tr("Attached") : AttachedWords::tr("Visual");
}

QString ofAttached(AttachedKind kind) {
  if (kind == AttachedKind::kDocuments) return AttachedWords::tr("of the document");
  return kind == AttachedKind::kBoth ? AttachedWords::tr("of what is attached") : AttachedWords::tr("of pictures");
}

QString attachedNoun(AttachedKind kind) {
  if (kind == AttachedKind::kDocuments) return AttachedWords::tr("the document");
  return kind == AttachedKind::kBoth ? AttachedWords::tr("what is attached") : AttachedWords::tr("the pictures");
}

QString keptOf(AttachedKind kind, bool text) {
  if (text) return AttachedWords::tr("of the text");
  if (kind == AttachedKind::kDocuments) return AttachedWords::tr("of the document");
  return kind == AttachedKind::kBoth ? AttachedWords::tr("of what is attached") : AttachedWords::tr("of the pictures");
}

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

}  // namespace winnow::ui
