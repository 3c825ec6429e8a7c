#include "ui/chat_view/formula/formula_font.h"

#include <QFontDatabase>
#include <QFontInfo>
#include <QFontMetricsF>
#include <QHash>
#include <algorithm>
#include <cmath>

namespace winnow::ui {
namespace {

constexpr qreal kMeasuredPoints = 72.0;
constexpr qsizetype kMostMeasured = 4096;

// Unicode's mathematical letters, in the order of Face; 0: the plain ones.
struct Alphabet {
  char32_t capital, small, digit, greekCapital, greekSmall;
};
constexpr Alphabet kAlphabets[] = {{0x1d434, 0x1d44e, 0, 0, 0x1d6fc},
                                   {0, 0, 0, 0, 0},
                                   {0x1d400, 0x1d41a, 0x1d7ce, 0x1d6a8, 0x1d6c2},
                                   {0x1d468, 0x1d482, 0x1d7ce, 0x1d6a8, 0x1d736},
                                   {0x1d538, 0x1d552, 0x1d7d8, 0, 0},
                                   {0x1d49c, 0x1d4b6, 0, 0, 0},
                                   {0x1d504, 0x1d51e, 0, 0, 0},
                                   {0x1d5a0, 0x1d5ba, 0x1d7e2, 0, 0},
                                   {0x1d670, 0x1d68a, 0x1d7f6, 0, 0}};
// Letters that Unicode had before, each behind the place that is empty for it.
constexpr std::u32string_view kOlder =
    U"\U0001d455ℎ\U0001d49dℬ\U0001d4a0ℰ\U0001d4a1ℱ\U0001d4a3ℋ\U0001d4a4ℐ\U0001d4a7ℒ\U0001d4a8ℳ\U0001d4adℛ\U0001d4baℯ"
    U"\U0001d4bcℊ\U0001d4c4ℴ\U0001d506ℭ\U0001d50bℌ\U0001d50cℑ\U0001d515ℜ\U0001d51dℨ\U0001d53aℂ\U0001d53fℍ\U0001d545ℕ"
    U"\U0001d547ℙ\U0001d548ℚ\U0001d549ℝ\U0001d551ℤ";

char32_t letter(char32_t c, Face face) {
  const Alphabet& alphabet = kAlphabets[static_cast<int>(face) - 1];
  const auto within = [c](char32_t first, char32_t last, char32_t start) {
    return c >= first && c <= last && start != 0 ? start + (c - first) : 0;
  };
  char32_t found = within(U'A', U'Z', alphabet.capital) + within(U'a', U'z', alphabet.small) + within(U'0', U'9', alphabet.digit) +
                   within(U'Α', U'Ω', alphabet.greekCapital) + within(U'α', U'ω', alphabet.greekSmall);
  const std::u32string_view variants = U"∂ϵϑϰϕϱϖ";
  if (const auto at = variants.find(c); at != variants.npos && alphabet.greekSmall != 0)
    found = alphabet.greekSmall + 25 + static_cast<char32_t>(at);
  if (const auto at = kOlder.find(found); at % 2 == 0 && at < kOlder.size()) found = kOlder[at + 1];
  return found != 0 ? found : c;
}

const QString& mathFamily() {
  static const QString family = [] {
    for (const char* name : {"Latin Modern Math", "STIX Two Math", "STIX Math", "XITS Math", "TeX Gyre Termes Math", "Libertinus Math",
                             "Cambria Math", "TeX Gyre DejaVu Math", "DejaVu Math TeX Gyre", "Noto Sans Math"}) {
      if (QFontDatabase::hasFamily(QLatin1String(name))) return QString::fromLatin1(name);
    }
    return QString();
  }();
  return family;
}

struct Measured {
  QString shown;
  QFont font;
  qreal advance = 0.0;  // in em, as the ink
  QRectF ink;
  QPainterPath outline;  // in pixels
  bool there = true;
};

const Measured& measured(const QString& text, Face face) {
  static QHash<QString, Measured> known;
  const QString key = QChar(static_cast<char16_t>(face)) + text;
  if (const auto found = known.constFind(key); found != known.constEnd()) return *found;
  if (known.size() >= kMostMeasured) known.clear();
  Measured made;
  made.font.setFamilies(mathFamily().isEmpty() ? QStringList{"STIXGeneral", "DejaVu Serif", "Noto Serif", "Liberation Serif"}
                                               : QStringList{mathFamily()});
  made.font.setStyleHint(QFont::Serif);
  made.font.setPointSizeF(kMeasuredPoints);
  made.font.setHintingPreference(QFont::PreferNoHinting);
  const bool styled = mathFamily().isEmpty() && face <= Face::kBoldItalic;
  const bool leans = styled && text.size() == 1 && letter(text[0].unicode(), Face::kItalic) != text[0].unicode();
  made.font.setItalic(leans && (face == Face::kItalic || face == Face::kBoldItalic));
  made.font.setBold(styled && (face == Face::kBold || face == Face::kBoldItalic));
  const QFontMetricsF metrics(made.font);
  for (const char32_t c : text.toUcs4()) {
    const char32_t shown = styled || text.contains(u' ') ? c : letter(c, face);
    made.shown += QString::fromUcs4(&shown, 1);
    made.there = made.there && (QChar::isSpace(c) || metrics.inFontUcs4(shown));
  }
  const qreal em = QFontInfo(made.font).pixelSize();
  made.advance = metrics.horizontalAdvance(made.shown) / em;
  made.outline.addText(0, 0, made.font, made.shown);  // QFontMetricsF::tightBoundingRect() always holds the baseline
  const QRectF ink = made.outline.boundingRect();
  made.ink = QRectF(ink.topLeft() / em, ink.size() / em);
  return *known.insert(key, made);
}

}  // namespace

FormulaFont::FormulaFont(const QFont& text) {
  const Measured& minus = measured(QStringLiteral("−"), Face::kUpright);
  m_axis = -minus.ink.center().y();
  m_rule = std::clamp(minus.ink.height(), 0.04, 0.06);
  m_xHeight = -measured(QStringLiteral("x"), Face::kUpright).ink.top();
  QFont same = text;
  same.setPointSizeF(kMeasuredPoints);
  const qreal pixels = QFontInfo(same).pixelSize();
  m_points = text.pointSizeF() * std::clamp(QFontMetricsF(same).xHeight() / pixels / m_xHeight, 1.0, 1.21);
  m_em = m_points * pixels / kMeasuredPoints;
}

QPainterPath FormulaFont::drawnOut(QChar sign, qreal height, qreal size) const {
  const Measured& known = measured(QString(sign), Face::kUpright);
  QPainterPath path = known.outline;
  const QRectF ink = path.boundingRect();
  const bool root = sign == u'√';  // its end alone moves
  const qreal natural = m_points * size / kMeasuredPoints, most = root ? 1.0 : 1.5;
  const qreal grown = natural * std::clamp(std::sqrt(height / (ink.height() * natural)), 1.0, most);
  const qreal apart = height / grown - ink.height(), high = ink.top() + ink.height() * (root ? 0.3 : 0.38),
              low = ink.bottom() - ink.height() * 0.38;
  for (int i = 0; i < path.elementCount(); ++i) {
    const qreal y = path.elementAt(i).y;
    path.setElementPositionAt(i, path.elementAt(i).x, y < high ? y - apart : y > low || root ? y : y - apart / 2);
  }
  return QTransform::fromScale(grown, grown).map(path.translated(0, -ink.bottom()));
}

std::optional<FormulaBox> FormulaFont::sign(const QString& text, Face face, qreal size) const {
  const Measured& known = measured(text, face);
  if (!known.there) return std::nullopt;
  const qreal em = m_em * size;
  QFont font = known.font;
  font.setPointSizeF(m_points * size);
  // Letters that are only slanted have all their lean beyond their width; a third of it keeps scripts off.
  const qreal italic = std::max(0.0, known.ink.right() - known.advance) * (known.font.italic() ? 0.33 : 1.0);
  return FormulaBox{(known.advance + italic) * em, -known.ink.top() * em, known.ink.bottom() * em, italic * em, {{{}, known.shown, font}}};
}

}  // namespace winnow::ui
