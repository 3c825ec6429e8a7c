#include "ui/chat_view/formula/formula_layout.h"

#include <algorithm>
#include <utility>

#include "ui/chat_view/formula/formula_font.h"
#include "ui/chat_view/formula/formula_parser.h"

namespace winnow::ui {
namespace {

using Kind = FormulaNode::Kind;

constexpr int kNothing = -1;  // instead of an atom's class

struct Setting {
  MathStyle style = MathStyle::kText;
  bool cramped = false;  // superscripts stand lower

  bool display() const { return style == MathStyle::kDisplay; }
  bool inScript() const { return style >= MathStyle::kScript; }
  qreal size() const { return style == MathStyle::kScriptScript ? 0.5 : style == MathStyle::kScript ? 0.7 : 1.0; }
  Setting script(bool crampedToo) const { return {inScript() ? MathStyle::kScriptScript : MathStyle::kScript, cramped || crampedToo}; }
  Setting part() const { return {display() ? MathStyle::kText : script(false).style, cramped}; }  // of a fraction
};

// Spaces between atoms in eighteenths of an em, by the left one's class and then the right one's; negative: not in scripts.
constexpr int kSpaces[8][8] = {{0, 3, -4, -5, 0, 0, 0, -3},     {3, 3, 0, -5, 0, 0, 0, -3},    {-4, -4, 0, 0, -4, 0, 0, -4},
                               {-5, -5, 0, 0, -5, 0, 0, -5},    {0, 0, 0, 0, 0, 0, 0, 0},      {0, 3, -4, -5, 0, 0, 0, -3},
                               {-3, -3, 0, -3, -3, -3, -3, -3}, {-3, 3, -4, -5, -3, 0, -3, -3}};

Atom atomOf(const FormulaNode& node) {
  if (node.kind == Kind::kScripts) return atomOf(node.parts[0]);
  return node.kind == Kind::kStacked && node.atom == Atom::kOrdinary ? atomOf(node.parts[1]) : node.atom;
}

FormulaBox shifted(FormulaBox box, qreal up) {
  FormulaBox moved{.width = box.width, .ascent = box.ascent + up, .descent = box.descent - up, .italic = box.italic};
  moved.take(std::move(box), 0, -up);
  return moved;
}

// Scripts above and below, in the middle of the widest.
FormulaBox stack(FormulaBox base, FormulaBox below, FormulaBox above, qreal em) {
  FormulaBox box{.width = std::max({base.width, below.width, above.width})};
  const qreal middle = box.width / 2, lean = base.italic / 2;
  const qreal rise = base.ascent + above.descent + std::max(0.111 * em, 0.2 * em - above.descent);
  const qreal drop = base.descent + below.ascent + std::max(0.167 * em, 0.6 * em - below.ascent);
  const qreal at[] = {middle - base.width / 2, middle - above.width / 2 + lean, middle - below.width / 2 - lean};
  box.take(std::move(base), at[0]);
  if (!above.pieces.empty()) box.take(std::move(above), at[1], -rise);
  if (!below.pieces.empty()) box.take(std::move(below), at[2], drop);
  return box;
}

class Setter {
 public:
  explicit Setter(const QFont& text) : m_font(text) {}

  std::optional<FormulaBox> run(const FormulaNode& root, MathStyle style) {
    FormulaBox box = set(root, {style});
    return m_failed || box.width <= 0 ? std::nullopt : std::optional(std::move(box));
  }

 private:
  qreal em(const Setting& s) const { return m_font.em() * s.size(); }
  qreal axis(const Setting& s) const { return m_font.axis() * em(s); }
  qreal rule(const Setting& s) const { return std::max(m_font.rule() * em(s), m_font.em() * 0.03); }
  qreal xHeight(const Setting& s) const { return m_font.xHeight() * em(s); }

