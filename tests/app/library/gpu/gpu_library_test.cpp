// The GPU's libraries: which wheels they are, and that they come, are unpacked and are not fetched twice.
#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <optional>

#include "app/library/gpu/gpu_libraries.h"
#include "app/library/gpu/gpu_library_fetch.h"
#include "engine/device/cuda_libraries.h"
#include "engine/device/cuda_plugin.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/served_offer.h"
#include "tests/support/wait_until.h"

namespace winnow::test {
namespace {

using app::DownloadFault;
using app::DownloadProblem;
using app::GpuLibraries;
using app::Wheel;

QByteArray contentOf(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

// A machine with the launcher and one with the package compute with the same files.
TEST(GpuLibraries, AreTheWheelsThatTheLauncherFetches) {
  const QString source = QStringLiteral(WINNOW_SOURCE_DIR);
  const QByteArray pinned =
      contentOf(source + QStringLiteral("/packaging/deps/libtorch.txt")) + contentOf(source + QStringLiteral("/packaging/deps/cuda.txt"));
  const GpuLibraries libraries = app::gpuLibraries(source + QStringLiteral("/resources"));
  ASSERT_GT(libraries.wheels.size(), 10U);
  EXPECT_TRUE(pinned.contains("\ntorch==" + libraries.torch.toLatin1() + ' ')) << libraries.torch.toStdString();
  for (const Wheel& wheel : libraries.wheels) {
    const QByteArray version = wheel.file.section(QLatin1Char('-'), 1, 1).toLatin1();
    const QByteArray line = '\n' + wheel.project.toLatin1() + "==" + version + " --hash=sha256:" + wheel.sha256 + '\n';
    EXPECT_TRUE(pinned.contains(line)) << line.constData();
  }
}

TEST(GpuLibraries, AreNamedAsTheEngineReadsIt) {
  EXPECT_STREQ(app::kGpuLibraryVariable, kCudaLibrariesVariable);
  EXPECT_STREQ(app::kGpuPlugInFile, kCudaPluginFile);
  qputenv(kCudaPluginVariable, "/somewhere/libwinnow_cuda.so");
  EXPECT_EQ(app::GpuPlaces::standard(QStringLiteral("/data")).namedPlugIn, QStringLiteral("/somewhere/libwinnow_cuda.so"));
  qunsetenv(kCudaPluginVariable);
}

TEST(GpuLibraries, ATableThatIsMissingNamesNothingAndIsNeverUnpacked) {
  const GpuLibraries none = app::gpuLibraries(QStringLiteral("/nowhere"));
  EXPECT_TRUE(none.wheels.empty());
  EXPECT_FALSE(app::areUnpacked(QStringLiteral("/nowhere"), none));
}

class GpuLibraryDownloadTest : public ::testing::Test {
 protected:
  GpuLibraryDownloadTest() : source(loopbackSource(server)) {
    libraries.torch = QStringLiteral("2.11.0");
    offer(QStringLiteral("torch"), QStringLiteral("torch-2.11.0-cp311.whl"),
          {{"torch/lib/libtorch_cuda.so", QByteArray(50'000, 'c'), true},
           {"torch/lib/libtorch_cpu.so", "not this one"},
           {"torch/__init__.py", "nor code"}});
    offer(QStringLiteral("nvidia-cublas"), QStringLiteral("nvidia_cublas-13.whl"),
          {{"nvidia/cu13/lib/libcublas.so.13", QByteArray(70'000, 'b')},
           {"nvidia/cu13/lib/../../../../outside.so", "never"},
           {"nvidia/cu13/include/cublas.h", "no header"}});
  }

  void offer(const QString& project, const QString& file, const std::vector<ZipEntry>& entries) {
    const QByteArray wheel = zipArchive(entries);
    libraries.wheels.push_back({project, file, wheel.size(), sha256Of(wheel)});
    ServedFile page{.body = "<a href=\"/files/" + file.toLatin1() + "#sha256=" + sha256Of(wheel) + "\">it</a>"};
    server.files[QStringLiteral("/simple/%1/").arg(project)] = page;
    server.files[QStringLiteral("/files/") + file].body = wheel;
  }
  QString folder() const { return app::gpuLibraryFolder(QString::fromStdString(scratch.file("data")), libraries); }
  QString library(const char* path) const { return folder() + QLatin1Char('/') + QLatin1String(path); }
  void begin() {
    fault.reset();
    file.clear();
    download = std::make_unique<app::GpuLibraryDownload>(libraries, folder(), source);
    QObject::connect(download.get(), &app::ModelDownload::progressed, [this](const app::DownloadProgress& each) {
      if (each.stage == app::DownloadStage::kDownloading) told.push_back(each);
    });
    QObject::connect(download.get(), &app::ModelDownload::finished, [this](const QString& path) { file = path; });
    QObject::connect(download.get(), &app::ModelDownload::failed, [this](const DownloadFault& each) { fault = each; });
    download->start();
  }
  bool ended() {
    return waitUntil([this] { return fault.has_value() || !file.isEmpty(); });
  }

  ScratchFolder scratch;
  LoopbackServer server;
  app::DownloadSource source;
  GpuLibraries libraries;
  std::unique_ptr<app::GpuLibraryDownload> download;
  std::optional<DownloadFault> fault;
  QString file;
  std::vector<app::DownloadProgress> told;
};

TEST_F(GpuLibraryDownloadTest, TakesTheLibrariesAloneOutOfEveryWheel) {
  begin();
  ASSERT_TRUE(ended());
  ASSERT_FALSE(fault.has_value()) << fault->reason.toStdString();
  EXPECT_EQ(file, folder());
  EXPECT_TRUE(app::areUnpacked(folder(), libraries));
  EXPECT_EQ(contentOf(library("torch/lib/libtorch_cuda.so")), QByteArray(50'000, 'c'));
  EXPECT_EQ(contentOf(library("nvidia/cu13/lib/libcublas.so.13")), QByteArray(70'000, 'b'));
  EXPECT_EQ(QDir(library("torch/lib")).entryList(QDir::Files).size(), 1);
  EXPECT_FALSE(QFileInfo::exists(library("torch/__init__.py")));
  EXPECT_FALSE(QFileInfo::exists(library("nvidia/cu13/include")));
  EXPECT_FALSE(QFileInfo::exists(QString::fromStdString(scratch.file("data/outside.so"))));
  EXPECT_TRUE(QDir(folder()).entryList({QStringLiteral("*.part")}, QDir::Files).isEmpty());
  // One download to who waits for it.
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().total, libraries.bytes());
  EXPECT_GT(told.back().done, libraries.wheels[0].bytes);
  for (std::size_t i = 1; i < told.size(); ++i) EXPECT_LE(told[i - 1].done, told[i].done);
}

TEST_F(GpuLibraryDownloadTest, WhatIsUnpackedIsNotFetchedAgain) {
  ServedFile& second = server.files[QStringLiteral("/files/nvidia_cublas-13.whl")];
  const ServedFile whole = second;
  second.status = 404;
  begin();
  ASSERT_TRUE(ended());
  ASSERT_TRUE(fault.has_value());
  EXPECT_FALSE(app::areUnpacked(folder(), libraries));
  server.files[QStringLiteral("/files/nvidia_cublas-13.whl")] = whole;
  server.requests.clear();
  begin();
  ASSERT_TRUE(ended());
  ASSERT_FALSE(fault.has_value());
  for (const LoopbackServer::Request& request : server.requests) EXPECT_FALSE(request.path.contains(QStringLiteral("torch")));
  server.requests.clear();
  begin();
  ASSERT_TRUE(ended());
  EXPECT_TRUE(server.requests.empty());
}

TEST_F(GpuLibraryDownloadTest, AWheelGoesOnWhereItEnded) {
  ServedFile& second = server.files[QStringLiteral("/files/nvidia_cublas-13.whl")];
  second.cutAfter = 20'000;
  second.hangs = true;
  source.patienceMs = 60'000;
  begin();
  QFileInfo part(folder() + QStringLiteral("/nvidia_cublas-13.whl.part"));
  ASSERT_TRUE(waitUntil([part]() mutable {
    part.refresh();
    return part.size() > 10'000;
  }));
  download.reset();  // as a program that ends
  server.files[QStringLiteral("/files/nvidia_cublas-13.whl")].cutAfter = -1;
  server.requests.clear();
  begin();
  ASSERT_TRUE(ended());
  ASSERT_FALSE(fault.has_value()) << fault->reason.toStdString();
  EXPECT_FALSE(server.requests.back().range.isEmpty());
}

TEST_F(GpuLibraryDownloadTest, AWheelWithAnotherHashIsNeverUnpacked) {
  server.files[QStringLiteral("/files/torch-2.11.0-cp311.whl")].body[100] ^= 1;
  begin();
  ASSERT_TRUE(ended());
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(static_cast<int>(fault->problem), static_cast<int>(DownloadProblem::kHashDiffers));
  EXPECT_FALSE(QFileInfo::exists(library("torch")));
}

TEST_F(GpuLibraryDownloadTest, ThoseOfAnotherLibtorchMakeRoomWhenAllAreHere) {
  const QString old = QFileInfo(folder()).dir().filePath(QStringLiteral("torch-2.10.0"));
  ASSERT_TRUE(QDir().mkpath(old + QStringLiteral("/torch/lib")));
  begin();
  ASSERT_TRUE(ended());
  EXPECT_FALSE(QFileInfo::exists(old));
  EXPECT_TRUE(app::areUnpacked(folder(), libraries));
}

}  // namespace
}  // namespace winnow::test
