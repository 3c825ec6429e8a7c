// Where a part of a request says that its picture, video or document is: bytes inside the request, or a file in a folder that is open to
// it.
//
// Bytes are kept in the MediaStore, so that the next request with the same ones names the same file. Nothing is fetched from the network
// unless that was allowed.
// Errors: ApiRefusal, Exception (those of MediaStore). Threads: one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/media/media_store.h"
#include "app/server/remote_media.h"

namespace winnow::app {

class RequestMedia {
 public:
  // folders: absolute; files below them may be named, wherever links lead to inside of them. store: outlives this. remote: nothing: no
  // addresses of the network.
  RequestMedia(MediaStore& store, std::vector<std::string> folders, std::optional<RemoteMediaLimits> remote = std::nullopt);

  // url: "data:TYPE;base64,BYTES", "file:///PATH", "http://..." or "https://...". param: the field, for refusals. Returns a path.
  std::string pathOf(const std::string& url, const std::string& param);
  // base64 without anything around it.
  std::string pathOfBase64(const std::string& text, const std::string& param);

 private:
  std::string allowedFile(const std::string& url, const std::string& param) const;

  MediaStore& m_store;
  std::vector<std::string> m_folders;  // without links
  const std::optional<RemoteMediaLimits> m_remote;
};

}  // namespace winnow::app
