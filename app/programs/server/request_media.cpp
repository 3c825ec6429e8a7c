#include "app/programs/server/request_media.h"

#include <QByteArray>
#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "app/media/files/beneath_folder.h"
#include "app/programs/server/api_refusal.h"
#include "app/programs/server/request_fields.h"

namespace winnow::app {
namespace {

constexpr std::string_view kData = "data:";
constexpr std::string_view kFile = "file://";
constexpr std::string_view kBase64 = ";base64,";

bool isBelow(const std::filesystem::path& file, const std::filesystem::path& folder) {
  const auto [left, right] = std::ranges::mismatch(folder, file);
  return left == folder.end() && right != file.end();
}

// The name below the folder, without links. Opening it checks that it is still there.
std::string nameBelow(const std::filesystem::path& file, const std::filesystem::path& folder) {
  return BeneathFolder{folder.string(), file.lexically_relative(folder).string()}.name();
}

bool isOfNetwork(const std::string& url) { return url.starts_with("http://") || url.starts_with("https://"); }

}  // namespace

RequestMedia::RequestMedia(MediaStore& store, std::vector<std::string> folders, Fetch fetch)
    : m_store(store), m_folders(std::move(folders)), m_fetch(std::move(fetch)) {
  for (std::string& folder : m_folders) folder = std::filesystem::canonical(folder).string();
}

RequestMedia RequestMedia::by(Fetch fetch) const {
  RequestMedia other = *this;
  other.m_fetch = std::move(fetch);
  return other;
}

std::string RequestMedia::pathOf(const std::string& url, const std::string& param) const {
  if (url.starts_with(kData)) {
    const std::size_t comma = url.find(kBase64);
    if (comma == std::string::npos) throw ApiRefusal(400, "a data URI must be base64", param);
    return pathOfBase64(url.substr(comma + kBase64.size()), param);
  }
  if (url.starts_with(kFile)) return allowedFile(url, param);
  if (isOfNetwork(url)) {
    if (m_fetch) return m_store.put(m_fetch(url, param));
    throw ApiRefusal(400, "media are not fetched from the network: send them as a data URI", param, "remote_media_not_allowed");
  }
  throw ApiRefusal(400, "must be a data URI or a file:// address", param);
}

std::string RequestMedia::pathOfBase64(const std::string& text, const std::string& param) const {
  constexpr std::string_view kBreaks = " \t\r\n";  // base64 as mail has it, in lines
  if (text.find_first_of(kBreaks) != std::string::npos) {
    std::string joined = text;
    std::erase_if(joined, [&](char letter) { return kBreaks.find(letter) != std::string_view::npos; });
    return pathOfBase64(joined, param);
  }
  const auto decoded = QByteArray::fromBase64Encoding(QByteArray::fromRawData(text.data(), static_cast<qsizetype>(text.size())),
                                                      QByteArray::AbortOnBase64DecodingErrors);
  if (!decoded) throw ApiRefusal(400, "is not base64", param);
  const QByteArray& bytes = *decoded;
  if (bytes.isEmpty()) throw ApiRefusal(400, "holds no bytes", param);
  return m_store.put({reinterpret_cast<const std::uint8_t*>(bytes.constData()), static_cast<std::size_t>(bytes.size())});
}

// One sentence for all that is not allowed and not there: nothing is told about files outside of the folders.
std::string RequestMedia::allowedFile(const std::string& url, const std::string& param) const {
  const QByteArray named = QByteArray::fromPercentEncoding(QByteArray::fromStdString(url.substr(kFile.size())));
  std::error_code failed;
  const std::filesystem::path file = std::filesystem::canonical(named.toStdString(), failed);
  const auto folder = std::ranges::find_if(m_folders, [&](const std::string& each) { return isBelow(file, each); });
  const bool allowed = !failed && named.startsWith('/') && !named.contains('\0') && folder != m_folders.end();
  if (allowed) return nameBelow(file, *folder);
  throw ApiRefusal(400, "there is no such file in a folder that --media-folder opens to requests", param, "file_not_allowed");
}

bool namesNetwork(const Json& body) {
  constexpr std::string_view kAddresses[] = {"url", "image_url", "video_url"};
  if (body.is_array()) return std::ranges::any_of(body, namesNetwork);
  if (!body.is_object()) return false;
  for (const auto& [name, value] : body.items()) {
    const auto* const address = isAmong(kAddresses, name) ? value.get_ptr<const std::string*>() : nullptr;
    if ((address != nullptr && isOfNetwork(*address)) || namesNetwork(value)) return true;
  }
  return false;
}

}  // namespace winnow::app
