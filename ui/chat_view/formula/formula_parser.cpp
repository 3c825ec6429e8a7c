#include "ui/chat_view/formula/formula_parser.h"

#include <QStringList>
#include <algorithm>
#include <utility>

#include "ui/chat_view/formula/formula_commands.h"

namespace winnow::ui {
namespace {

using Kind = FormulaNode::Kind;
using Reads = FormulaCommand::Reads;

constexpr qsizetype kMostColumns = 32;

bool isDigit(QChar c) { return c >= u'0' && c <= u'9'; }
bool isLetter(QChar c) { return (c >= u'a' && c <= u'z') || (c >= u'A' && c <= u'Z'); }

class Parsing {
 public:
  explicit Parsing(QStringView text) : m_text(text) {}

  std::optional<FormulaNode> run() {
    FormulaNode root = table({.kind = Kind::kArray, .style = MathStyle::kDisplay, .text = "c"}, {});
    if (root.parts.size() == 1) root = FormulaNode(root.parts[0].parts[0]);
    return m_failed || root.isEmpty() ? std::nullopt : std::optional(std::move(root));
  }

 private:
  FormulaNode fail() {
    m_failed = true;
    m_at = m_text.size();
    return {};
  }

  // A command with its backslash, or a character; empty at the end.
  QString next() {
    while (m_at < m_text.size() && m_text[m_at].isSpace()) ++m_at;
    const qsizetype from = m_at;
    if (from == m_text.size()) return {};
    ++m_at;
    if (m_text[from] == u'\\' && m_at < m_text.size()) {
      const bool word = isLetter(m_text[m_at++]);
      while (word && m_at < m_text.size() && isLetter(m_text[m_at])) ++m_at;
    } else if (m_text[from].isHighSurrogate() && m_at < m_text.size()) {
      ++m_at;
    }
    return m_text.mid(from, m_at - from).toString();
  }
  QString peek() {
    const qsizetype at = m_at;
    const QString token = next();
    m_at = at;
    return token;
  }
  bool take(const char* token) {
    const qsizetype at = m_at;
    if (next() == QLatin1String(token)) return true;
    m_at = at;
    return false;
  }
  void expect(bool found) {
    if (!found) fail();
  }

  // Up to what ends a group, a cell or an option.
  FormulaNode row() {
    static const QStringList kEnds = {QString(), "}", "&", "\\\\", "\\cr", "\\right", "\\middle", "\\end"};
    FormulaNode row;
    expect(++m_depth <= kDeepestFormula);
    const Face face = m_face;
    for (QString token = peek(); !kEnds.contains(token) && !(m_optionDepth == m_depth && token == u"]"); token = peek())
      row.parts.push_back(withScripts(isDigit(token[0])                                 ? number()
                                      : token == u"^" || token == u"_" || token == u"'" ? FormulaNode()
                                                                                        : unit()));
    m_face = face;
    --m_depth;
    return row;
  }

  FormulaNode number() {
    FormulaNode node{.kind = Kind::kSign, .face = m_face, .text = next()};
    while (m_at < m_text.size() &&
           (isDigit(m_text[m_at]) || (m_text[m_at] == u'.' && m_at + 1 < m_text.size() && isDigit(m_text[m_at + 1]))))
      node.text += m_text[m_at++];
    return node;
  }

  FormulaNode withScripts(FormulaNode base) {
    FormulaNode below, above;
    for (;;) {
      if (take("\\limits")) {
        base.limits = Limits::kAlways;
      } else if (take("\\nolimits")) {
        base.limits = Limits::kBeside;
      } else if (take("'")) {
        expect(above.parts.size() < 4);
        above.parts.push_back({.kind = Kind::kSign, .text = "′"});
      } else if (take("^")) {
        expect(above.isEmpty() || above.parts.back().text == u"′");
        above.parts.push_back(argument());
        above.parts.back().em = 1;  // no prime, whatever it is
      } else if (take("_")) {
        expect(below.isEmpty());
        below.parts.push_back(argument());
      } else {
        break;
      }
    }
    if (below.isEmpty() && above.isEmpty()) return base;
    FormulaNode node{.kind = Kind::kScripts, .atom = base.atom, .limits = base.limits};
    for (FormulaNode* part : {&base, &below, &above}) node.parts.push_back(std::move(*part));
    return node;
  }

