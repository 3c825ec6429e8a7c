#include "app/media/files/subtitle_markup.h"

#include <QHash>
#include <QRegularExpression>
#include <QStringView>
#include <algorithm>
#include <array>
#include <optional>

namespace winnow::app {
namespace {

constexpr qsizetype kLongestTag = 300;  // of "<", what it says, ">"

// The text that may follow a tag's name.
enum class Behind { kNothing, kAttributes, kWords };

struct Tag {
  QStringView name;
  Behind behind;
};
constexpr std::array kTags = std::to_array<Tag>(
    {{u"b", Behind::kNothing},       {u"i", Behind::kNothing},       {u"u", Behind::kNothing},    {u"s", Behind::kNothing},
     {u"strike", Behind::kNothing},  {u"strong", Behind::kNothing},  {u"em", Behind::kNothing},   {u"small", Behind::kNothing},
     {u"big", Behind::kNothing},     {u"sub", Behind::kNothing},     {u"sup", Behind::kNothing},  {u"tt", Behind::kNothing},
     {u"br", Behind::kNothing},      {u"c", Behind::kNothing},       {u"ruby", Behind::kNothing}, {u"rt", Behind::kNothing},
     {u"font", Behind::kAttributes}, {u"span", Behind::kAttributes}, {u"p", Behind::kAttributes}, {u"v", Behind::kWords},
     {u"lang", Behind::kWords}});

bool isNameCharacter(QChar c) { return c.unicode() < 0x80 && c.isLetterOrNumber(); }

// "00:01:02.500": when the words behind it are said.
bool isTime(QStringView text) {
  if (!text.contains(u':') || !text.front().isDigit()) return false;
  return std::ranges::all_of(text, [](QChar c) { return c.isDigit() || c == u':' || c == u'.'; });
}

// name="value", name=value, one or more.
bool areAttributes(QStringView text) {
  static const QRegularExpression kAttributes(QStringLiteral(R"(^(\s+[A-Za-z][A-Za-z-]*\s*=\s*("[^"]*"|'[^']*'|[^\s"'=]+))+\s*$)"));
  return kAttributes.match(text.toString()).hasMatch();
}

// The tag of what stands between "<" and ">"; none: it is text.
const Tag* tagOf(QStringView inside) {
  const bool closes = inside.startsWith(u'/');
  if (closes) inside = inside.sliced(1);
  qsizetype length = 0;
  while (length < inside.size() && isNameCharacter(inside[length])) ++length;
  const auto* tag =
      std::ranges::find_if(kTags, [&](const Tag& each) { return inside.left(length).compare(each.name, Qt::CaseInsensitive) == 0; });
  if (tag == kTags.end()) return nullptr;
  QStringView rest = inside.sliced(length);
  if (rest.startsWith(u'.')) {  // classes: "c.loud.red"
    qsizetype classes = 0;
    while (classes < rest.size() && !rest[classes].isSpace()) ++classes;
    rest = rest.sliced(classes);
  }
  if (rest.endsWith(u'/')) rest.chop(1);
  const bool bare = rest.trimmed().isEmpty();
  if (bare) return tag;
  if (closes || !rest.front().isSpace() || tag->behind == Behind::kNothing) return nullptr;
  return tag->behind == Behind::kWords || areAttributes(rest) ? tag : nullptr;
}

QString withoutTags(const QString& text, SubtitleLosses& losses) {
  QString plain;
  plain.reserve(text.size());
  for (qsizetype at = 0; at < text.size(); ++at) {
    if (text[at] == u'<') {
      const QStringView rest = QStringView(text).sliced(at + 1).left(kLongestTag);
      const QStringView inside = rest.left(std::max<qsizetype>(0, rest.indexOf(u'>')));
      const Tag* tag = inside.isEmpty() ? nullptr : tagOf(inside);
      if (tag != nullptr || (!inside.isEmpty() && isTime(inside))) {
        if (tag != nullptr && tag->name == u"v" && !inside.startsWith(u'/') && inside.contains(u' ')) ++losses.speakers;
        if (tag != nullptr && tag->name == u"br") plain += u'\n';
        at += inside.size() + 1;
        continue;
      }
    }
    plain += text[at];
  }
  return plain;
}

// True if an override block switches drawing: {\p1} on, {\p0} off; none: it says nothing of it. {\pos(..)} and {\pbo3} are others.
std::optional<bool> drawingAfter(QStringView block) {
  std::optional<bool> draws;
  for (qsizetype at = block.indexOf(u"\\p"); at >= 0; at = block.indexOf(u"\\p", at + 2)) {
    if (at + 2 < block.size() && block[at + 2].isDigit()) draws = block[at + 2] != u'0';
  }
  return draws;
}