  FormulaBox set(const FormulaNode& node, const Setting& s) {
    using How = FormulaBox (Setter::*)(const FormulaNode&, const Setting&);
    static constexpr How kHow[] = {&Setter::row,    &Setter::sign,   &Setter::scripts, &Setter::fraction, &Setter::root,  &Setter::fence,
                                   &Setter::big,    &Setter::accent, &Setter::stacked, &Setter::arrow,    &Setter::array, &Setter::boxed,
                                   &Setter::single, &Setter::single, &Setter::single};  // in the order of Kind
    return (this->*kHow[static_cast<int>(node.kind) - 1])(node, s);
  }

  FormulaBox sign(const FormulaNode& node, const Setting& s) {
    std::optional<FormulaBox> box = m_font.sign(node.text, node.face, s.size());
    m_failed = m_failed || !box;
    if (!box) return {};
    if (node.text == u"′") return shifted(*m_font.sign(node.text, node.face, s.size() * 1.3), -0.4 * em(s));
    if (!node.large) return *box;
    const qreal wanted = (node.limits == Limits::kBeside ? (s.display() ? 2.0 : 1.2) : (s.display() ? 1.4 : 1.0)) * em(s);
    box = m_font.sign(node.text, node.face, s.size() * wanted / (box->ascent + box->descent));
    if (box && node.limits == Limits::kBeside) box->italic = 0.12 * wanted;
    return shifted(*box, axis(s) - (box->ascent - box->descent) / 2);
  }

  FormulaBox row(const FormulaNode& node, const Setting& s) { return row(node, s, kNothing); }

  // A space without a row around it.
  FormulaBox single(const FormulaNode& node, const Setting& s) { return {.width = node.em * em(s)}; }

  // first: the class of what stands before it.
  FormulaBox row(const FormulaNode& node, Setting s, int first) {
    FormulaBox box;
    std::vector<Atom> atoms;
    for (const FormulaNode& part : node.parts) atoms.push_back(atomOf(part));
    int before = first;
    std::size_t last = 0;
    const auto counts = [&](std::size_t i) { return node.parts[i].kind != Kind::kSpace && node.parts[i].kind != Kind::kStyle; };
    for (std::size_t i = 0; i < atoms.size(); ++i) {  // a sign between nothing is no operation
      if (!counts(i)) continue;
      const auto is = [&](std::initializer_list<Atom> these) {
        return std::count(these.begin(), these.end(), static_cast<Atom>(before)) > 0;
      };
      if (atoms[i] == Atom::kBinary &&
          (before < 0 || is({Atom::kBinary, Atom::kOperator, Atom::kRelation, Atom::kOpen, Atom::kPunctuation})))
        atoms[i] = Atom::kOrdinary;
      const bool closes = atoms[i] == Atom::kRelation || atoms[i] == Atom::kClose || atoms[i] == Atom::kPunctuation;
      if (closes && is({Atom::kBinary})) atoms[last] = Atom::kOrdinary;
      before = static_cast<int>(atoms[i]);
      last = i;
    }
    before = first;
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      const FormulaNode& part = node.parts[i];
      if (part.kind == Kind::kSpace) box.width += part.em * em(s);
      if (part.kind == Kind::kStyle) s.style = part.style;
      if (!counts(i)) continue;
      const int space = before < 0 ? 0 : kSpaces[before][static_cast<int>(atoms[i])];
      box.width += (space < 0 && s.inScript() ? 0 : std::abs(space)) / 18.0 * em(s);
      before = static_cast<int>(atoms[i]);
      FormulaBox next = set(part, s);
      box.italic = next.italic;
      const qreal width = next.width;
      box.take(std::move(next), std::exchange(box.width, box.width + width));
    }
    return box;
  }

