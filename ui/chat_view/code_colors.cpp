#include "ui/chat_view/code_colors.h"

#include <QSet>
#include <QStringList>
#include <algorithm>
#include <map>
#include <utility>

namespace winnow::ui {
namespace {

// Lists are words between spaces.
struct CodeLanguage {
  const char* names;
  const char* lineComments;
  const char* blockComment;  // its beginning and its end; empty: none
  const char* quotes;        // a text within them ends on its line
  const char* longQuotes;    // and within these on any
  const char* keywords;
  bool anyCase = false;
};

#define WINNOW_C_WORDS                                                                                                                \
  "auto bool break case char const continue default do double else enum extern false float for goto if int long return short signed " \
  "sizeof static struct switch true typedef union unsigned void volatile while "

constexpr CodeLanguage kLanguages[] = {
    {"c cpp c++ cc cxx h hpp cuda objc", "//", "/* */", "\" '", "",
     WINNOW_C_WORDS
     "alignas alignof catch class co_await co_return concept consteval constexpr constinit decltype delete explicit export final friend "
     "import inline module mutable namespace new noexcept nullptr operator override private protected public requires static_assert "
     "template this throw try typename using virtual #define #else #endif #if #ifdef #ifndef #include #pragma"},
    {"python py python3", "#", "", "\" '", "\"\"\" '''",
     "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda "
     "match None nonlocal not or pass raise return self True try while with yield"},
    {"javascript js jsx typescript ts tsx mjs", "//", "/* */", "\" '", "`",
     "abstract any as async await boolean break case catch class const continue debugger declare default delete do else enum export "
     "extends false finally for from function get if implements import in instanceof interface let new null number of private protected "
     "public readonly return set static string super switch this throw true try type typeof undefined var void while yield"},
    {"java kotlin kt scala", "//", "/* */", "\" '", "\"\"\"",
     "abstract assert boolean break byte case catch char class const continue data def default do double else enum extends false final "
     "finally float for fun if implements import in instanceof int interface is long native new null object override package private "
     "protected public record return short static super switch synchronized this throw throws true try val var void volatile when while"},
    {"csharp cs c#", "//", "/* */", "\" '", "\"\"\"",
     WINNOW_C_WORDS
     "abstract as async await base byte catch class decimal delegate event finally foreach get in interface internal is lock namespace "
     "new null object out override params private protected public readonly record ref sealed set string this throw try using var virtual "
     "yield"},
    {"go golang", "//", "/* */", "\" '", "`",
     "bool break byte case chan const continue default defer else error fallthrough false float64 for func go goto if import int int64 "
     "interface map nil package range return rune select string struct switch true type uint8 var"},
    {"rust rs", "//", "/* */", "\"", "",
     "as async await bool break const continue crate dyn else enum extern false f32 f64 fn for i32 i64 if impl in let loop match mod move "
     "mut pub ref return self Self static str String struct super trait true type u8 u32 u64 unsafe use usize where while"},
    {"bash sh shell zsh console", "#", "", "\" '", "",
     "case cd do done echo elif else esac exit export fi for function if in local read return set shift source sudo test then trap unset "
     "until while"},
    {"sql sqlite postgresql mysql", "--", "/* */", "' \"", "",
     "add all alter and as asc begin between by case check commit constraint create cross default delete desc distinct drop else end "
     "exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer "
     "primary references right rollback select set table then transaction union unique update using values view when where with",
     true},
    {"json jsonc json5", "//", "/* */", "\"", "", "false null true"},
    {"yaml yml toml ini", "#", "", "\" '", "", "false no null off on true yes"},
    {"css scss less", "", "/* */", "\" '", "", "@import @media @keyframes auto block flex grid important inherit initial none"},
    {"html xml svg xhtml", "", "<!-- -->", "\" '", "", ""},
};

#undef WINNOW_C_WORDS

QStringList wordsIn(const char* list) { return QString::fromLatin1(list).split(QLatin1Char(' '), Qt::SkipEmptyParts); }

struct Scanner {
  QStringList lineComments;
  QStringList blockComment;
  QStringList quotes;
  QStringList longQuotes;
  QSet<QString> keywords;
  Qt::CaseSensitivity cases = Qt::CaseSensitive;
};

// Null: not in the table.
const Scanner* scannerOf(const QString& language) {
  static const std::map<QString, Scanner> scanners = [] {
    std::map<QString, Scanner> all;
    for (const CodeLanguage& each : kLanguages) {
      Scanner scanner{wordsIn(each.lineComments), wordsIn(each.blockComment), wordsIn(each.quotes), wordsIn(each.longQuotes), {}, {}};
      for (const QString& word : wordsIn(each.keywords)) scanner.keywords.insert(word);
      scanner.cases = each.anyCase ? Qt::CaseInsensitive : Qt::CaseSensitive;
      for (const QString& name : wordsIn(each.names)) all.emplace(name, scanner);
    }
    return all;
  }();
  const auto found = scanners.find(language.trimmed().toLower());
  return found == scanners.end() ? nullptr : &found->second;
}

bool isWord(QChar c) { return c.isLetterOrNumber() || c == u'_'; }

// The one of these that stands there; empty: none.
QString standsAt(const QStringList& marks, QStringView code, qsizetype at) {
  for (const QString& mark : marks) {
    if (code.mid(at).startsWith(mark)) return mark;
  }
  return {};
}

qsizetype behind(QStringView code, qsizetype from, const QString& end) {
  const qsizetype found = code.indexOf(end, from);
  return found < 0 ? code.size() : found + end.size();
}

// Past the closing quote; a backslash hides the character behind it.
qsizetype behindQuote(QStringView code, qsizetype from, QChar quote) {
  for (qsizetype i = from; i < code.size(); ++i) {
    if (code[i] == u'\n') return i;
    if (code[i] == u'\\')
      ++i;
    else if (code[i] == quote)
      return i + 1;
  }
  return code.size();
}

qsizetype behindWord(QStringView code, qsizetype from) {
  while (from < code.size() && isWord(code[from])) ++from;
  return from;
}

// "1", "0x1f", "1'000", "2.5e-3".
qsizetype behindNumber(QStringView code, qsizetype from) {
  qsizetype i = from;
  const auto goesOn = [&] {
    const QChar c = code[i];
    if (isWord(c) || c == u'.') return true;
    if (i + 1 < code.size() && c == u'\'' && code[i + 1].isDigit()) return true;
    return (c == u'-' || c == u'+') && (code[i - 1] == u'e' || code[i - 1] == u'E') && !code.mid(from).startsWith(u"0x");
  };
  while (i < code.size() && goesOn()) ++i;
  while (i > from + 1 && code[i - 1] == u'.') --i;  // the end of a sentence
  return i;
}

}  // namespace

std::vector<CodeSpan> codeSpans(QStringView code, const QString& language) {
  std::vector<CodeSpan> spans;
  const Scanner* scanner = scannerOf(language);
  if (scanner == nullptr) return spans;
  const auto add = [&spans](qsizetype from, qsizetype to, CodePart part) {
    spans.push_back({from, to - from, part});
    return to;
  };
  for (qsizetype i = 0; i < code.size();) {
    if (!standsAt(scanner->lineComments, code, i).isEmpty()) {
      const qsizetype end = code.indexOf(u'\n', i);
      i = add(i, end < 0 ? code.size() : end, CodePart::kComment);
    } else if (!scanner->blockComment.isEmpty() && code.mid(i).startsWith(scanner->blockComment.front())) {
      i = add(i, behind(code, i + scanner->blockComment.front().size(), scanner->blockComment.back()), CodePart::kComment);
    } else if (const QString quotes = standsAt(scanner->longQuotes, code, i); !quotes.isEmpty()) {
      i = add(i, behind(code, i + quotes.size(), quotes), CodePart::kText);
    } else if (!standsAt(scanner->quotes, code, i).isEmpty()) {
      i = add(i, behindQuote(code, i + 1, code[i]), CodePart::kText);
    } else if (code[i].isDigit()) {
      i = add(i, behindNumber(code, i), CodePart::kNumber);
    } else if (isWord(code[i]) || code[i] == u'#' || code[i] == u'@') {
      const qsizetype end = std::max(i + 1, behindWord(code, i + 1));
      const QString word = code.mid(i, end - i).toString();
      const bool keyword = scanner->keywords.contains(scanner->cases == Qt::CaseSensitive ? word : word.toLower());
      i = keyword ? add(i, end, CodePart::kKeyword) : end;
    } else {
      ++i;
    }
  }
  return spans;
}

}  // namespace winnow::ui
