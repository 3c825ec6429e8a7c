// Media of the network: from a server of the test on this machine, which the tests declare public where they fetch from it.
#include "app/programs/server/remote_media.h"

#include <gtest/gtest.h>

#include <memory>

#include "app/programs/server/api_refusal.h"
#include "app/programs/server/http_listener.h"

namespace winnow::app {
namespace {

std::string refusalBy(const std::function<void()>& of) {
  try {
    of();
  } catch (const ApiRefusal& refused) {
    EXPECT_EQ(refused.status(), 400);
    return refused.message();
  }
  ADD_FAILURE() << "it is not refused";
  return {};
}

TEST(PublicAddress, IsNoneOfThisMachineOrItsNetworks) {
  for (const char* own : {"127.0.0.1",
                          "127.8.9.1",
                          "0.0.0.0",
                          "10.1.2.3",
                          "172.16.0.1",
                          "172.31.255.255",
                          "192.168.1.1",
                          "169.254.169.254",
                          "100.64.0.1",
                          "192.0.2.1",
                          "198.18.0.1",
                          "203.0.113.9",
                          "224.0.0.1",
                          "255.255.255.255",
                          "::1",
                          "::",
                          "fe80::1",
                          "fc00::1",
                          "fd12::1",
                          "ff02::1",
                          "::ffff:127.0.0.1",
                          "::ffff:10.0.0.1",
                          "64:ff9b::7f00:1",
                          "2002:7f00:1::",
                          "2001:db8::1",
                          "2001::1"})
    EXPECT_FALSE(isPublicAddress(own)) << own;
  EXPECT_FALSE(isPublicAddress("films.example"));
  for (const char* open : {"8.8.8.8", "172.32.0.1", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8"})
    EXPECT_TRUE(isPublicAddress(open)) << open;
}

class RemoteMediaTest : public testing::Test {
 protected:
  void SetUp() override {
    limits.resolve = [this](const std::string& host) {
      asked.push_back(host);
      return std::vector<std::string>{"127.0.0.1"};
    };
    limits.allowed = [](const std::string& address) { return address == "127.0.0.1"; };
  }
  std::string url(const std::string& path) const { return "http://films.example:" + std::to_string(server.port()) + path; }
  std::string fetch(const std::string& path) {
    RemoteMedia media(limits, {});
    return fetch(media, path);
  }
  std::string fetch(RemoteMedia& media, const std::string& path) {
    const std::vector<std::uint8_t> bytes = media.fetch(url(path), "p");
    return {bytes.begin(), bytes.end()};
  }
  std::string refusal(const std::string& path) {
    return refusalBy([&] { fetch(path); });
  }

  RemoteMediaLimits limits;
  std::vector<std::string> asked;     // hosts
  std::vector<std::string> requests;  // Host and path of each
  std::vector<std::shared_ptr<HttpAnswer>> unanswered;
  HttpListener server{"127.0.0.1", 0, HttpLimits(), [](const HttpRequest&) { return std::optional<HttpReply>(); },
                      [this](const HttpRequest& request, const std::shared_ptr<HttpAnswer>& answer) {
                        requests.push_back(request.host + request.path);
                        if (request.path == "/film.mp4") return answer->send({200, "text/html", "bytes of a film", {}});
                        if (request.path == "/moved") return answer->send({302, "text/plain", "", {{"Location", url("/film.mp4")}}});
                        if (request.path == "/missing") return answer->send({404, "text/plain", "a page", {}});
                        if (request.path == "/empty") return answer->send({200, "text/plain", "", {}});
                        if (request.path == "/never") return unanswered.push_back(answer);
                        answer->begin({200, "video/mp4", "", {}});
                        answer->write(std::string(3000, 'x'));
                        answer->end();
                      }};
};

TEST_F(RemoteMediaTest, IsFetchedFromTheAddressThatWasLookedAt) {
  EXPECT_EQ(fetch("/film.mp4"), "bytes of a film");
  EXPECT_EQ(asked, std::vector<std::string>{"films.example"}) << "resolved once";
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0], "films.example:" + std::to_string(server.port()) + "/film.mp4");
  EXPECT_EQ(fetch("/piecemeal").size(), 3000U);
}

TEST_F(RemoteMediaTest, IsNotFetchedFromAddressesThatAreNotPublic) {
  limits.allowed = isPublicAddress;
  EXPECT_NE(refusal("/film.mp4").find("public"), std::string::npos);
  limits.resolve = {};
  for (const char* local : {"http://127.0.0.1:%/film.mp4", "http://localhost:%/film.mp4", "http://[::1]:%/film.mp4",
                            "http://2130706433:%/film.mp4", "http://0x7f.1:%/film.mp4", "http://[::ffff:127.0.0.1]:%/film.mp4"}) {
    std::string address = local;
    address.replace(address.find('%'), 1, std::to_string(server.port()));
    refusalBy([&] { RemoteMedia(limits, {}).fetch(address, "p"); });
  }
  limits.resolve = [](const std::string&) { return std::vector<std::string>{"8.8.8.8", "10.0.0.1"}; };
  EXPECT_NE(refusal("/film.mp4").find("public"), std::string::npos) << "one of several is enough";
  EXPECT_TRUE(requests.empty()) << "nothing was connected to";
}

TEST_F(RemoteMediaTest, WhatIsNotTheFileItselfIsRefused) {
  EXPECT_NE(refusal("/moved").find("not followed"), std::string::npos);
  EXPECT_NE(refusal("/missing").find("404"), std::string::npos);
  EXPECT_NE(refusal("/empty").find("no bytes"), std::string::npos);
  EXPECT_EQ(requests.size(), 3U);
  limits.bytes = 2000;
  EXPECT_NE(refusal("/piecemeal").find("more than"), std::string::npos);
  EXPECT_EQ(fetch("/film.mp4"), "bytes of a film");
}

TEST_F(RemoteMediaTest, AServerThatSaysNothingIsLeft) {
  limits.silenceMs = 50;
  EXPECT_NE(refusal("/never").find("too slowly"), std::string::npos);
  limits.silenceMs = 60'000;
  limits.wholeMs = 50;
  EXPECT_NE(refusal("/never").find("too slowly"), std::string::npos);
}

TEST_F(RemoteMediaTest, LimitsHoldForAllThatARequestNames) {
  limits.bytes = 5000;
  RemoteMedia media(limits, {});
  EXPECT_EQ(fetch(media, "/piecemeal").size(), 3000U);
  EXPECT_NE(refusalBy([&] { fetch(media, "/piecemeal"); }).find("more than"), std::string::npos);
  limits.wholeMs = 0;
  RemoteMedia late(limits, {});
  EXPECT_NE(refusalBy([&] { fetch(late, "/never"); }).find("too slowly"), std::string::npos) << "the time of those before counts";
}

TEST_F(RemoteMediaTest, AnAskerThatLeavesEndsIt) {
  InterruptSource asker;
  asker.request_cancel();
  RemoteMedia media(limits, asker.token());
  EXPECT_NE(refusalBy([&] { fetch(media, "/never"); }).find("not waited for"), std::string::npos);
}

TEST_F(RemoteMediaTest, OtherAddressesAreNone) {
  for (const char* wrong :
       {"ftp://films.example/a", "http://", "https:///a", "http://user:word@films.example/a", "http://films.example:99999/a"})
    EXPECT_NE(refusalBy([&] { RemoteMedia(limits, {}).fetch(wrong, "p"); }).find("address"), std::string::npos) << wrong;
  EXPECT_TRUE(asked.empty());
}

}  // namespace
}  // namespace winnow::app
