#include "app/media/papers/mail_text.h"

#include <QList>
#include <algorithm>
#include <utility>

#include "app/media/files/document_text.h"
#include "app/media/papers/web_text.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr int kDeepestPart = 8;  // parts within parts
constexpr int kMostLetterParts = 200;
constexpr qsizetype kLongestBoundary = 256;      // standards have 70 bytes; a long one takes its length to look for at each place
constexpr qsizetype kLongestEncodedWord = 2000;  // standards have 75
constexpr int kMostEncodedWords = 10'000;        // of a field; what follows stays as it is written

TextBytes bytesOf(const QByteArray& bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.constData()), static_cast<std::size_t>(bytes.size())};
}

QString textIn(const QByteArray& bytes, const QByteArray& charset) {
  const std::string encoding = encodingNamed(charset.toStdString()).value_or("UTF-8");
  return decodeText(bytesOf(bytes), encoding).text;
}

// "=C3=BC" is a byte, "=" at the end of a line joins it with the next.
QByteArray unquoted(const QByteArray& text) {
  QByteArray bytes;
  for (qsizetype at = 0; at < text.size(); ++at) {
    const QByteArray code = text.mid(at + 1, 2);
    if (text[at] != '=') {
      bytes += text[at];
    } else if (code.startsWith('\n')) {
      ++at;
    } else if (code.startsWith("\r\n")) {
      at += 2;
    } else if (code.size() == 2 && std::isxdigit(static_cast<unsigned char>(code[0])) &&
               std::isxdigit(static_cast<unsigned char>(code[1]))) {
      bytes += QByteArray::fromHex(code);
      at += 2;
    } else {
      bytes += '=';
    }
  }
  return bytes;
}

struct Part {
  QList<std::pair<QByteArray, QByteArray>> fields;  // names in small letters
  QByteArray body;

  QByteArray field(const char* name) const {
    const auto found = std::ranges::find(fields, QByteArray(name), &std::pair<QByteArray, QByteArray>::first);
    return found == fields.end() ? QByteArray() : found->second;
  }
};

Part partIn(const QByteArray& text) {
  Part part;
  qsizetype at = 0;
  while (at < text.size()) {
    qsizetype end = text.indexOf('\n', at);
    if (end < 0) end = text.size();
    const QByteArray line = text.mid(at, end - at).trimmed();
    const bool goesOn = at < text.size() && (text[at] == ' ' || text[at] == '\t');
    at = end + 1;
    if (line.isEmpty()) break;
    const qsizetype colon = line.indexOf(':');
    if (goesOn && !part.fields.isEmpty()) {
      part.fields.last().second += ' ' + line;
    } else if (colon > 0) {
      part.fields.append({line.first(colon).toLower(), line.mid(colon + 1).trimmed()});
    }
  }
  part.body = text.mid(at);
  return part;
}

QByteArray before(const QByteArray& text, char end) {
  const qsizetype at = text.indexOf(end);
  return at < 0 ? text : text.first(at);
}

// "text/plain; charset=\"utf-8\"" and "charset" -> "utf-8"
QByteArray parameter(const QByteArray& value, const QByteArray& name) {
  const qsizetype at = value.toLower().indexOf(name + '=');
  if (at < 0) return {};
  const QByteArray rest = value.mid(at + name.size() + 1);
  return rest.startsWith('"') ? before(rest.mid(1), '"') : before(rest, ';').trimmed();
}

QByteArray decodedBody(const Part& part) {
  const QByteArray way = part.field("content-transfer-encoding").toLower();
  if (way == "base64") return QByteArray::fromBase64(part.body);
  return way == "quoted-printable" ? unquoted(part.body) : part.body;
}

QByteArray typeOf(const Part& part) {
  const QByteArray type = part.field("content-type");
  return type.isEmpty() ? QByteArray("text/plain") : before(type, ';').trimmed().toLower();
}

