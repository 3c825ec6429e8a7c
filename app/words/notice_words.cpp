#include "app/words/notice_words.h"

#include <QCoreApplication>
#include <QStringList>

#include "app/ground/notices/notice_text.h"
#include "app/words/display_text.h"
#include "app/words/format_text.h"

namespace winnow::app {

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