// all: every block between braces is one, as in ASS; else those that begin with a back slash.
QString withoutOverrides(const QString& text, bool all, SubtitleLosses& losses) {
  QString plain;
  plain.reserve(text.size());
  bool draws = false, closes = true;
  for (qsizetype at = 0; at < text.size(); ++at) {
    const bool begins = closes && text[at] == u'{' && (all || (at + 1 < text.size() && text[at + 1] == u'\\'));
    const qsizetype end = begins ? text.indexOf(u'}', at) : -1;
    closes = closes && !(begins && end < 0);  // looked for no further once there is none
    if (end < 0) {
      if (!draws) plain += text[at];
      continue;
    }
    const bool before = draws;
    draws = drawingAfter(QStringView(text).sliced(at, end - at)).value_or(draws);
    losses.drawings += draws && !before ? 1 : 0;
    at = end;
  }
  return plain;
}

// A name, a space, its character, a space. HTML 4's, and of HTML 5's the letters of European languages and what stands on a keyboard.
constexpr QStringView kReferences =
    u"AElig Æ Aacute Á Abreve Ă Acirc Â Agrave À Alpha Α Amacr Ā Aogon Ą Aring Å Atilde Ã Auml Ä Beta Β Cacute Ć Ccaron Č "
    u"Ccedil Ç Chi Χ Dagger ‡ Dcaron Ď Delta Δ Dstrok Đ ETH Ð Eacute É Ecaron Ě Ecirc Ê Egrave È Emacr Ē Eogon Ę Epsilon Ε "
    u"Eta Η Euml Ë Gamma Γ Gbreve Ğ Hat ^ Iacute Í Icirc Î Idot İ Igrave Ì Imacr Ī Iogon Į Iota Ι Iuml Ï Kappa Κ Lacute Ĺ "
    u"Lambda Λ Lcaron Ľ Lstrok Ł Mu Μ Nacute Ń Ncaron Ň NewLine \n NonBreakingSpace \u00A0 Ntilde Ñ Nu Ν OElig Œ Oacute Ó "
    u"Ocirc Ô Odblac Ő Ograve Ò Omacr Ō Omega Ω Omicron Ο Oslash Ø Otilde Õ Ouml Ö Phi Φ Pi Π Prime ″ Psi Ψ Racute Ŕ "
    u"Rcaron Ř Rho Ρ Sacute Ś Scaron Š Scedil Ş Sigma Σ THORN Þ Tab \t Tau Τ Tcaron Ť Tcedil Ţ Theta Θ Uacute Ú Ucirc Û "
    u"Udblac Ű Ugrave Ù Umacr Ū Uogon Ų Upsilon Υ Uring Ů Uuml Ü Xi Ξ Yacute Ý Yuml Ÿ Zacute Ź Zcaron Ž Zdot Ż "
    u"ZeroWidthSpace \u200B Zeta Ζ aacute á abreve ă acirc â acute ´ aelig æ agrave à alefsym ℵ alpha α amacr ā amp & and ∧ "
    u"ang ∠ aogon ą apos ' aring å ast * asymp ≈ atilde ã auml ä bdquo „ beta β brvbar ¦ bsol \\ bull • cacute ć cap ∩ "
    u"ccaron č ccedil ç cedil ¸ cent ¢ check ✓ chi χ circ ˆ clubs ♣ colon : comma , commat @ cong ≅ copy © copysr ℗ crarr ↵ "
    u"cross ✗ cup ∪ curren ¤ dArr ⇓ dagger † darr ↓ dash ‐ dcaron ď deg ° delta δ diams ♦ divide ÷ dollar $ dstrok đ "
    u"eacute é ecaron ě ecirc ê egrave è emacr ē empty ∅ emsp \u2003 ensp \u2002 eogon ę epsilon ε equals = equiv ≡ eta η "
    u"eth ð euml ë euro € excl ! exist ∃ female ♀ flat ♭ fnof ƒ forall ∀ frac12 ½ frac13 ⅓ frac14 ¼ frac15 ⅕ frac18 ⅛ "
    u"frac23 ⅔ frac34 ¾ frac38 ⅜ frac58 ⅝ frac78 ⅞ frasl ⁄ gamma γ gbreve ğ ge ≥ grave ` gt > hArr ⇔ harr ↔ hearts ♥ "
    u"hellip … horbar ― hyphen ‐ iacute í icirc î iexcl ¡ igrave ì imacr ī image ℑ imath ı infin ∞ inodot ı int ∫ iogon į "
    u"iota ι iquest ¿ isin ∈ iuml ï kappa κ lArr ⇐ lacute ĺ lambda λ lang 〈 laquo « larr ← lbrace { lbrack [ lcaron ľ "
    u"lceil ⌈ lcub { ldquo “ le ≤ lfloor ⌊ lowast ∗ lowbar _ loz ◊ lpar ( lrm \u200E lsaquo ‹ lsqb [ lsquo ‘ lstrok ł lt < "
    u"macr ¯ male ♂ mdash — micro µ middot · minus − mldr … mu μ nabla ∇ nacute ń natural ♮ nbsp \u00A0 ncaron ň ndash – "
    u"ne ≠ ni ∋ nldr ‥ not ¬ notin ∉ nsub ⊄ ntilde ñ nu ν num # numero № oacute ó ocirc ô odblac ő oelig œ ograve ò oline ‾ "
    u"omacr ō omega ω omicron ο oplus ⊕ or ∨ ordf ª ordm º oslash ø otilde õ otimes ⊗ ouml ö para ¶ part ∂ percnt % "
    u"period . permil ‰ perp ⊥ phi φ phone ☎ pi π piv ϖ plus + plusmn ± pound £ prime ′ prod ∏ prop ∝ psi ψ quest ? quot \" "
    u"rArr ⇒ racute ŕ radic √ rang 〉 raquo » rarr → rbrace } rbrack ] rcaron ř rceil ⌉ rcub } rdquo ” real ℜ reg ® rfloor ⌋ "
    u"rho ρ rlm \u200F rpar ) rsaquo › rsqb ] rsquo ’ sacute ś sbquo ‚ scaron š scedil ş sdot ⋅ sect § semi ; sharp ♯ "
    u"shy \u00AD sigma σ sigmaf ς sim ∼ sol / spades ♠ star ☆ starf ★ sub ⊂ sube ⊆ sum ∑ sung ♪ sup ⊃ sup1 ¹ sup2 ² sup3 ³ "
    u"supe ⊇ szlig ß tau τ tcaron ť tcedil ţ there4 ∴ theta θ thetasym ϑ thinsp \u2009 thorn þ tilde ˜ times × trade ™ "
    u"uArr ⇑ uacute ú uarr ↑ ucirc û udblac ű ugrave ù umacr ū uml ¨ uogon ų upsih ϒ upsilon υ uring ů uuml ü verbar | "
    u"vert | weierp ℘ xi ξ yacute ý yen ¥ yuml ÿ zacute ź zcaron ž zdot ż zeta ζ zwj \u200D zwnj \u200C ";

