#include "app/media/papers/web_text.h"

#include <libxml/HTMLparser.h>

#include <QHash>
#include <QUrl>
#include <QXmlStreamReader>
#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "app/media/papers/office_text.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr std::pair<std::string_view, Mark> kWebMarks[] = {
    {"script", Mark::kSkip},      {"style", Mark::kSkip},   {"noscript", Mark::kSkip},   {"template", Mark::kSkip},
    {"svg", Mark::kSkip},         {"meta", Mark::kSkip},    {"title", Mark::kHeading},   {"h1", Mark::kHeading},
    {"h2", Mark::kHeading},       {"h3", Mark::kHeading},   {"h4", Mark::kHeading},      {"h5", Mark::kHeading},
    {"h6", Mark::kHeading},       {"li", Mark::kItem},      {"tr", Mark::kRow},          {"td", Mark::kCell},
    {"th", Mark::kCell},          {"br", Mark::kBreak},     {"hr", Mark::kBreak},        {"pre", Mark::kKeep},
    {"p", Mark::kBlock},          {"div", Mark::kBlock},    {"section", Mark::kBlock},   {"article", Mark::kBlock},
    {"header", Mark::kBlock},     {"footer", Mark::kBlock}, {"nav", Mark::kBlock},       {"aside", Mark::kBlock},
    {"main", Mark::kBlock},       {"ul", Mark::kBlock},     {"ol", Mark::kBlock},        {"dl", Mark::kBlock},
    {"dt", Mark::kBlock},         {"dd", Mark::kBlock},     {"table", Mark::kBlock},     {"caption", Mark::kBlock},
    {"blockquote", Mark::kBlock}, {"figure", Mark::kBlock}, {"address", Mark::kBlock},   {"body", Mark::kBlock},
    {"form", Mark::kBlock},       {"option", Mark::kBlock}, {"figcaption", Mark::kBlock}};

constexpr std::size_t kDeclaredWithin = 1024;

std::string_view nameOf(const xmlNode& node) {
  return node.name == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(node.name));
}

Mark markOfNode(const xmlNode& node) {
  const auto* const found = std::ranges::find(kWebMarks, nameOf(node), &std::pair<std::string_view, Mark>::first);
  return found == std::end(kWebMarks) ? Mark::kNone : found->second;
}

int levelOf(const xmlNode& node) {
  const std::string_view name = nameOf(node);
  return name.size() == 2 && name[0] == 'h' ? name[1] - '0' : 1;
}

// From node to node without recursion: pages may be nested to any depth.
void walk(xmlNode* node, MarkedText& into) {
  while (node != nullptr && !into.isFull()) {
    const Mark mark = node->type == XML_ELEMENT_NODE ? markOfNode(*node) : Mark::kNone;
    if (node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE)
      into.addWords(QString::fromUtf8(reinterpret_cast<const char*>(node->content)));
    const bool inside = node->type == XML_ELEMENT_NODE && mark != Mark::kSkip && node->children != nullptr;
    if (mark != Mark::kSkip) into.begin(mark, levelOf(*node));
    if (inside) {
      node = node->children;
      continue;
    }
    if (mark != Mark::kSkip) into.end(mark);
    while (node != nullptr && node->next == nullptr) {
      node = node->parent;
      if (node == nullptr || node->type != XML_ELEMENT_NODE) return;
      into.end(markOfNode(*node));
    }
    node = node->next;
  }
}

// In its head: <meta charset="x">, <meta content="text/html; charset=x">.
std::string declaredEncoding(TextBytes bytes) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kDeclaredWithin));
  const std::size_t at = head.find("charset=");
  if (at == head.npos) return {};
  std::string_view name = head.substr(at + 8);
  name.remove_prefix(std::min(name.find_first_not_of("\"' "), name.size()));
  return encodingNamed(name.substr(0, name.find_first_of("\"'/>; \r\n"))).value_or(std::string());
}

// "OEBPS/package.opf" and "text/one%20two.xhtml#part" -> "OEBPS/text/one two.xhtml"
std::string partBeside(const std::string& part, const QString& reference) {
  const QString base = QString::fromStdString(part).section(u'/', 0, -2);
  const QString named = QUrl::fromPercentEncoding(reference.section(u'#', 0, 0).toUtf8());
  QStringList names;
  for (const QString& name : (base + u'/' + named).split(u'/', Qt::SkipEmptyParts)) {
    if (name == u"..") {
      if (!names.isEmpty()) names.removeLast();
    } else if (name != u".") {
      names << name;
    }
  }
  return names.join(u'/').toStdString();
}

template <class Take>
void eachBookElement(Archive& archive, const std::string& part, const Take& take) {
  QXmlStreamReader xml(archive.part(part));
  while (!xml.atEnd()) {
    if (xml.readNext() == QXmlStreamReader::StartElement) take(xml.name(), xml.attributes());
  }
  if (xml.hasError()) refuseXml(archive.path(), part, xml.errorString());
}

}  // namespace

DocumentText readWebPage(TextBytes bytes, const std::string& encoding, const std::string& subject, MarkedText& into) {
  DocumentText page = readText(bytes, encoding.empty() ? declaredEncoding(bytes) : encoding, subject);
  constexpr int kOptions = HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET | HTML_PARSE_COMPACT;
  const std::unique_ptr<xmlDoc, void (*)(xmlDoc*)> tree(
      htmlReadMemory(page.utf8.data(), static_cast<int>(page.utf8.size()), nullptr, "UTF-8", kOptions), xmlFreeDoc);
  page.utf8.clear();
  if (!tree) throw Exception(ErrorCode::kDamagedFile, subject, "no web page can be read in it");
  walk(xmlDocGetRootElement(tree.get()), into);
  into.begin(Mark::kBlock);
  return page;
}

void readBook(Archive& archive, MarkedText& into) {
  std::string package;
  eachBookElement(archive, "META-INF/container.xml", [&](QStringView name, const QXmlStreamAttributes& values) {
    if (name == u"rootfile" && package.empty()) package = values.value(QLatin1String("full-path")).toString().toStdString();
  });
  QHash<QString, QString> places;
  QStringList order;
  eachBookElement(archive, package, [&](QStringView name, const QXmlStreamAttributes& values) {
    if (name == u"item") places[values.value(QLatin1String("id")).toString()] = values.value(QLatin1String("href")).toString();
    if (name == u"itemref") order << values.value(QLatin1String("idref")).toString();
  });
  for (const QString& id : std::as_const(order)) {
    const std::string part = partBeside(package, places.value(id));
    const QByteArray page = archive.part(part);
    if (page.isEmpty() || into.isFull()) continue;
    readWebPage({reinterpret_cast<const std::uint8_t*>(page.constData()), static_cast<std::size_t>(page.size())}, {}, archive.path(), into);
  }
}

}  // namespace winnow::app
