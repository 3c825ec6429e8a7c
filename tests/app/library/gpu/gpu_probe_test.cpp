// A GPU that nvidia-smi names: with its memory where it is used, else with what an installed Winnow lacks to use it.
#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <optional>

#include "app/library/gpu/gpu_probe.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/wait_until.h"

namespace winnow::test {
namespace {

using app::GpuReadiness;

class GpuProbeTest : public ::testing::Test {
 protected:
  GpuProbeTest() {
    places.engineFolder = QString::fromStdString(scratch.file("usr/lib/winnow"));
    QDir().mkpath(places.engineFolder);
    places.packageFolder = places.engineFolder;
    places.librariesAreHere = [this] { return libraries; };
    answer("echo 'NVIDIA T400, 2048'; echo 'NVIDIA GeForce RTX 4090, 24564'");
  }
  // A program in nvidia-smi's place that does this.
  void answer(const QByteArray& script) {
    places.question = QString::fromStdString(scratch.file("nvidia-smi"));
    QFile file(places.question);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("#!/bin/sh\n[ \"$1\" = --query-gpu=name,memory.total ] || exit 9\n" + script + "\n");
    file.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner | QFileDevice::ExeOwner);
  }
  void putPlugIn() const {
    QFile file(places.engineFolder + QStringLiteral("/libwinnow_cuda.so"));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  }
  struct Told {
    std::optional<app::UnusedGpu> found;
    std::optional<app::GpuFacts> used;
    bool nothing() const { return !found && !used; }
  };
  // Nothing: nothing is told, or nobody was asked.
  Told told() const {
    app::GpuProbe probe(places);
    Told told;
    QObject::connect(&probe, &app::GpuProbe::found, [&told](const app::UnusedGpu& each) { told.found = each; });
    QObject::connect(&probe, &app::GpuProbe::used, [&told](const app::GpuFacts& each) { told.used = each; });
    auto* process = probe.findChild<QProcess*>();
    probe.look();
    if (process != nullptr) waitUntil([process] { return process->state() == QProcess::NotRunning; });
    return told;
  }

  ScratchFolder scratch;
  app::GpuPlaces places;
  bool libraries = false;
};

TEST_F(GpuProbeTest, SaysWhichGpuLacksThePlugInThenTheLibraries) {
  Told gpu = told();
  ASSERT_TRUE(gpu.found && !gpu.used);
  EXPECT_EQ(gpu.found->name, QStringLiteral("NVIDIA GeForce RTX 4090")) << "of two the one with more memory";
  EXPECT_EQ(gpu.found->lack, GpuReadiness::kNoPlugIn);
  putPlugIn();
  gpu = told();
  ASSERT_TRUE(gpu.found && !gpu.used);
  EXPECT_EQ(gpu.found->lack, GpuReadiness::kNoLibraries);
  libraries = true;
  gpu = told();
  ASSERT_TRUE(gpu.used && !gpu.found);
  EXPECT_EQ(gpu.used->name, QStringLiteral("NVIDIA GeForce RTX 4090"));
  EXPECT_EQ(gpu.used->bytes, qint64{24'564} << 20);
}

TEST_F(GpuProbeTest, ATarballIsNotToldOfAPackageThatItCannotTake) {
  places.packageFolder = QStringLiteral("/usr/lib/winnow");
  EXPECT_TRUE(told().nothing());
  putPlugIn();
  EXPECT_TRUE(told().found.has_value());
}

TEST_F(GpuProbeTest, SaysNothingWhereNvidiaSmiDoesNotAnswer) {
  answer("echo 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver'; exit 9");
  EXPECT_TRUE(told().nothing());
  answer("exit 0");
  EXPECT_TRUE(told().nothing());
  answer("echo 'No devices were found'");
  EXPECT_TRUE(told().nothing());
  places.question = QStringLiteral("/nowhere/nvidia-smi");
  EXPECT_TRUE(told().nothing());
}

TEST_F(GpuProbeTest, ATreeWithoutAPlugInAsksNobody) {
  answer("touch \"$0.asked\"; echo 'NVIDIA T400, 2048'");
  const auto asked = [&] { return QFile::exists(places.question + QStringLiteral(".asked")); };
  places.namedPlugIn = QString::fromStdString(scratch.file("nowhere.so"));
  EXPECT_TRUE(told().nothing());
  places.namedPlugIn.clear();
  places.engineFolder = QString::fromStdString(scratch.file("build/release/bin"));
  EXPECT_TRUE(told().nothing());
  EXPECT_FALSE(asked());
  QDir().mkpath(places.engineFolder);
  putPlugIn();
  EXPECT_TRUE(told().used.has_value()) << "the launcher has brought its libraries";
  EXPECT_TRUE(asked());
}

TEST_F(GpuProbeTest, ANamedPlugInIsUsedWithWhateverLibrariesItFinds) {
  putPlugIn();
  places.namedPlugIn = places.engineFolder + QStringLiteral("/libwinnow_cuda.so");
  EXPECT_TRUE(told().used.has_value());
}

TEST_F(GpuProbeTest, WhoWaitsForTheAnswerLearnsTheMemory) {
  EXPECT_EQ(app::usedGpuBytes(places), 0) << "without a plug-in it is not used";
  putPlugIn();
  EXPECT_EQ(app::usedGpuBytes(places), 0) << "nor without libraries";
  libraries = true;
  EXPECT_EQ(app::usedGpuBytes(places), qint64{24'564} << 20);
  answer("echo 'NVIDIA GB10, [N/A]'");
  EXPECT_EQ(app::usedGpuBytes(places), 0) << "it has no memory of its own";
  answer("exit 9");
  EXPECT_EQ(app::usedGpuBytes(places), 0);
}

TEST(GpuAnswer, IsReadWhateverTheDriverSays) {
  EXPECT_FALSE(app::readGpuAnswer("").has_value());
  EXPECT_FALSE(app::readGpuAnswer("\n\n").has_value());
  EXPECT_FALSE(app::readGpuAnswer(", 24564\n").has_value());
  const auto bytes = [](const char* answer) { return app::readGpuAnswer(answer).value().bytes; };
  EXPECT_EQ(bytes("NVIDIA H100 80GB HBM3, 81559\n"), qint64{81'559} << 20);
  EXPECT_EQ(bytes("A name, with a comma, 2048"), qint64{2'048} << 20);
  EXPECT_EQ(bytes("NVIDIA T400, -5\n"), 0);
  EXPECT_EQ(bytes("NVIDIA T400, 99999999999999\n"), 0);
}

}  // namespace
}  // namespace winnow::test