  // {…}, or one sign or command without braces.
  FormulaNode argument() {
    const QString token = peek();
    if (token.isEmpty() || token == u"}" || token == u"&" || token == u"^" || token == u"_" || ++m_depth > kDeepestFormula) return fail();
    FormulaNode node = unit();
    --m_depth;
    return node;
  }

  FormulaNode option() {
    if (!take("[")) return {};
    const int before = std::exchange(m_optionDepth, m_depth + 1);
    FormulaNode node = row();
    m_optionDepth = before;
    expect(take("]"));
    return node;
  }

  FormulaNode unit() {
    const QString token = next();
    FormulaNode node;
    if (token == u"{") {
      node = row();
      expect(take("}"));
    } else if (token == u"~" || (token.size() > 1 && token[0] == u'\\')) {
      node = command(token == u"~" || token == u"\\ " ? QStringLiteral("space") : token.mid(1));
    } else {
      expect(formulaSign(token, node));
      node.face = m_face;
    }
    return node;
  }

  FormulaNode command(QString name) {
    if (name == u"begin") return environment();
    if (name == u"left") return fence();
    if (name == u"not") return negated();
    if (name == u"pmod") return modulus();
    if ((name == u"operatorname" || name == u"tag") && take("*")) name += u'*';
    const FormulaCommand* known = formulaCommand(name);
    if (known == nullptr) return fail();
    FormulaNode node = known->node;
    if (node.kind == Kind::kArray) return take("{") ? table(std::move(node), QStringLiteral("}")) : fail();
    if (node.kind == Kind::kFace) return faced(*known);
    if (node.kind == Kind::kSign && node.face == Face::kItalic) node.face = m_face;
    if (name == u"dots") {  // between signs of operations they stand in the middle
      const FormulaCommand* behind = formulaCommand(peek().remove(u'\\'));
      if (behind != nullptr && (behind->node.atom == Atom::kBinary || behind->node.atom == Atom::kRelation))
        node.text = QStringLiteral("⋯");
    }
    if (node.kind == Kind::kBigFence) expect(!(node.text = fenceSign(next())).isEmpty());
    if (known->reads == Reads::kWords) {
      const QString read = words(node.atom == Atom::kOperator);
      if (node.kind == Kind::kSign) node.text = read;
      return node;
    }
    FormulaNode optional = known->reads == Reads::kOption ? option() : FormulaNode();
    for (int i = 0; i < known->arguments; ++i) node.parts.push_back(argument());
    if (known->reads == Reads::kOption) node.parts.push_back(std::move(optional));
    return node;
  }

  FormulaNode faced(const FormulaCommand& known) {
    const Face before = std::exchange(m_face, known.node.face);
    if (known.arguments == 0) return {.kind = Kind::kSpace};  // the group's end sets it back
    FormulaNode node = argument();
    m_face = before;
    return node;
  }

  FormulaNode negated() {
    FormulaNode node = unit();
    node.text = (node.text + QChar(0x338)).normalized(QString::NormalizationForm_C);
    expect(node.kind == Kind::kSign && node.text.size() == 1);
    return node;
  }

  FormulaNode modulus() {
    return {.parts = {{.kind = Kind::kSpace, .em = 0.6},
                      {.kind = Kind::kSign, .atom = Atom::kOpen, .text = "("},
                      {.kind = Kind::kSign, .face = Face::kUpright, .text = "mod"},
                      {.kind = Kind::kSpace, .em = 1 / 3.0},
                      argument(),
                      {.kind = Kind::kSign, .atom = Atom::kClose, .text = ")"}}};
  }

