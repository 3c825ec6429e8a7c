#include "app/words/display_text.h"

namespace winnow::app {

QString displayText(QStringView text) {
  QString result;
  result.reserve(text.size());
  for (const QChar c : text) {
    const char16_t u = c.unicode();
    if (u == u'\n' || u == u'\t') {
      result += c;
    } else if (u == u'\r' || u == 0x200b || u == 0x2060 || u == 0xfeff || u == 0x00ad) {
      continue;  // invisible and without meaning on a screen
    } else if (u < 0x20) {
      result += QChar(0x2400 + u);  // control pictures: ESC is shown as ␛
    } else if (u == 0x7f || (u >= 0x80 && u < 0xa0) || (u >= 0x202a && u <= 0x202e) || (u >= 0x2066 && u <= 0x2069) || u == 0x061c) {
      result += QChar(QChar::ReplacementCharacter);
    } else if (u == 0xfffc) {
      result += QChar(QChar::ReplacementCharacter);  // QTextDocument would take it for an embedded object
    } else {
      result += c;
    }
  }
  return result;
}

QString sentenceOf(const QString& clause) {
  QString text = displayText(clause).simplified();
  if (text.isEmpty()) return text;
  text[0] = text[0].toUpper();
  return text.endsWith(QLatin1Char('.')) ? text : text + QLatin1Char('.');
}

}  // namespace winnow::app