constexpr qsizetype kLongestReference = 20;  // between "&" and ";"
constexpr uint kLastCharacter = 0x10FFFF;

// Numbers that HTML reads as Windows-1252 writes them: 0x80 to 0x9F.
constexpr std::array<char16_t, 32> kWindows = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
                                               0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
                                               0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};

QString numbered(QStringView digits) {
  const bool hexadecimal = digits.startsWith(u'x', Qt::CaseInsensitive);
  bool isNumber = false;
  const uint number = (hexadecimal ? digits.sliced(1) : digits).toUInt(&isNumber, hexadecimal ? 16 : 10);
  if (!isNumber || number == 0 || number > kLastCharacter || QChar::isSurrogate(number)) return {};
  if (number >= 0x80 && number < 0xA0) return QString(QChar(kWindows[number - 0x80]));
  return QString::fromUcs4(reinterpret_cast<const char32_t*>(&number), 1);
}

QHash<QStringView, QChar> namedCharacters() {
  QHash<QStringView, QChar> characters;
  for (qsizetype at = 0; at < kReferences.size();) {
    const qsizetype space = kReferences.indexOf(u' ', at);
    characters.insert(kReferences.sliced(at, space - at), kReferences[space + 1]);
    at = space + 3;
  }
  return characters;
}

QString named(QStringView name) {
  static const QHash<QStringView, QChar> kCharacters = namedCharacters();
  const auto found = kCharacters.constFind(name);
  return found == kCharacters.cend() ? QString() : QString(*found);
}

}  // namespace

std::vector<QString> plainCue(const QString& cue, SubtitleMarkup markup, SubtitleLosses& losses) {
  const bool ass = markup == SubtitleMarkup::kAss;
  QString text = withoutOverrides(cue, ass, losses);
  if (ass) {
    text.replace(QLatin1String("\\N"), QLatin1String("\n")).replace(QLatin1String("\\n"), QLatin1String("\n"));
    text.replace(QLatin1String("\\h"), QLatin1String(" "));
  } else {
    text = withoutReferences(withoutTags(text, losses));
  }
  for (QChar& c : text) {
    if (c != u'\n' && c.category() == QChar::Other_Control) c = u' ';
  }
  std::vector<QString> lines;
  for (const QStringView line : QStringView(text).split(u'\n')) {
    if (QString said = line.toString().simplified(); !said.isEmpty()) lines.push_back(std::move(said));
  }
  return lines;
}

QString withoutReferences(const QString& text) {
  QString plain;
  plain.reserve(text.size());
  for (qsizetype at = 0; at < text.size(); ++at) {
    if (text[at] == u'&') {
      const QStringView rest = QStringView(text).sliced(at + 1).left(kLongestReference + 1);
      const qsizetype end = rest.indexOf(u';');
      const QStringView body = rest.left(std::max<qsizetype>(0, end));
      const QString character = body.startsWith(u'#') ? numbered(body.sliced(1)) : named(body);
      if (!character.isEmpty()) {
        plain += character;
        at += end + 1;
        continue;
      }
    }
    plain += text[at];
  }
  return plain;
}

}  // namespace winnow::app