  FormulaBox scripts(const FormulaNode& node, const Setting& s) {
    const FormulaNode& base = node.parts[0];
    const Setting small = s.script(false);
    FormulaBox box = set(base, s), below = set(node.parts[1], s.script(true)), above = set(node.parts[2], small);
    if (node.limits == Limits::kAlways || (node.limits == Limits::kInDisplay && s.display()))
      return stack(std::move(box), std::move(below), std::move(above), em(s));
    const bool isSign = base.kind == Kind::kSign && !base.large;
    const qreal x = xHeight(s), width = box.width, italic = box.italic, space = 0.05 * m_font.em();
    const bool has[] = {!node.parts[1].isEmpty(), !node.parts[2].isEmpty()};
    qreal up = isSign ? 0.0 : box.ascent - 0.386 * em(small), down = isSign ? 0.0 : box.descent + 0.05 * em(small);
    up = std::max({up, (s.cramped ? 0.67 : s.display() ? 0.96 : 0.84) * x, above.descent + x / 4});
    down = std::max(down, (has[1] ? 0.57 : 0.35) * x);
    if (!has[1]) down = std::max(down, below.ascent - x * 0.8);
    if (has[0] && has[1]) {
      down += std::max(0.0, 4 * rule(s) - ((up - above.descent) - (below.ascent - down)));
      const qreal lift = std::max(0.0, x * 0.8 - (up - above.descent));
      up += lift;
      down -= lift;
    }
    if (has[0]) box.width = std::max(box.width, width - italic + below.width + space);
    if (has[1]) box.width = std::max(box.width, width + above.width + space);
    if (has[0]) box.take(std::move(below), width - italic, down);
    if (has[1]) box.take(std::move(above), width, -up);
    box.italic = 0.0;
    return box;
  }

  FormulaBox stacked(const FormulaNode& node, const Setting& s) {
    FormulaBox script = set(node.parts[0], s.script(false)), base = set(node.parts[1], s);
    return node.text == u"over" ? stack(std::move(base), {}, std::move(script), em(s))
                                : stack(std::move(base), std::move(script), {}, em(s));
  }

  FormulaBox arrow(const FormulaNode& node, const Setting& s) {
    FormulaBox above = set(node.parts[0], s.script(false)), below = set(node.parts[1], s.script(true));
    const qreal width = std::max(above.width, below.width) + em(s);
    FormulaBox line = accentBox(node.text, width, em(s), rule(s));
    line.width = width;
    return stack(shifted(std::move(line), axis(s) - 0.1 * em(s)), std::move(below), std::move(above), em(s));
  }

  FormulaBox fraction(const FormulaNode& node, const Setting& outer) {
    const Setting s{node.style == MathStyle::kInherited ? outer.style : node.style, outer.cramped};
    Setting lower = s.part();
    lower.cramped = true;
    FormulaBox top = set(node.parts[0], s.part()), bottom = set(node.parts[1], lower), box;
    const bool bar = node.em > 0;
    const qreal line = bar ? rule(s) : 0.0, gap = (bar ? (s.display() ? 3.0 : 1.5) : (s.display() ? 7.0 : 3.0)) * rule(s);
    const qreal up = std::max((s.display() ? 0.677 : bar ? 0.394 : 0.444) * em(s), axis(s) + line / 2 + gap + top.descent);
    const qreal down = std::max((s.display() ? 0.686 : 0.345) * em(s), bottom.ascent + gap + line / 2 - axis(s));
    const qreal side = node.fences.isEmpty() ? 0.12 * m_font.em() : 0.0;
    const qreal width = std::max(top.width, bottom.width), middle = side + width / 2;
    box.width = width + 2 * side;
    const qreal at[] = {middle - top.width / 2, middle - bottom.width / 2};
    box.take(std::move(top), at[0], -up);
    box.take(std::move(bottom), at[1], down);
    if (bar) box.take(ruleBox(QRectF(side, -axis(s) - line / 2, width, line)), 0);
    return fenced(node.fences, {std::move(box)}, s);
  }

