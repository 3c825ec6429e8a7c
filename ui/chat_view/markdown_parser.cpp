#include "ui/chat_view/markdown_parser.h"

#include <md4c.h>

#include <algorithm>
#include <utility>

#include "app/words/display_text.h"
#include "ui/chat_view/formula_mask.h"

namespace winnow::ui {
namespace {

// md4c looks for partners of these; runs of thousands make it quadratic and never mean anything to a reader.
constexpr int kMaxMarkupCharacters = 2500;
constexpr int kMaxBlocksPerSource = 4000;

bool tooDense(QStringView source) {
  int count = 0;
  for (const QChar c : source) {
    switch (c.unicode()) {
      case u'[':
      case u']':
      case u'*':
      case u'_':
      case u'`':
      case u'~':
      case u'<':
      case u'&':
      case u'>': ++count; break;
      default: break;
    }
  }
  return count > kMaxMarkupCharacters;
}

QString entityText(QStringView entity) {
  static const std::pair<const char*, char16_t> kNamed[] = {
      {"&amp;", u'&'},     {"&lt;", u'<'},      {"&gt;", u'>'},       {"&quot;", u'"'},    {"&apos;", u'\''}, {"&nbsp;", 0x00a0},
      {"&ndash;", 0x2013}, {"&mdash;", 0x2014}, {"&hellip;", 0x2026}, {"&times;", 0x00d7}, {"&deg;", 0x00b0}};
  for (const auto& [name, character] : kNamed) {
    if (entity == QLatin1String(name)) return QString(QChar(character));
  }
  if (entity.startsWith(QLatin1String("&#")) && entity.endsWith(QLatin1Char(';'))) {
    QStringView digits = entity.mid(2, entity.size() - 3);
    const bool hex = !digits.isEmpty() && digits[0].toLower() == QLatin1Char('x');
    if (hex) digits = digits.mid(1);
    bool ok = false;
    const uint code = digits.toUInt(&ok, hex ? 16 : 10);
    if (ok && code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)) {
      const char32_t character = code;
      return QString::fromUcs4(&character, 1);
    }
  }
  return entity.toString();
}

struct ListState {
  bool ordered = false;
  unsigned next = 1;
};

class Builder {
 public:
  explicit Builder(std::vector<QString> formulas) : m_formulas(std::move(formulas)) {}

  std::vector<Block> take() {
    closeBlock();
    return std::move(m_blocks);
  }

  int enterBlock(MD_BLOCKTYPE type, void* detail) {
    if (m_blocks.size() > kMaxBlocksPerSource) return 1;
    switch (type) {
      case MD_BLOCK_QUOTE:
        closeBlock();
        ++m_quoteDepth;
        break;
      case MD_BLOCK_UL:
      case MD_BLOCK_OL:
        closeBlock();
        m_lists.push_back({type == MD_BLOCK_OL, type == MD_BLOCK_OL ? static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start : 1});
        break;
      case MD_BLOCK_LI: {
        closeBlock();
        const auto* item = static_cast<MD_BLOCK_LI_DETAIL*>(detail);
        ListState& list = m_lists.back();
        if (item->is_task) {
          m_marker = QString(QChar(item->task_mark == ' ' ? 0x2610 : 0x2611));
        } else if (list.ordered) {
          m_marker = QStringLiteral("%1.").arg(list.next++);
        } else {
          m_marker = QString(QChar(m_lists.size() % 2 == 1 ? 0x2022 : 0x25e6));
        }
        open(BlockKind::kParagraph);
        break;
      }
      case MD_BLOCK_HR:
        closeBlock();
        open(BlockKind::kRule);
        closeBlock();
        break;
      case MD_BLOCK_H:
        closeBlock();
        open(BlockKind::kHeading);
        m_current.headingLevel = static_cast<int>(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level);
        break;
      case MD_BLOCK_CODE:
        closeBlock();
        open(BlockKind::kCode);
        m_current.language = attribute(static_cast<MD_BLOCK_CODE_DETAIL*>(detail)->lang);
        break;
      case MD_BLOCK_P:
        if (!(m_open && m_current.runs.empty() && m_current.kind == BlockKind::kParagraph)) {
          closeBlock();
          open(BlockKind::kParagraph);
        }
        break;
      case MD_BLOCK_TABLE:
        closeBlock();
        open(BlockKind::kTable);
        break;
      case MD_BLOCK_TR: m_current.rows.emplace_back(); break;
      case MD_BLOCK_TH:
      case MD_BLOCK_TD: {
        TableCell cell{.header = type == MD_BLOCK_TH};
        const MD_ALIGN align = static_cast<MD_BLOCK_TD_DETAIL*>(detail)->align;
        cell.alignment = align == MD_ALIGN_CENTER ? Qt::AlignHCenter : align == MD_ALIGN_RIGHT ? Qt::AlignRight : Qt::AlignLeft;
        if (!m_current.rows.empty()) m_current.rows.back().push_back(cell);
        break;
      }
      default: break;
    }
    return 0;
  }

