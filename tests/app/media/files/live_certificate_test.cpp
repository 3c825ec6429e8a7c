// A server that anybody could have set up is not read over https.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <thread>

#include "app/media/files/allowed_video.h"
#include "app/media/files/live/network_bytes.h"
#include "tests/app/media/files/live_senders.h"

namespace winnow::app {
namespace {

// Made for this test, signed by itself.
constexpr const char* kCertificate = R"(-----BEGIN CERTIFICATE-----
MIIBkDCCATagAwIBAgIUX3yF6NEFJ4MU8vit6ttrjxh0bgEwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyMzAxMDExNloYDzIxMjYxMDMw
MDEwMTE2WjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARH0OEqGrSHTLe3PZOnxtJPljZUhyxEEuXSCtpa2fLHhlNaMvaSaU2u
TGPk5JOBzQH0Y+trtmq15NkbNfDB9Qnpo2QwYjAdBgNVHQ4EFgQU3+SCskg3Ajt1
Un1dkT7lr67iyw0wHwYDVR0jBBgwFoAU3+SCskg3Ajt1Un1dkT7lr67iyw0wDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUC
IBbW9W25cep9a45N4LMA2ItkScLFqNsUDAY27/DK31riAiEAt7zitHJr/KB+6Ab5
nmaAU2VO/CVjII+4PVOKi7VDWNw=
-----END CERTIFICATE-----)";
constexpr const char* kKey = R"(-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgw/0Nt9ej62vH83P+
B87+zUNvn7UZ9dpVf0fqhUNnFvmhRANCAARH0OEqGrSHTLe3PZOnxtJPljZUhyxE
EuXSCtpa2fLHhlNaMvaSaU2uTGPk5JOBzQH0Y+trtmq15NkbNfDB9Qnp
-----END PRIVATE KEY-----)";

int stopping(void* flag) { return static_cast<const std::atomic<bool>*>(flag)->load() ? 1 : 0; }

// Answers one caller over TLS, if the caller trusts it.
samples::Sender::Body answerOnce(int port, const samples::Bytes& answer) {
  return [port, answer](const std::atomic<bool>& stop) {
    const std::string certificate = samples::path("self-signed.pem"), key = samples::path("self-signed.key");
    samples::writeBytes(certificate, samples::textBytes(kCertificate));
    samples::writeBytes(key, samples::textBytes(kKey));
    AvOptions options;
    for (const auto& [name, value] : {std::pair<const char*, std::string>{"listen", "1"}, {"cert_file", certificate}, {"key_file", key}})
      options.set(name, value);
    AVIOContext* io = nullptr;
    const AVIOInterruptCB interrupt{&stopping, const_cast<std::atomic<bool>*>(&stop)};
    const std::string address = "tls://127.0.0.1:" + std::to_string(port);
    if (avio_open2(&io, address.c_str(), AVIO_FLAG_READ_WRITE, &interrupt, options.get()) < 0) return;
    avio_write(io, answer.data(), static_cast<int>(answer.size()));
    avio_flush(io);
    avio_closep(&io);
  };
}

TEST(LiveCertificate, OneThatSignedItselfIsRefused) {
  if (!NetworkBytes::canRead("https")) GTEST_SKIP() << "this FFmpeg has no https";
  ::setenv("no_proxy", "*", 1);
  const int port = samples::freeUdpPort();
  const samples::Bytes answer =
      samples::joined(samples::textBytes("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"), samples::recorded(".ts", 20));
  const samples::Sender server(answerOnce(port, answer));
  Error error;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    error = samples::liveError(samples::live("https://127.0.0.1:" + std::to_string(port), 0.5));
  } while (error.reason.find("Connection refused") != std::string::npos);  // it does not listen yet
  EXPECT_EQ(error.code, ErrorCode::kFileUnreadable);
  EXPECT_NE(error.reason.find("its certificate is not one that this machine trusts"), std::string::npos) << error.reason;
}

}  // namespace
}  // namespace winnow::app
