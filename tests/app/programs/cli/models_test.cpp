// `winnow-cli models` over a made-up home: the list, verify, the way to the trash, and what is no model.
#include <gtest/gtest.h>

#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <nlohmann/json.hpp>

#include "app/library/models/model_uses.h"
#include "app/programs/cli/models_command.h"
#include "command_run.h"
#include "tests/support/source_folder.h"

namespace winnow::testing {
namespace {

using app::ModelOrigin;
using nlohmann::json;

class ModelsCommand : public ::testing::Test {
 protected:
  QString at(const std::string& path) const { return QString::fromStdString(scratch.file(path)); }
  void write(const std::string& path, const QByteArray& bytes) {
    QDir().mkpath(QFileInfo(at(path)).path());
    QFile file(at(path));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(bytes);
  }
  // The demo model, as a snapshot of the hub's cache.
  std::string put_demo() {
    QDir().mkpath(at("hub/models--owner--shapes/snapshots"));
    const std::string path = scratch.file("hub/models--owner--shapes/snapshots/c0ffee");
    EXPECT_TRUE(QFile::link(QString::fromStdString(source_folder() + "/resources/demo/model"), QString::fromStdString(path)));
    return path;
  }
  ProgramRun models(const std::string& action = {}, const std::string& model = {}, cli::OutputFormat format = cli::OutputFormat::kText) {
    cli::ModelsOptions options;
    options.action = action;
    options.named = model;
    options.format = format;
    const app::ModelPlaces places{{{ModelOrigin::kWinnow, at("own")}, {ModelOrigin::kHuggingFace, at("hub")}},
                                  at("data"),
                                  {memory, gpu},
                                  [this](const QString& path) { return trash && QDir().rename(path, at("trashed")); }};
    ProgramRun run;
    {
      const StandardStreams streams("/dev/null", scratch.file("out"), scratch.file("err"));
      run.exit_code = static_cast<int>(cli::run_models(options, places));
    }
    run.out = file_text(scratch.file("out"));
    run.err = file_text(scratch.file("err"));
    return run;
  }
  json listed() { return json::parse(models({}, {}, cli::OutputFormat::kJson).out); }