  FormulaBox root(const FormulaNode& node, const Setting& s) {
    FormulaBox body = set(node.parts[0], {s.style, true}), degree = set(node.parts[1], {MathStyle::kScriptScript, false}), box;
    const qreal line = rule(s), gap = line + (s.display() ? xHeight(s) : line) / 4;
    const qreal rise = std::max(body.ascent, 0.6 * em(s)) + gap + line, height = rise + body.descent + line;
    FormulaBox surd = drawnOut(u'√', height, s);
    const qreal hook = std::max(0.0, degree.width - 0.3 * em(s)), inner = hook + surd.width, width = body.width + 0.05 * em(s);
    const qreal bottom = height - rise, lift = 0.55 * height - bottom + degree.descent;
    box.take(std::move(degree), hook > 0 ? 0.0 : 0.3 * em(s) - degree.width, -lift);
    box.take(std::move(surd), hook, bottom);
    box.take(std::move(body), inner);
    box.take(ruleBox(QRectF(inner - line / 2, -rise, width + line / 2, line)), 0);
    box.ascent += line;
    box.width = inner + width;
    return box;
  }

  FormulaBox drawnOut(QChar sign, qreal height, const Setting& s) {
    m_failed = m_failed || !m_font.sign(QString(sign), Face::kUpright, 1.0);
    return outlineBox(m_font.drawnOut(sign, height, s.size()));
  }

  FormulaBox bracket(QChar sign, qreal height, const Setting& s) {
    if (sign == u'.') return {.width = 0.12 * m_font.em()};
    const std::optional<FormulaBox> plain = m_font.sign(QString(sign), Face::kUpright, s.size());
    if (plain && plain->ascent + plain->descent >= height * 0.92) return *plain;
    FormulaBox box = drawnOut(sign, height, s);
    box.width += box.pieces[0].outline.boundingRect().left();  // as far from what is on its other side
    return shifted(std::move(box), axis(s) - height / 2);
  }

  FormulaBox big(const FormulaNode& node, const Setting& s) { return bracket(node.text[0], node.em * em(s), s); }

  FormulaBox fence(const FormulaNode& node, const Setting& s) {
    std::vector<FormulaBox> bodies;
    for (const FormulaNode& part : node.parts) bodies.push_back(set(part, s));
    return fenced(node.fences, std::move(bodies), s);
  }

  FormulaBox fenced(const QString& fences, std::vector<FormulaBox> bodies, const Setting& s) {
    if (fences.isEmpty()) return std::move(bodies[0]);
    qreal reach = 0.0;
    for (const FormulaBox& body : bodies) reach = std::max({reach, body.ascent - axis(s), body.descent + axis(s)});
    FormulaBox box;
    const auto add = [&box](FormulaBox next) {
      const qreal width = next.width;
      box.take(std::move(next), std::exchange(box.width, box.width + width));
    };
    for (std::size_t i = 0; i <= bodies.size(); ++i) {
      add(bracket(fences[static_cast<qsizetype>(i)], std::max(1.802 * reach, 2 * reach - 0.5 * m_font.em()), s));
      if (i < bodies.size()) add(std::move(bodies[i]));
    }
    return box;
  }

  FormulaBox accent(const FormulaNode& node, const Setting& s) {
    FormulaBox box = set(node.parts[0], {s.style, true}), mark;
    const bool under = node.text.startsWith(u"under"), wide = under || node.text.startsWith(u"over") || node.text.startsWith(u"wide");
    const bool leans = node.parts[0].kind == Kind::kSign && node.parts[0].face == Face::kItalic;
    const qreal width = wide ? std::max(box.width, 0.4 * em(s)) : 0.42 * em(s), gap = (wide ? 3.0 : 2.0) * rule(s);
    if (node.text.size() == 1)
      mark = sign({.kind = Kind::kSign, .face = Face::kUpright, .text = node.text}, s);
    else if (node.text.endsWith(u"brace"))
      mark = outlineBox(QTransform(0, under ? -1 : 1, -1, 0, 0, 0).map(m_font.drawnOut(u'{', width, s.size() * 0.8)));
    else
      mark = accentBox(node.text, width, em(s), rule(s));
    const qreal middle = (box.width - (wide ? 0.0 : box.italic)) / 2 + (leans && !wide ? 0.25 * (box.ascent - xHeight(s) / 2) : 0.0);
    const qreal y = under ? box.descent + gap + mark.ascent : -box.ascent - gap - mark.descent;
    box.width = std::max(box.width, wide ? width : 0.0);
    const qreal at = middle - (node.text.size() == 1 ? mark.width : width) / 2;
    box.take(std::move(mark), std::max(0.0, at), y);
    return box;
  }