  int leaveBlock(MD_BLOCKTYPE type) {
    switch (type) {
      case MD_BLOCK_QUOTE:
        closeBlock();
        --m_quoteDepth;
        break;
      case MD_BLOCK_UL:
      case MD_BLOCK_OL:
        closeBlock();
        m_lists.pop_back();
        break;
      case MD_BLOCK_LI:
      case MD_BLOCK_H:
      case MD_BLOCK_P:
      case MD_BLOCK_CODE:
      case MD_BLOCK_TABLE: closeBlock(); break;
      default: break;
    }
    return 0;
  }

  int enterSpan(MD_SPANTYPE type, void* detail) {
    switch (type) {
      case MD_SPAN_STRONG: ++m_strong; break;
      case MD_SPAN_EM: ++m_emphasis; break;
      case MD_SPAN_CODE: ++m_code; break;
      case MD_SPAN_DEL: ++m_strike; break;
      case MD_SPAN_A: {
        m_address = attribute(static_cast<MD_SPAN_A_DETAIL*>(detail)->href);
        m_href = allowedLink(m_address).isValid() ? m_address : QString();
        m_linkText.clear();
        break;
      }
      case MD_SPAN_IMG: {
        m_image = attribute(static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src);
        ++m_muted;
        append(QStringLiteral("[image: "));
        break;
      }
      default: break;
    }
    return 0;
  }

  int leaveSpan(MD_SPANTYPE type) {
    switch (type) {
      case MD_SPAN_STRONG: --m_strong; break;
      case MD_SPAN_EM: --m_emphasis; break;
      case MD_SPAN_CODE: --m_code; break;
      case MD_SPAN_DEL: --m_strike; break;
      case MD_SPAN_A: {
        // The address is always visible: what is clicked is what was read.
        const QString shown = app::displayText(m_address);
        const QString href = std::exchange(m_href, QString());
        const bool same = m_linkText == shown || QStringLiteral("mailto:") + m_linkText == shown;
        if (!same && !shown.isEmpty()) {
          ++m_muted;
          append(QStringLiteral(" (") + shown + QLatin1Char(')'));
          --m_muted;
        }
        m_address.clear();
        break;
      }
      case MD_SPAN_IMG:
        append((m_image.isEmpty() ? QString() : QStringLiteral(" ") + app::displayText(m_image)) + QLatin1Char(']'));
        --m_muted;
        break;
      default: break;
    }
    return 0;
  }

  int text(MD_TEXTTYPE type, QStringView text) {
    switch (type) {
      case MD_TEXT_NULLCHAR: append(QString(QChar(QChar::ReplacementCharacter))); break;
      case MD_TEXT_BR:
      case MD_TEXT_SOFTBR: append(QString(QChar(QChar::LineSeparator))); break;
      case MD_TEXT_ENTITY: append(app::displayText(entityText(text))); break;
      default:
        for (const UnmaskedPart& part : unmask(text, m_formulas)) {
          if (m_open && m_current.kind == BlockKind::kCode) {
            m_current.code += app::displayText(part.text);
          } else {
            appendPart(part);
          }
        }
        break;
    }
    return 0;
  }

 private:
  QString attribute(const MD_ATTRIBUTE& value) const {
    QString text;
    for (const UnmaskedPart& part : unmask(QString::fromUtf8(value.text, static_cast<qsizetype>(value.size)), m_formulas))
      text += part.text;
    return text;
  }

  void appendPart(const UnmaskedPart& part) {
    m_formula = part.formula;
    append(app::displayText(part.text).replace(QLatin1Char('\n'), QChar(QChar::LineSeparator)));
    m_formula = false;
  }

  void open(BlockKind kind) {
    m_current = Block();
    m_current.kind = kind;
    m_current.listDepth = std::min<int>(static_cast<int>(m_lists.size()), kMaxShownDepth);
    m_current.quoteDepth = std::min(m_quoteDepth, kMaxShownDepth);
    m_current.marker = std::exchange(m_marker, QString());
    m_open = true;
  }

  void closeBlock() {
    if (!m_open) return;
    m_open = false;
    const bool empty = m_current.kind == BlockKind::kParagraph && m_current.runs.empty() && m_current.marker.isEmpty();
    // A list item that holds only another list keeps its marker for that list's first line.
    if (!empty) splitAtFormulas(std::move(m_current), m_blocks);
    m_current = Block();
  }

