#include "app/chats/chat/lines_digest.h"

#include <QCryptographicHash>
#include <utility>

namespace winnow::app {

QByteArray digestOf(const std::vector<TimedLine>& lines) {
  if (lines.empty()) return {};
  QCryptographicHash hash(QCryptographicHash::Sha256);
  for (const TimedLine& line : lines) {
    hash.addData(QByteArray::number(line.start_s, 'f', 3) + '\n' + QByteArray::number(line.end_s, 'f', 3) + '\n');
    hash.addData(QByteArray::fromStdString(line.text) + '\n');
  }
  return hash.result().toHex().left(16);
}

bool linesDiffer(const Attachment& video, std::vector<TimedLine> lines) {
  if (video.subtitles.isEmpty() || video.sampled.linesDigest.isEmpty()) return false;
  return digestOf(lines_between(std::move(lines), video.plan.from_s, video.plan.to_s)) != video.sampled.linesDigest;
}

}  // namespace winnow::app
