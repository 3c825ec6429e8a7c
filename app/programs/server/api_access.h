// Who may ask: looked at before a request's body is read.
//
// A page of any site can make a browser send requests to this machine, under a name that it lets point here: without a key, only names of
// this machine count in Host, and a page's requests (Origin) only where it was named. What needs no key may have no body: nothing of one is
// read before its sender is known. Errors: none; what is refused is the answer. Threads: any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/programs/server/http_listener.h"

namespace winnow::app {

struct ApiAccess {
  std::string key;                   // empty: none is asked for
  std::vector<std::string> origins;  // of pages that may ask, "http://localhost:3000"
};

std::optional<HttpReply> refusedAccess(const HttpRequest& request, const ApiAccess& access);

// Takes as long for every text of the same length.
bool equalSecrets(const std::string& a, const std::string& b);

}  // namespace winnow::app