  FormulaBox boxed(const FormulaNode& node, const Setting& s) {
    FormulaBox body = set(node.parts[0], s), box;
    const qreal pad = 0.3 * em(s), line = rule(s);
    const QRectF frame(0, -body.ascent - pad, body.width + 2 * pad, body.ascent + body.descent + 2 * pad);
    for (const QRectF& side :
         {QRectF(frame.topLeft(), QSizeF(frame.width(), line)), QRectF(0, frame.bottom() - line, frame.width(), line),
          QRectF(frame.topLeft(), QSizeF(line, frame.height())), QRectF(frame.right() - line, frame.top(), line, frame.height())})
      box.take(ruleBox(side), 0);
    box.take(std::move(body), pad);
    box.width = frame.width();
    return box;
  }

  FormulaBox array(const FormulaNode& node, const Setting& outer) {
    const Setting s{node.style, outer.cramped};
    const QString columns = QString(node.text).remove(u'|');
    const bool pairs = columns == u"rl";  // two and two belong together
    const qreal strut = (s.inScript() ? 0.8 : 1.2) * em(s), between = (s.display() ? 0.3 : 0.12) * em(s), gap = node.em * em(s);
    std::vector<FormulaBox> lines;  // each as high as its row
    std::vector<std::vector<FormulaBox>> cells;
    std::vector<qreal> widths, lefts;
    qreal height = -between;
    for (const FormulaNode& line : node.parts) {
      lines.push_back({.ascent = 0.7 * strut, .descent = 0.3 * strut});
      cells.emplace_back();
      for (std::size_t i = 0; i < line.parts.size(); ++i) {
        cells.back().push_back(row(line.parts[i], s, pairs && i % 2 == 1 ? static_cast<int>(Atom::kOrdinary) : kNothing));
        lines.back().ascent = std::max(lines.back().ascent, cells.back()[i].ascent);
        lines.back().descent = std::max(lines.back().descent, cells.back()[i].descent);
        if (widths.size() == i) widths.push_back(0.0);
        widths[i] = std::max(widths[i], cells.back()[i].width);
      }
      height += lines.back().ascent + lines.back().descent + between;
    }
    qreal y = -axis(outer) - height / 2;
    FormulaBox box{.ascent = -y, .descent = height + y};
    for (std::size_t i = 0; i < widths.size(); ++i) {
      lefts.push_back(box.width += i == 0 || (pairs && i % 2 == 1) ? 0.0 : gap);
      box.width += widths[i];
    }
    for (std::size_t r = 0; r < lines.size(); ++r) {
      y += lines[r].ascent;
      for (std::size_t i = 0; i < cells[r].size(); ++i) {
        const QChar how = columns[static_cast<qsizetype>(i) % columns.size()];
        const qreal free = widths[i] - cells[r][i].width;
        box.take(std::move(cells[r][i]), lefts[i] + (how == u'l' ? 0.0 : how == u'r' ? free : free / 2), y);
      }
      y += lines[r].descent + between;
    }
    std::size_t column = 0;
    for (const QChar how : node.text) {
      const qreal x = column < lefts.size() ? lefts[column] - (column > 0 ? gap / 2 : 0.0) : box.width;
      if (how == u'|')
        box.take(ruleBox(QRectF(x, -box.ascent, rule(s), box.ascent + box.descent)), 0);
      else
        ++column;
    }
    return fenced(node.fences, {std::move(box)}, outer);
  }

  FormulaFont m_font;
  bool m_failed = false;
};

}  // namespace

std::optional<FormulaBox> setFormula(QStringView source, const QFont& text) {
  const std::optional<FormulaNode> root = parseFormula(source);
  if (!root) return std::nullopt;
  return Setter(text).run(*root, isDisplayFormula(source) ? MathStyle::kDisplay : MathStyle::kText);
}

}  // namespace winnow::ui