QList<Part> innerParts(const Part& whole) {
  const QByteArray boundary = "--" + parameter(whole.field("content-type"), "boundary");
  QList<Part> parts;
  if (boundary.size() <= 2 || boundary.size() > kLongestBoundary) return parts;
  qsizetype at = whole.body.indexOf(boundary);
  while (at >= 0 && parts.size() < kMostLetterParts && whole.body.mid(at + boundary.size(), 2) != "--") {
    const qsizetype begin = whole.body.indexOf('\n', at) + 1;
    const qsizetype next = begin > 0 ? whole.body.indexOf(boundary, begin) : -1;
    if (begin > 0) parts.append(partIn(whole.body.mid(begin, next < 0 ? -1 : next - begin)));
    at = next;
  }
  return parts;
}

class Letter {
 public:
  Letter(std::string subject, MarkedText& into) : m_subject(std::move(subject)), m_into(into) {}

  void read(const Part& part, int depth) {
    const QByteArray type = typeOf(part);
    const QByteArray name = parameter(part.field("content-disposition"), "filename");
    if (depth > kDeepestPart) throw Exception(ErrorCode::kLimitExceeded, m_subject, "its parts are nested too deeply");
    if (type.startsWith("multipart/")) {
      QList<Part> parts = innerParts(part);
      const auto plain = std::ranges::find(parts, QByteArray("text/plain"), typeOf);
      if (type == "multipart/alternative" && plain != parts.end()) parts = {*plain};
      for (const Part& each : std::as_const(parts)) read(each, depth + 1);
    } else if (!name.isEmpty() || !type.startsWith("text/")) {
      say(QStringLiteral("[attached: %1]").arg(name.isEmpty() ? QString::fromLatin1(type) : decodedField(name)));
    } else if (type == "text/html") {
      const QByteArray charset = parameter(part.field("content-type"), "charset");
      readWebPage(bytesOf(decodedBody(part)), encodingNamed(charset.toStdString()).value_or(std::string()), m_subject, m_into);
    } else {
      m_into.begin(Mark::kKeep);
      m_into.addWords(textIn(decodedBody(part), parameter(part.field("content-type"), "charset")));
      m_into.end(Mark::kKeep);
    }
  }

  void say(const QString& line) {
    m_into.begin(Mark::kBlock);
    m_into.addWords(line);
    m_into.end(Mark::kBlock);
  }

 private:
  const std::string m_subject;
  MarkedText& m_into;
};

}  // namespace

QString decodedField(const QByteArray& value) {
  QString text;
  qsizetype at = 0;
  for (int count = 0; at < value.size(); ++count) {
    const qsizetype begin = count < kMostEncodedWords ? value.indexOf("=?", at) : -1;
    const QList<QByteArray> words = begin < 0 ? QList<QByteArray>() : value.mid(begin + 2, kLongestEncodedWord).split('?');
    if (words.size() < 4 || !words[3].startsWith('=')) {
      return text + QString::fromUtf8(value.mid(at));
    }
    const QByteArray between = value.mid(at, begin - at);
    // Space between two encoded words is none.
    if (at == 0 || !between.trimmed().isEmpty()) text += QString::fromUtf8(between);
    QByteArray bytes = words[2];
    text += textIn(words[1].toUpper() == "B" ? QByteArray::fromBase64(bytes) : unquoted(bytes.replace('_', ' ')), words[0]);
    at = begin + 2 + words[0].size() + words[1].size() + words[2].size() + 4;
  }
  return text;
}

void readMail(const QByteArray& bytes, const std::string& subject, MarkedText& into) {
  const Part whole = partIn(bytes);
  Letter letter(subject, into);
  for (const auto& [name, shown] : {std::pair{"from", "From"}, {"to", "To"}, {"cc", "Cc"}, {"date", "Date"}, {"subject", "Subject"}}) {
    if (const QByteArray value = whole.field(name); !value.isEmpty())
      letter.say(QStringLiteral("%1: %2").arg(QLatin1String(shown), decodedField(value)));
  }
  letter.read(whole, 0);
}

}  // namespace winnow::app
