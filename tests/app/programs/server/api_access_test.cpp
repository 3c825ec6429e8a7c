#include "app/programs/server/api_access.h"

#include <gtest/gtest.h>

namespace winnow::app {
namespace {

int status(const HttpRequest& request, const ApiAccess& access) {
  const auto refusal = refusedAccess(request, access);
  return refusal ? refusal->status : 0;
}

HttpRequest from(const char* host, const char* origin = "", const char* authorization = "") {
  return {.method = "GET", .path = "/v1/models", .host = host, .origin = origin, .authorization = authorization};
}

TEST(ApiAccess, WithoutAKeyOnlyThisMachinesNames) {
  for (const char* host : {"localhost:8642", "127.0.0.1", "[::1]:8642", "localhost", "LocalHost:80", "localhost:"})
    EXPECT_EQ(status(from(host), {}), 0) << host;
  // The page of evil.example lets its name point to 127.0.0.1.
  for (const char* host : {"evil.example:8642", "", "localhost.evil.example", "127.0.0.1.evil.example", "192.168.1.7:8642",
                           "localhost:80@evil", "localhost:8642:1", "[::1]evil:80"})
    EXPECT_EQ(status(from(host), {}), 403) << host;
}

TEST(ApiAccess, PagesOnlyWhereTheirOriginWasNamed) {
  const ApiAccess access{"", {"http://localhost:3000"}};
  EXPECT_EQ(status(from("localhost", "http://localhost:3000"), access), 0);
  EXPECT_EQ(status(from("localhost", "http://localhost:3001"), access), 403);
  EXPECT_EQ(status(from("localhost", "null"), access), 403);
}

TEST(ApiAccess, WithAKeyOnlyWhoNamesIt) {
  const ApiAccess access{"secret", {}};
  for (const char* right : {"Bearer secret", "bearer secret", "BEARER secret"})
    EXPECT_EQ(status(from("gpu.lan:8642", "", right), access), 0) << right;
  for (const char* wrong : {"", "Bearer ", "Bearer secre", "Bearer secret ", "Bearersecret", "Basic secret", "secret", "Bearer Secret"})
    EXPECT_EQ(status(from("gpu.lan:8642", "", wrong), access), 401) << wrong;
  HttpRequest health = from("gpu.lan");
  health.path = "/health";
  EXPECT_EQ(status(health, access), 0) << "whoever watches over it has no key";
}

TEST(ApiAccess, WhatNeedsNoKeyHasNoBody) {
  const ApiAccess access{"secret", {}};
  HttpRequest asked = from("gpu.lan");
  for (const auto& [method, path] : {std::pair{"GET", "/health"}, {"OPTIONS", "/v1/models"}}) {
    asked.method = method;
    asked.path = path;
    asked.announcesBody = false;
    EXPECT_EQ(status(asked, access), 0) << method;
    asked.announcesBody = true;
    EXPECT_EQ(status(asked, access), 413) << method;
    EXPECT_EQ(status(asked, {}), 413) << method;
  }
  asked.method = "POST";
  asked.path = "/health";
  EXPECT_EQ(status(asked, access), 401);
}

TEST(ApiAccess, ComparesWholeSecrets) {
  EXPECT_TRUE(equalSecrets("", ""));
  EXPECT_TRUE(equalSecrets("abc", "abc"));
  EXPECT_FALSE(equalSecrets("abc", "abd"));
  EXPECT_FALSE(equalSecrets("abc", "abcd"));
}

}  // namespace
}  // namespace winnow::app