  ScratchFolder scratch;
  qint64 memory = qint64{8} << 30;
  qint64 gpu = 0;
  bool trash = true;
};

TEST_F(ModelsCommand, NothingHereNamesTheWayToGetOne) {
  const ProgramRun run = models();
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, "no models here yet; see: ./winnow get\n");
  EXPECT_EQ(listed(), json::array());
}

TEST_F(ModelsCommand, ListsWhatEachIsAndNeeds) {
  const std::string path = put_demo();
  app::noteModelUse(at("data"), QString::fromStdString(path), QDateTime(QDate(2026, 11, 3), QTime(12, 0)));
  const ProgramRun run = models();
  EXPECT_EQ(run.exit_code, 0);
  for (const char* part : {"owner/shapes (Hugging Face)\n", "sees videos and images", "context ", " for each 1,000 words read",
                           "Fits: needs about ", "last used: 2026-11-03\n"})
    EXPECT_NE(run.out.find(part), std::string::npos) << part << " in " << run.out;
  const json model = listed().at(0);
  EXPECT_EQ(model["name"], "owner/shapes");
  EXPECT_EQ(model["path"], path);
  EXPECT_EQ(model["origin"], "Hugging Face");
  for (const char* fact : {"runs", "reads_images", "reads_videos", "fits"}) EXPECT_EQ(model[fact], true) << fact << " of " << model;
  EXPECT_GT(model["kv_bytes_per_1000_tokens"], 0);
  EXPECT_EQ(model["state_bytes"], 0);
  EXPECT_GT(model["needed_bytes"], model["bytes"]);
  EXPECT_EQ(model["last_used"], "2026-11-03");
}

TEST_F(ModelsCommand, SaysWhyOneDoesNotFitAndWhyAnotherCannotBeRead) {
  put_demo();
  write("own/broken.gguf", "GGUF and nothing else");
  memory = qint64{64} << 20;
  const ProgramRun run = models();
  EXPECT_NE(run.out.find("Does not fit: needs about "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("broken (Winnow)\n"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("  Cannot be read: "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("last used: never\n"), std::string::npos) << run.out;
  EXPECT_TRUE(listed().at(0).contains("fault"));
  EXPECT_EQ(listed().at(1)["fits"], false);
}

TEST_F(ModelsCommand, SaysWhetherAModelFitsTheGpu) {
  put_demo();
  EXPECT_TRUE(listed().at(0)["fits_gpu"].is_null()) << "there is none";
  gpu = qint64{24'000'000'000};
  ProgramRun run = models();
  EXPECT_NE(run.out.find("Fits the GPU: needs about "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find(" of its 24.0 GB (weights "), std::string::npos) << run.out;
  EXPECT_EQ(listed().at(0)["fits_gpu"], true);
  gpu = qint64{1} << 30;
  run = models();
  EXPECT_NE(run.out.find("Fits memory, but with its cache not the GPU (1.1 GB): needs about "), std::string::npos) << run.out;
  EXPECT_EQ(listed().at(0)["fits"], true);
  EXPECT_EQ(listed().at(0)["fits_gpu"], false);
  memory = qint64{64} << 20;
  run = models();
  EXPECT_NE(run.out.find("this computer has 67 MB of memory and a GPU with 1.1 GB"), std::string::npos) << run.out;
}

TEST_F(ModelsCommand, VerifyFindsAByteThatChanged) {
  const QByteArray bytes = "GGUF model";
  const std::string hash = QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex().toStdString();
  write("hub/models--a--b/blobs/" + hash, bytes);
  QDir().mkpath(at("hub/models--a--b/snapshots/c0ffee"));
  ASSERT_TRUE(QFile::link(QString::fromStdString("../../blobs/" + hash), at("hub/models--a--b/snapshots/c0ffee/M-Q8_0.gguf")));
  ProgramRun run = models("verify", "a/b");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("M-Q8_0.gguf: right\n"), std::string::npos) << run.out;
  EXPECT_EQ(models("verify", "a/b:q8_0").exit_code, 0);
  write("hub/models--a--b/blobs/" + hash, "GGUF xodel");
  run = models("verify", "a/b");
  EXPECT_EQ(run.exit_code, static_cast<int>(cli::ExitStatus::kRefusedInput));
  EXPECT_NE(run.out.find("M-Q8_0.gguf: damaged\n"), std::string::npos) << run.out;
  EXPECT_NE(run.err.find("remove it (winnow-cli models remove) and get it again"), std::string::npos) << run.err;
  EXPECT_EQ(json::parse(models("verify", "a/b", cli::OutputFormat::kJson).out).at(0)["state"], "damaged");
}

TEST_F(ModelsCommand, RemoveMovesItToTheTrashOrSaysWhatStays) {
  write("own/small.gguf", "GGUF and nothing else");
  trash = false;
  ProgramRun run = models("remove", "small");
  EXPECT_EQ(run.exit_code, static_cast<int>(cli::ExitStatus::kRefusedInput));
  EXPECT_NE(run.err.find("small.gguf could not be moved to the trash"), std::string::npos) << run.err;
  trash = true;
  run = models("remove", scratch.file("own/small.gguf"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("small is in the trash: "), std::string::npos) << run.out;
  EXPECT_TRUE(QFile::exists(at("trashed")));
  EXPECT_EQ(models().out, "no models here yet; see: ./winnow get\n");
}

TEST_F(ModelsCommand, ANameMustBeOneModels) {
  write("own/one/same.gguf", "GGUF and nothing else");
  write("own/two/same.gguf", "GGUF and another one");
  ProgramRun run = models("remove", "same");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("same names several models; give the path of one:\n"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find(scratch.file("own/two/same.gguf")), std::string::npos) << run.err;
  run = models("verify", "nosuch");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.err, "winnow-cli: nosuch: no such model here; see: winnow-cli models\n");
}

}  // namespace
}  // namespace winnow::testing
