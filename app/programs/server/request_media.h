// The source that a part of a request names for its picture, video or document: bytes inside the request, or a file in a folder that is
// open to it.
//
// Bytes are kept in the MediaStore, so that the next request with the same ones names the same file. Nothing is fetched from the network
// unless that was allowed. Errors: ApiRefusal, Exception (those of MediaStore), what the fetch throws. Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/media/files/media_store.h"
#include "engine/base/json_document.h"

namespace winnow::app {

class RequestMedia {
 public:
  // Fetches an http or https address; param: the field, for refusals.
  using Fetch = std::function<std::vector<std::uint8_t>(const std::string& url, const std::string& param)>;

  // folders: absolute; files below them may be named, wherever links lead to inside of them, and are opened there or not at all
  // (beneath_folder.h). store: outlives this. fetch: empty: no addresses of the network.
  RequestMedia(MediaStore& store, std::vector<std::string> folders, Fetch fetch = {});
  // The same with another way to fetch.
  RequestMedia by(Fetch fetch) const;

  // url: "data:TYPE;base64,BYTES", "file:///PATH", "http://..." or "https://...". param: the field, for refusals. Returns a path.
  std::string pathOf(const std::string& url, const std::string& param) const;
  // base64 without anything around it.
  std::string pathOfBase64(const std::string& text, const std::string& param) const;

 private:
  std::string allowedFile(const std::string& url, const std::string& param) const;

  MediaStore& m_store;
  std::vector<std::string> m_folders;  // without links
  Fetch m_fetch;
};

// True if a request's body has an http or https address where requests name their media.
bool namesNetwork(const Json& body);

}  // namespace winnow::app
