#include "ui/chat_view/formula/formula_commands.h"

#include <QFile>
#include <QHash>
#include <QStringList>

// Resources of a static library are there once this has run.
static void openCommands() { Q_INIT_RESOURCE(formulas); }

namespace winnow::ui {
namespace {

using Kind = FormulaNode::Kind;

// The number of a name among those of an enum's values.
template <typename Enum>
void read(const QString& name, const char* names, int first, Enum& value) {
  const qsizetype number = QString::fromLatin1(names).split(u' ').indexOf(name);
  Q_ASSERT(number >= 0);
  value = static_cast<Enum>(first + number);
}

void setProperty(FormulaCommand& command, const QString& key, const QString& value) {
  FormulaNode& node = command.node;
  if (key == u"atom") read(value, "ordinary operator binary relation open close punctuation inner", 0, node.atom);
  if (key == u"face") read(value, "italic upright bold bolditalic doublestruck script fraktur sans mono", 1, node.face);
  if (key == u"limits") read(value, "beside display always", 1, node.limits);
  if (key == u"style") read(value, "display text script scriptscript", 1, node.style);
  if (key == u"reads") read(value, "formulas option words", 1, command.reads);
  if (key == u"text") node.text = value;
  if (key == u"fences") node.fences = value;
  if (key == u"em") node.em = value.toDouble();
  if (key == u"arguments") command.arguments = value.toInt();
  if (key == u"large") node.large = true;
}

struct CommandTable {
  QHash<QString, FormulaCommand> commands;
  QHash<QString, FormulaNode> signs;

  CommandTable() {
    openCommands();
    QFile file(QStringLiteral(":/formulas/commands.txt"));
    const bool opened = file.open(QIODevice::ReadOnly);
    Q_ASSERT(opened);
    for (const QString& line : QString::fromUtf8(file.readAll()).split(u'\n')) {
      if (const qsizetype colon = line.indexOf(u" : "); colon > 0 && !line.startsWith(u'#'))
        add(line.left(colon).split(u' '), line.mid(colon + 3).split(u' '));
    }
    for (const char* sign : {",", ";"}) signs.insert(sign, {.kind = Kind::kSign, .atom = Atom::kPunctuation, .text = sign});
    for (const char* sign : {"]", "!"}) signs.insert(sign, {.kind = Kind::kSign, .atom = Atom::kClose, .text = sign});
    for (const char* taken : {"\\", "%", "$", "#", "&", "_", "{", "}"}) signs.remove(taken);
    for (const char* ascii : {"-", "*"}) signs.insert(ascii, commands[ascii].node);
  }

  void add(const QStringList& properties, const QStringList& names) {
    FormulaCommand command;
    read(properties[0], "row sign scripts fraction root fence bigfence accent stacked arrow array boxed space face style", 1,
         command.node.kind);
    for (const QString& property : properties.mid(1)) setProperty(command, property.section(u'=', 0, 0), property.section(u'=', 1));
    const bool pairs = properties.contains(u"pairs");
    for (qsizetype i = 0; i < names.size(); i += pairs ? 2 : 1) {
      if (pairs) command.node.text = QString(names[i + 1]).replace(u'~', QChar(0x2009));
      if (properties.contains(u"named")) command.node.text = names[i];
      commands.insert(names[i], command);
      if (command.node.kind == Kind::kSign && pairs && !signs.contains(command.node.text)) signs.insert(command.node.text, command.node);
    }
  }
};

const CommandTable& commandTable() {
  static const CommandTable table;
  return table;
}

}  // namespace

const FormulaCommand* formulaCommand(const QString& name) {
  const auto found = commandTable().commands.constFind(name);
  return found == commandTable().commands.constEnd() ? nullptr : &*found;
}

bool formulaSign(const QString& sign, FormulaNode& node) {
  if (sign.isEmpty()) return false;
  node = commandTable().signs.value(sign, {.kind = Kind::kSign, .text = sign});
  const char32_t c = sign.toUcs4().front();
  return commandTable().signs.contains(sign) || QChar::isDigit(c) || (QChar::isLetter(c) && QChar::direction(c) == QChar::DirL);
}

QString fenceSign(const QString& token) {
  FormulaNode node;
  const FormulaCommand* command = token.startsWith(u'\\') ? formulaCommand(token.mid(1)) : nullptr;
  if (command != nullptr)
    node = command->node;
  else if (!formulaSign(token, node))
    return {};
  if (node.text == u"<") return QStringLiteral("⟨");
  if (node.text == u">") return QStringLiteral("⟩");
  return node.text.size() == 1 && QStringLiteral("()[]{}|‖⟨⟩⌊⌋⌈⌉/\\.").contains(node.text) ? node.text : QString();
}

}  // namespace winnow::ui
