// A hub that behaves: what comes, where it lies, what is not fetched twice, and what is found without the network.
#include <sys/file.h>

#include <QFileInfo>

#include "app/library/downloads/part_file.h"
#include "tests/app/library/hub/hub_run.h"

namespace winnow::test {
namespace {

using app::ChoiceReason;
using app::DownloadProblem;
using app::DownloadStage;

const QByteArray kVisionConfig = R"({"architectures":["Qwen2_5_VLForConditionalGeneration"],"vision_config":{}})";
const QByteArray kIndex = R"({"metadata":{},"weight_map":{"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"}})";

class HubDownloadTest : public HubRun {
 protected:
  void serveFolder(const QByteArray& config = kVisionConfig) {
    served.repository = QStringLiteral("someone/Folder-VL");
    served.files = {{QStringLiteral("config.json"), config, false},
                    {QStringLiteral("model.safetensors.index.json"), kIndex, false},
                    {QStringLiteral("model-00001-of-00002.safetensors"), QByteArray(70'000, 'a')},
                    {QStringLiteral("model-00002-of-00002.safetensors"), QByteArray(60'000, 'b')},
                    {QStringLiteral("tokenizer.json"), QByteArray(30'000, 't')},
                    {QStringLiteral("preprocessor_config.json"), "{}", false},
                    {QStringLiteral("pytorch_model.bin"), QByteArray(90'000, 'z')},
                    {QStringLiteral("modeling_folder.py"), "import os", false},
                    {QStringLiteral("onnx/model.onnx"), QByteArray(10'000, 'o')},
                    {QStringLiteral("original/model.safetensors"), QByteArray(10'000, 'o')},
                    {QStringLiteral("training_args.bin"), QByteArray(100, 'o')},
                    {QStringLiteral("README.md"), "hello", false}};
    served.serve();
  }
};

TEST_F(HubDownloadTest, AGgufFileComesWithItsProjectorIntoTheHubsOwnLayout) {
  expectModel();
  EXPECT_EQ(snapshotFiles(), (QStringList{QStringLiteral("Small-Q4_K_M.gguf"), QStringLiteral("mmproj-Small-F16.gguf")}));
  EXPECT_EQ(bytes(path), served.files[0].bytes);
  EXPECT_EQ(bytes(blob(0)), served.files[0].bytes);
  EXPECT_EQ(bytes(blob(2)), served.files[2].bytes);
  char target[256] = {};
  ASSERT_GT(::readlink(path.toLocal8Bit().constData(), target, sizeof target - 1), 0);
  EXPECT_EQ(QByteArray(target), "../../blobs/" + ServedHub::hashOf(served.files[0])) << "relative, as the hub's tools write it";
  ASSERT_TRUE(choice.has_value());
  EXPECT_EQ(choice->what, QStringLiteral("Q4_K_M"));
  EXPECT_EQ(choice->reason, ChoiceReason::kUsual);
  EXPECT_EQ(choice->projector, QStringLiteral("mmproj-Small-F16.gguf"));
  EXPECT_EQ(choice->bytes, served.files[0].bytes.size() + served.files[2].bytes.size());
}

TEST_F(HubDownloadTest, ProgressCountsBytesOfAllFilesAndNeverFallsBack) {
  expectModel();
  qint64 before = 0;
  for (const app::DownloadProgress& each : progress) {
    if (each.stage != DownloadStage::kDownloading) continue;
    EXPECT_GE(each.done, before);
    EXPECT_EQ(each.total, choice->bytes);
    before = each.done;
  }
  EXPECT_GT(before, 0);
}

TEST_F(HubDownloadTest, ASecondTimeAsksWhatThereIsAndFetchesNothing) {
  expectModel();
  served.hub.requests.clear();
  served.storage.requests.clear();
  expectModel();
  EXPECT_EQ(served.hub.requests.size(), 2U);
  EXPECT_TRUE(served.storage.requests.empty());
}

TEST_F(HubDownloadTest, ASecondQuantisationFetchesOnlyWhatIsNew) {
  expectModel();
  served.storage.requests.clear();
  request = served.request(cache(), QStringLiteral("q6_k"));
  expectModel(QStringLiteral("Small-Q6_K.gguf"));
  EXPECT_EQ(served.storage.requests.size(), 1U);
  EXPECT_EQ(choice->reason, ChoiceReason::kNamed);
}

TEST_F(HubDownloadTest, WhatAnotherProgramFetchedIsUsed) {
  write(blob(0), served.files[0].bytes);
  expectModel();
  EXPECT_EQ(served.storage.requests.size(), 1U) << "the projector alone";
}

TEST_F(HubDownloadTest, ANewCommitKeepsWhatDidNotChange) {
  request = served.request(cache(), QStringLiteral("Q6_K"));
  expectModel(QStringLiteral("Small-Q6_K.gguf"));
  served.commit = QString(40, QLatin1Char('d'));
  served.files[0].bytes += "newer";
  served.serve();
  served.storage.requests.clear();
  request.reset();
  expectModel();
  EXPECT_EQ(served.storage.requests.size(), 1U);
  EXPECT_TRUE(snapshotFiles().contains(QStringLiteral("Small-Q6_K.gguf"))) << "fetched before, and the same there";
  EXPECT_EQ(bytes(path), served.files[0].bytes);
}

TEST_F(HubDownloadTest, PartsComeTogether) {
  served.files = {{QStringLiteral("Q4_K_M/Big-Q4_K_M-00001-of-00002.gguf"), "GGUF" + QByteArray(1000, '1')},
                  {QStringLiteral("Q4_K_M/Big-Q4_K_M-00002-of-00002.gguf"), "GGUF" + QByteArray(1000, '2')},
                  {QStringLiteral("mmproj-F16.gguf"), "GGUF" + QByteArray(1000, '3')},
                  {QStringLiteral("Q8_0/Big-Q8_0-00001-of-00002.gguf"), "GGUF" + QByteArray(1000, '4')}};
  served.serve();
  expectModel(QStringLiteral("Q4_K_M/Big-Q4_K_M-00001-of-00002.gguf"));
  EXPECT_EQ(choice->reason, ChoiceReason::kOnly) << "of Q8_0 a part is missing";
  EXPECT_EQ(bytes(snapshot() + QStringLiteral("/Q4_K_M/Big-Q4_K_M-00002-of-00002.gguf")), served.files[1].bytes);
  EXPECT_EQ(bytes(snapshot() + QStringLiteral("/Q4_K_M/mmproj-F16.gguf")), served.files[2].bytes)
      << "beside the model, where the engine looks";
  EXPECT_EQ(bytes(snapshot() + QStringLiteral("/mmproj-F16.gguf")), served.files[2].bytes);
  EXPECT_EQ(served.storage.requests.size(), 3U);
}

TEST_F(HubDownloadTest, OfAFolderComesWhatTheEngineReadsAndNothingElse) {
  serveFolder();
  expectModel(QString());
  EXPECT_EQ(snapshotFiles(),
            (QStringList{QStringLiteral("config.json"), QStringLiteral("model-00001-of-00002.safetensors"),
                         QStringLiteral("model-00002-of-00002.safetensors"), QStringLiteral("model.safetensors.index.json"),
                         QStringLiteral("preprocessor_config.json"), QStringLiteral("tokenizer.json")}));
  for (const LoopbackServer::Request& each : served.hub.requests) {
    EXPECT_FALSE(each.path.contains(QStringLiteral(".bin")) || each.path.contains(QStringLiteral(".py")) ||
                 each.path.contains(QStringLiteral("onnx")))
        << each.path.toStdString();
  }
  EXPECT_EQ(choice->reason, ChoiceReason::kFolder);
}

TEST_F(HubDownloadTest, AFamilyThatDoesNotRunIsRefusedBeforeItsWeightsCome) {
  serveFolder(R"({"architectures":["WhisperForConditionalGeneration"]})");
  expectFault(DownloadProblem::kNotReadable, "does not run");
  EXPECT_TRUE(served.storage.requests.empty());
}

// A GGUF file's beginning: one value before its architecture, and what follows.
QByteArray ggufOf(const QByteArray& architecture) {
  const auto number = [](auto value) { return QByteArray(reinterpret_cast<const char*>(&value), sizeof value); };
  const auto text = [&](const QByteArray& word) { return number(std::uint64_t(word.size())) + word; };
  return "GGUF" + number(std::uint32_t{3}) + number(std::uint64_t{0}) + number(std::uint64_t{2}) + text("general.alignment") +
         number(std::uint32_t{4}) + number(std::uint32_t{32}) + text("general.architecture") + number(std::uint32_t{8}) +
         text(architecture) + QByteArray(200'000, 'w');
}

TEST_F(HubDownloadTest, AnArchitectureThatDoesNotRunIsRefusedByTheFilesHead) {
  served.files[0].bytes = ggufOf("rwkv6");
  served.gguf = "llama";
  served.serve();
  expectFault(DownloadProblem::kNotReadable, "rwkv6");
  EXPECT_FALSE(QFileInfo::exists(blob(0)));
}

TEST_F(HubDownloadTest, TheHubsWordCountsWhereTheHeadSaysNothing) {
  served.gguf = "rwkv6";
  served.serve();
  expectFault(DownloadProblem::kNotReadable, "rwkv6");
}

TEST_F(HubDownloadTest, TheFilesHeadBeatsTheHubsWord) {
  served.files[0].bytes = ggufOf("llama");
  served.gguf = "clip";  // of the vision encoder beside it
  served.serve();
  expectModel();
}

TEST_F(HubDownloadTest, AnArchitectureOfAnotherTypeIsNone) {
  served.hub.files[served.revisionPath()].body = "{\"sha\":\"" + served.commit.toLatin1() + "\",\"gguf\":{\"architecture\":7}}";
  expectModel();
}

TEST_F(HubDownloadTest, ARevisionHasItsOwnReference) {
  served.hub.files[QStringLiteral("/api/models/%1/revision/v1.0").arg(served.repository)].body = served.revision();
  request = served.request(cache());
  request->name.revision = QStringLiteral("v1.0");
  begin();
  ASSERT_TRUE(ended());
  ASSERT_FALSE(fault.has_value()) << fault->reason.toStdString();
  EXPECT_EQ(path, snapshot() + QStringLiteral("/Small-Q4_K_M.gguf"));
  EXPECT_EQ(bytes(folder() + QStringLiteral("/refs/v1.0")), served.commit.toLatin1());
  EXPECT_FALSE(QFileInfo::exists(folder() + QStringLiteral("/refs/main")));
  request->place.offline = true;
  begin();
  ASSERT_TRUE(ended());
  EXPECT_FALSE(fault.has_value());
}

TEST_F(HubDownloadTest, WhatIsOnlyPicklesIsRefused) {
  served.files = {{QStringLiteral("config.json"), kVisionConfig, false}, {QStringLiteral("pytorch_model.bin"), QByteArray(1000, 'z')}};
  served.serve();
  expectFault(DownloadProblem::kNotReadable, "safetensors");
}

TEST_F(HubDownloadTest, TheTokenGoesToTheEndpointAlone) {
  request = served.request(cache());
  request->place.token = "hf_secret";
  expectModel();
  for (const LoopbackServer::Request& each : served.hub.requests)
    EXPECT_EQ(each.authorisation, "Bearer hf_secret") << each.path.toStdString();
  ASSERT_FALSE(served.storage.requests.empty());
  for (const LoopbackServer::Request& each : served.storage.requests) EXPECT_EQ(each.authorisation, "") << each.path.toStdString();
}

// A gated repository may be shown to everybody, and its files to those who have agreed.
TEST_F(HubDownloadTest, ATokenThatWasTypedIsSentOnceTheHubWantsOne) {
  int asked = 0;
  const auto gate = [&](ServedFile& file) {
    file.refusals = 1;
    file.refusal = 401;
    file.refusalHeaders = "X-Error-Code: GatedRepo\r\n";
  };
  request = served.request(cache());
  request->typedToken = [&asked](const InterruptToken&) {
    ++asked;
    return QByteArray("hf_typed");
  };
  expectModel();
  EXPECT_EQ(asked, 0) << "nobody wanted one, and the desktop asks its user";
  for (ServedFile* gated : {&served.hub.files[served.revisionPath()], &served.resolved()}) {
    QDir(cache()).removeRecursively();
    served.hub.requests.clear();
    asked = 0;
    gate(*gated);
    expectModel();
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(served.hub.requests.front().authorisation, "");
    EXPECT_EQ(served.hub.requests.back().authorisation, "Bearer hf_typed");
    for (const LoopbackServer::Request& each : served.storage.requests) EXPECT_EQ(each.authorisation, "") << each.path.toStdString();
  }
}

TEST_F(HubDownloadTest, ATypedTokenThatIsRefusedIsToldAndNotSentForEver) {
  int asked = 0;
  request = served.request(cache());
  request->typedToken = [&asked](const InterruptToken&) {
    ++asked;
    return QByteArray("hf_old");
  };
  served.resolved().refusals = 1000;
  served.resolved().refusal = 403;
  served.resolved().refusalHeaders = "X-Error-Code: GatedRepo\r\n";
  expectFault(DownloadProblem::kGated, "");
  EXPECT_EQ(asked, 1);
}

TEST_F(HubDownloadTest, WhatHasComeIsCountedAfterAKill) {
  const app::HubCache hub(cache(), served.repository);
  EXPECT_EQ(hub.incompleteBytes(), 0);
  write(incomplete(0), QByteArray(700, 'x'));
  write(incomplete(1), QByteArray(28, 'x'));
  EXPECT_EQ(hub.incompleteBytes(), 728);
}

TEST_F(HubDownloadTest, TwoFilesComeAtOnce) {
  for (const qsizetype index : {0, 2}) {
    served.stored(index).cutAfter = 10'000;
    served.stored(index).cuts = 1;
    served.stored(index).hangs = true;
  }
  begin();
  EXPECT_TRUE(waitUntil([this] { return QFileInfo(incomplete(0)).size() == 10'000 && QFileInfo(incomplete(2)).size() == 10'000; }));
  download->cancel();
  ASSERT_TRUE(ended());
  EXPECT_EQ(static_cast<int>(fault->problem), static_cast<int>(DownloadProblem::kCancelled));
}

TEST_F(HubDownloadTest, WhatHasComeIsTakenUpWhereItEnded) {
  write(incomplete(0), served.files[0].bytes.left(40'000));
  expectModel();
  bool resumed = false;
  for (const LoopbackServer::Request& each : served.storage.requests) resumed = resumed || each.range == "bytes=40000-";
  EXPECT_TRUE(resumed);
}

TEST_F(HubDownloadTest, WhatIsWholeButUncheckedIsCheckedAndNotAskedFor) {
  write(incomplete(0), served.files[0].bytes);
  write(incomplete(2), served.files[2].bytes);
  expectModel();
  EXPECT_TRUE(served.storage.requests.empty());
}

TEST_F(HubDownloadTest, WithoutTheNetworkWhatIsHereIsFound) {
  expectModel();
  request = served.request(cache());
  request->place.offline = true;
  served.hub.requests.clear();
  expectModel();
  EXPECT_EQ(choice->reason, ChoiceReason::kStored);
  EXPECT_TRUE(served.hub.requests.empty());
  request = served.request(cache(), QStringLiteral("Q6_K"));
  request->place.offline = true;
  begin();
  ASSERT_TRUE(ended());
  EXPECT_EQ(static_cast<int>(fault->problem), static_cast<int>(DownloadProblem::kOffline));
  request.reset();
  served.hub.close();
  expectModel();
  EXPECT_EQ(choice->reason, ChoiceReason::kStored) << "a hub that cannot be reached";
}

TEST_F(HubDownloadTest, AFolderThatIsNotWholeIsNotFoundWithoutTheNetwork) {
  serveFolder();
  expectModel(QString());
  QFile::remove(snapshot() + QStringLiteral("/model-00002-of-00002.safetensors"));
  request = served.request(cache());
  request->place.offline = true;
  begin();
  ASSERT_TRUE(ended());
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(static_cast<int>(fault->problem), static_cast<int>(DownloadProblem::kOffline));
}

TEST_F(HubDownloadTest, AListInPagesIsReadToItsEnd) {
  const std::vector<HubServedFile> all = served.files;
  served.files = {all[0]};
  const QByteArray first = served.tree();
  served.files = {all[2]};
  const QByteArray second = served.tree();
  served.files = all;
  served.serve();
  const QString next = served.treePath() + QStringLiteral("&cursor=two");
  served.hub.files[served.treePath()].body = first;
  served.hub.files[served.treePath()].headers = "Link: <" + served.hub.address(next).toLatin1() + ">; rel=\"next\"\r\n";
  served.hub.files[next].body = second;
  expectModel();
  EXPECT_EQ(choice->projector, QStringLiteral("mmproj-Small-F16.gguf"));
}

TEST_F(HubDownloadTest, ARepositoryThatWasRenamedIsFollowed) {
  const ServedFile answer = served.hub.files[served.revisionPath()];
  served.hub.files[QStringLiteral("/api/models/other/name/revision/main")] = answer;
  ServedFile moved{.status = 307, .location = "/api/models/other/name/revision/main"};
  served.hub.files[served.revisionPath()] = moved;
  expectModel();
}

}  // namespace
}  // namespace winnow::test