  void append(const QString& text) {
    if (text.isEmpty()) return;
    if (!m_open) open(BlockKind::kParagraph);
    std::vector<TextRun>* runs = &m_current.runs;
    if (m_current.kind == BlockKind::kTable) {
      if (m_current.rows.empty() || m_current.rows.back().empty()) return;
      runs = &m_current.rows.back().back().runs;
    }
    if (!m_address.isEmpty() && m_muted == 0) m_linkText += text;
    TextRun run{text, m_strong > 0, m_emphasis > 0, m_code > 0 || m_formula, m_strike > 0, m_muted > 0, m_href, m_formula};
    if (!runs->empty()) {
      TextRun& last = runs->back();
      if (last.strong == run.strong && last.emphasis == run.emphasis && last.code == run.code && last.strike == run.strike &&
          last.muted == run.muted && last.href == run.href && !last.formula && !run.formula) {
        last.text += text;
        return;
      }
    }
    runs->push_back(std::move(run));
  }

  std::vector<QString> m_formulas;
  std::vector<Block> m_blocks;
  Block m_current;
  bool m_open = false;
  std::vector<ListState> m_lists;
  QString m_marker;
  int m_quoteDepth = 0;
  int m_strong = 0, m_emphasis = 0, m_code = 0, m_strike = 0, m_muted = 0;
  bool m_formula = false;
  QString m_address, m_href, m_image, m_linkText;
};

std::vector<Block> plainBlock(QStringView source) {
  Block block;
  TextRun run{.text = app::displayText(source).replace(QLatin1Char('\n'), QChar(QChar::LineSeparator))};
  block.runs.push_back(std::move(run));
  return {std::move(block)};
}

// Too many cells to lay out: the table is shown as the text that it is made of.
void flattenLargeTables(std::vector<Block>& blocks) {
  for (Block& block : blocks) {
    if (block.kind != BlockKind::kTable) continue;
    std::size_t columns = 0, cells = 0;
    for (const auto& row : block.rows) {
      columns = std::max(columns, row.size());
      cells += row.size();
    }
    if (columns <= kMaxTableColumns && cells <= kMaxTableCells && columns > 0) continue;
    QString text;
    for (const auto& row : block.rows) {
      for (const TableCell& cell : row) {
        for (const TextRun& run : cell.runs) text += run.text;
        text += QStringLiteral(" | ");
      }
      text += QLatin1Char('\n');
    }
    block.kind = BlockKind::kCode;
    block.code = text;
    block.rows.clear();
  }
}

}  // namespace

QUrl allowedLink(const QString& address) {
  const QUrl url(address, QUrl::StrictMode);
  if (!url.isValid()) return {};
  const QString scheme = url.scheme().toLower();
  if (scheme == QLatin1String("mailto")) return url.path().contains(QLatin1Char('@')) ? url : QUrl();
  if (scheme == QLatin1String("http") || scheme == QLatin1String("https")) return url.host().isEmpty() ? QUrl() : url;
  return {};
}

std::vector<Block> parseMarkdown(QStringView source) {
  if (tooDense(source)) return plainBlock(source);
  MaskedText masked = maskFormulas(source);
  const QByteArray utf8 = masked.text.toUtf8();
  MD_PARSER parser = {};
  parser.flags = MD_FLAG_NOHTML | MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS | MD_FLAG_PERMISSIVEURLAUTOLINKS;
  parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* user) { return static_cast<Builder*>(user)->enterBlock(type, detail); };
  parser.leave_block = [](MD_BLOCKTYPE type, void*, void* user) { return static_cast<Builder*>(user)->leaveBlock(type); };
  parser.enter_span = [](MD_SPANTYPE type, void* detail, void* user) { return static_cast<Builder*>(user)->enterSpan(type, detail); };
  parser.leave_span = [](MD_SPANTYPE type, void*, void* user) { return static_cast<Builder*>(user)->leaveSpan(type); };
  parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* user) {
    const QString decoded = QString::fromUtf8(text, static_cast<qsizetype>(size));
    return static_cast<Builder*>(user)->text(type, decoded);
  };
  Builder builder(std::move(masked.formulas));
  if (md_parse(utf8.constData(), static_cast<MD_SIZE>(utf8.size()), &parser, &builder) != 0) return plainBlock(source);
  std::vector<Block> blocks = builder.take();
  flattenLargeTables(blocks);
  return blocks;
}

std::vector<QString> listingsIn(QStringView source) {
  std::vector<QString> listings;
  for (const Block& block : parseMarkdown(source)) {
    if (block.kind == BlockKind::kCode) listings.push_back(block.code);
  }
  return listings;
}

}  // namespace winnow::ui
