#include "app/engine/remote/carried_media.h"

#include <algorithm>

#include "app/engine/process/carried_files.h"
#include "app/engine/remote/server_fault.h"
#include "app/media/files/content_hash.h"
#include "engine/base/json_document.h"

namespace winnow::app {
namespace {

constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20;

struct Received {
  std::int64_t bytes = 0;
  bool whole = false;
};

Received receivedOf(const ServerAddress& address, const ServerReply& reply) {
  if (reply.status != 200) throw Exception(faultOf(address, reply));
  try {
    const Json answer = parse_json(reply.body, "the answer", {.max_bytes = 4096, .max_depth = 4, .max_elements = 16});
    return {answer.at("received").get<std::int64_t>(), answer.at("whole").get<bool>()};
  } catch (const std::exception&) {
    throw Exception(ErrorCode::kServerNotUnderstood, address.host(), "its answer to a file is none");
  }
}

}  // namespace

std::string CarriedMedia::carry(const std::string& path, const InterruptToken& interrupt) {
  const MediaFile file(path);
  const std::string sha256 = hashOf(file, interrupt);
  if (!m_there.contains(sha256)) send(file, sha256, interrupt);
  m_there.insert(sha256);
  return carriedName(sha256);
}

std::string CarriedMedia::hashOf(const MediaFile& file, const InterruptToken& interrupt) {
  const auto known = m_known.find(file.path());
  if (known != m_known.end() && !file.version().empty() && known->second.version == file.version()) return known->second.sha256;
  std::string sha256 = wholeHash(file, interrupt);
  m_known.insert_or_assign(file.path(), Known{file.version(), sha256});
  return sha256;
}

// A piece of nothing asks how much is there.
void CarriedMedia::send(const MediaFile& file, const std::string& sha256, const InterruptToken& interrupt) {
  const std::string url = m_connection.address().root() + "/winnow/v1/media/" + sha256 + "?of=" + std::to_string(file.sizeBytes()) + "&at=";
  std::int64_t at = 0;
  bool asked = false;
  int refused = 0;  // pieces in a row that the server has not taken: somebody else sends the same file
  while (refused < 8) {
    std::vector<std::uint8_t> piece;
    if (asked) piece = file.readRange(at, std::min(kPieceBytes, file.sizeBytes() - at));
    if (asked && piece.empty()) throw Exception(ErrorCode::kFileUnreadable, file.path(), "it became shorter while it was sent");
    const std::string_view bytes(reinterpret_cast<const char*>(piece.data()), piece.size());
    const Received received = receivedOf(m_connection.address(), m_connection.put(url + std::to_string(at), bytes, interrupt));
    if (received.whole) return;
    const std::int64_t expected = at + static_cast<std::int64_t>(piece.size());
    refused = received.bytes == expected ? 0 : refused + 1;
    at = std::clamp<std::int64_t>(received.bytes, 0, file.sizeBytes());
    asked = true;
  }
  throw Exception(ErrorCode::kServerNotUnderstood, m_connection.address().host(), "it does not take the file's pieces in their order");
}

}  // namespace winnow::app
