// libFuzzer over documents that are no plain text, where their text is ours: letters, web pages, the XML of office files and books, and the
// lines and places of a PDF's pages. A document is read or refused, and the order of a page has each of its parts.
//
// The first byte chooses the reader. XML stands in an archive that is made here: a ZIP's checksums would stop most changes at the door.
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "app/media/papers/page_lines.h"
#include "app/media/papers/page_order.h"
#include "app/media/papers/papers.h"
#include "engine/base/error.h"

namespace {

using namespace winnow;
using namespace winnow::app;

constexpr char kNextPart = '\1';  // no XML has it
const std::vector<std::string> kArchives[] = {
    {"[Content_Types].xml", "word/document.xml", "word/styles.xml", "word/footnotes.xml"},
    {"mimetype", "content.xml"},
    {"[Content_Types].xml", "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "xl/sharedStrings.xml", "xl/styles.xml",
     "xl/worksheets/sheet1.xml"},
    {"mimetype", "META-INF/container.xml", "OEBPS/book.opf", "OEBPS/text/first.xhtml"},
};

void put(std::string& out, std::initializer_list<std::pair<std::uint64_t, int>> numbers) {
  for (const auto& [value, bytes] : numbers) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  }
}

std::string archiveOf(const std::vector<std::string>& names, std::string_view bytes) {
  std::string body, table;
  for (const std::string& name : names) {
    const std::string part(bytes.substr(0, bytes.find(kNextPart)));
    bytes.remove_prefix(std::min(part.size() + 1, bytes.size()));
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size()));
    std::string head;
    put(head, {{20, 2}, {0, 8}, {sum, 4}, {part.size(), 4}, {part.size(), 4}, {name.size(), 2}, {0, 2}});
    put(table, {{0x02014B50, 4}, {20, 2}});
    table += head;
    put(table, {{0, 10}, {body.size(), 4}});
    table += name;
    put(body, {{0x04034B50, 4}});
    body += head + name + part;
  }
  const std::size_t begin = body.size();
  put(body += table, {{0x06054B50, 4}, {0, 4}, {names.size(), 2}, {names.size(), 2}, {table.size(), 4}, {begin, 4}, {0, 2}});
  return body;
}

void readAs(const char* name, std::string_view bytes) {
  static const int descriptor = memfd_create("document", MFD_CLOEXEC);
  if (::ftruncate(descriptor, 0) != 0 || ::pwrite(descriptor, bytes.data(), bytes.size(), 0) < 0) std::abort();
  const MediaFile file(name, openMedia("/proc/self/fd/" + std::to_string(descriptor)));
  Papers(MediaLimits{}).readText(file, {}, {});
}

void readLines(std::string_view text) {
  std::vector<QStringList> pages;
  for (const QString& page : QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())).split(u'\f')) {
    pages.emplace_back();
    for (const QString& line : page.split(u'\n')) pages.back() << logicalLine(plainLetters(line), DrawnOrder::kLine);
  }
  joinHyphens(pages);
  leaveOutMargins(pages);
}

void readPlaces(std::string_view bytes) {
  std::vector<QRectF> pieces;
  const auto at = [&](std::size_t i) { return static_cast<qreal>(static_cast<unsigned char>(bytes[i])); };
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) pieces.emplace_back(3 * at(i), 4 * at(i + 1), at(i + 2), at(i + 3) / 8);
  const std::vector<PagePart> parts = partsOf(pieces);
  for (const Script script : {Script::kLeftToRight, Script::kRightToLeft}) {
    std::vector<int> order = readingOrder(parts, script), all(parts.size());
    std::ranges::sort(order);
    std::iota(all.begin(), all.end(), 0);
    if (order != all) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0] % 9) {
      case 0: readAs("letter.eml", "From: a\nTo: b\n" + std::string(bytes)); break;
      case 1: readAs("page.html", "<" + std::string(bytes)); break;
      case 2: readAs("archive", bytes); break;
      case 3: readLines(bytes); break;
      case 4: readPlaces(bytes); break;
      default: readAs("archive", archiveOf(kArchives[data[0] % 9 - 5], bytes));
    }
  } catch (const Exception&) {
    // Refused; whatever else leaves it is a finding.
  }
  return 0;
}
