// A GPU that nvidia-smi names: told once, with what an installed Winnow lacks to use it.
#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <optional>

#include "app/gpu/gpu_probe.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/wait_until.h"

namespace winnow::test {
namespace {

class GpuProbeTest : public ::testing::Test {
 protected:
  GpuProbeTest() {
    places.engineFolder = QString::fromStdString(scratch.file("usr/lib/winnow"));
    QDir().mkpath(places.engineFolder);
    places.packageFolder = places.engineFolder;
    places.librariesAreHere = [this] { return libraries; };
    answer("echo 'NVIDIA GeForce RTX 4090'; echo 'NVIDIA T400'");
  }
  // A program in nvidia-smi's place that does this.
  void answer(const QByteArray& script) {
    places.question = QString::fromStdString(scratch.file("nvidia-smi"));
    QFile file(places.question);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("#!/bin/sh\n[ \"$1\" = --query-gpu=name ] || exit 9\n" + script + "\n");
    file.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner | QFileDevice::ExeOwner);
  }
  void putPlugIn() const {
    QFile file(places.engineFolder + QStringLiteral("/libwinnow_cuda.so"));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  }
  // Nothing: nothing is told, or nobody was asked.
  std::optional<app::UnusedGpu> found() const {
    app::GpuProbe probe(places);
    std::optional<app::UnusedGpu> gpu;
    QObject::connect(&probe, &app::GpuProbe::found, [&gpu](const app::UnusedGpu& each) { gpu = each; });
    auto* process = probe.findChild<QProcess*>();
    probe.look();
    if (process != nullptr) waitUntil([process] { return process->state() == QProcess::NotRunning; });
    return gpu;
  }

  ScratchFolder scratch;
  app::GpuProbe::Places places;
  bool libraries = false;
};

TEST_F(GpuProbeTest, SaysWhichGpuLacksThePlugInThenTheLibraries) {
  std::optional<app::UnusedGpu> gpu = found();
  ASSERT_TRUE(gpu.has_value());
  EXPECT_EQ(gpu->name, QStringLiteral("NVIDIA GeForce RTX 4090"));
  EXPECT_EQ(static_cast<int>(gpu->lack), static_cast<int>(app::GpuLack::kPlugIn));
  putPlugIn();
  gpu = found();
  ASSERT_TRUE(gpu.has_value());
  EXPECT_EQ(static_cast<int>(gpu->lack), static_cast<int>(app::GpuLack::kLibraries));
  libraries = true;
  EXPECT_FALSE(found().has_value());
}

TEST_F(GpuProbeTest, ATarballIsNotToldOfAPackageThatItCannotTake) {
  places.packageFolder = QStringLiteral("/usr/lib/winnow");
  EXPECT_FALSE(found().has_value());
  putPlugIn();
  ASSERT_TRUE(found().has_value());
}

TEST_F(GpuProbeTest, SaysNothingWhereNvidiaSmiDoesNotAnswer) {
  answer("echo 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver'; exit 9");
  EXPECT_FALSE(found().has_value());
  answer("exit 0");
  EXPECT_FALSE(found().has_value());
  places.question = QStringLiteral("/nowhere/nvidia-smi");
  EXPECT_FALSE(found().has_value());
}

TEST_F(GpuProbeTest, AsksNothingInTheTreeWhereItWasBuiltOrOfANamedPlugIn) {
  answer("touch \"$0.asked\"; echo 'NVIDIA T400'");
  places.plugInIsNamed = true;
  EXPECT_FALSE(found().has_value());
  places.plugInIsNamed = false;
  places.engineFolder = QString::fromStdString(scratch.file("build/release/bin"));
  EXPECT_FALSE(found().has_value());
  EXPECT_FALSE(QFile::exists(places.question + QStringLiteral(".asked")));
}

}  // namespace
}  // namespace winnow::test