  // {…} as it is written, with its spaces; those of a name are dropped, as TeX does.
  QString words(bool isName) {
    QString text;
    expect(take("{"));
    for (int depth = 1; m_at < m_text.size(); ++m_at) {
      QChar c = m_text[m_at];
      if (c == u'}' && --depth == 0) break;
      depth += c == u'{' ? 1 : 0;
      const bool escaped = c == u'\\' && ++m_at < m_text.size();
      if (escaped) c = m_text[m_at];
      if (c == u'$' && !escaped)
        fail();
      else if (c == u'~' || c.isSpace() || (escaped && (c == u',' || c == u';')))
        text += escaped ? QChar(0x2009) : isName || text.endsWith(u' ') ? QString() : QStringLiteral(" ");
      else if (escaped ? QStringLiteral("%$#&_{}").contains(c) : c != u'{' && c != u'}')
        text += c;
      else
        expect(!escaped);
    }
    expect(m_at++ < m_text.size());
    return text;
  }

  FormulaNode fence() {
    FormulaNode node{.kind = Kind::kFence, .atom = Atom::kInner};
    for (bool open = true; open;) {
      const QString sign = fenceSign(next());
      expect(!sign.isEmpty());
      node.fences += sign;
      node.parts.push_back(row());
      open = take("\\middle");
    }
    expect(take("\\right"));
    node.fences += fenceSign(next());
    expect(static_cast<std::size_t>(node.fences.size()) == node.parts.size() + 1);
    return node;
  }

  FormulaNode environment() {
    const QString name = words(false);
    const FormulaCommand* known = formulaCommand(QStringLiteral("begin-") + name);
    if (known == nullptr) return fail();
    FormulaNode node = known->node;
    if (node.text == u"?") node.text = words(true);
    expect(node.text.size() <= kMostColumns && node.text.count(u'|') < node.text.size());
    for (const QChar column : node.text) expect(QStringLiteral("lcr|").contains(column));
    node = table(std::move(node), QStringLiteral("\\end"));
    expect(words(false) == name);
    return node;
  }

  // Rows of cells up to `end`, which is taken.
  FormulaNode table(FormulaNode node, const QString& end) {
    if (++m_depth > kDeepestFormula) return fail();
    for (bool more = true; more;) {
      FormulaNode cells;
      do cells.parts.push_back(row());
      while (take("&"));
      expect(static_cast<qsizetype>(cells.parts.size()) <= kMostColumns && (!end.isEmpty() || cells.parts.size() == 1));
      const QString token = next();
      more = token == u"\\\\" || token == u"\\cr";
      expect(more || token == end);
      if (more && peek() == u"[") option();
      const bool last = !more && !node.parts.empty() && cells.parts.size() == 1 && cells.parts[0].isEmpty();
      if (!last) node.parts.push_back(std::move(cells));
    }
    --m_depth;
    return node;
  }

  QStringView m_text;
  qsizetype m_at = 0;
  int m_depth = 0;
  int m_optionDepth = -1;  // at which a ] ends the row
  bool m_failed = false;
  Face m_face = Face::kItalic;
};

}  // namespace

bool isDisplayFormula(QStringView source) { return source.startsWith(u"$$") || source.startsWith(u"\\[") || source.startsWith(u"\\begin"); }

std::optional<FormulaNode> parseFormula(QStringView source) {
  const qsizetype mark = source.startsWith(u"\\begin") ? 0 : source.startsWith(u"$") && !source.startsWith(u"$$") ? 1 : 2;
  if (source.size() <= 2 * mark || source.size() > kLongestFormula) return std::nullopt;
  return Parsing(source.mid(mark, source.size() - 2 * mark)).run();
}

}  // namespace winnow::ui
