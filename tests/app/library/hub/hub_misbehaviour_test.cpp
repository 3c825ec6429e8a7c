// A hub, a storage host, a network or a disk that misbehaves, in forty-odd ways: what is said of each, and that no bad byte is kept as
// good.
#include <functional>

#include "app/library/downloads/part_file.h"
#include "tests/app/library/hub/hub_run.h"

namespace winnow::test {
namespace {

using app::DownloadProblem;

struct Misbehaviour {
  const char* name;
  std::function<void(ServedHub&, app::HubRequest&)> act;
  DownloadProblem problem;
  const char* reason = "";
};

void refuse(ServedFile& file, int status, const QByteArray& headers = {}) {
  file.refusals = 1000;
  file.refusal = status;
  file.refusalHeaders = headers;
}

QByteArray replaced(QByteArray text, const QByteArray& what, const QByteArray& by) { return text.replace(what, by); }

class HubRefuses : public HubRun, public ::testing::WithParamInterface<Misbehaviour> {};

// Each ends in its own fault, refers to nothing, and the ordinary hub is understood afterwards.
TEST_P(HubRefuses, InItsOwnWordsAndKeepsNothingBad) {
  request = served.request(cache());
  request->source.patienceMs = 150;
  GetParam().act(served, *request);
  expectFault(GetParam().problem, GetParam().reason);
  served.serve();
  request.reset();
  expectModel();
  EXPECT_EQ(bytes(path), served.files[0].bytes);
}

const Misbehaviour kMisbehaviours[] = {
    {"NoSuchRepository",
     [](ServedHub& s, app::HubRequest&) { refuse(s.hub.files[s.revisionPath()], 404, "X-Error-Code: RepoNotFound\r\n"); },
     DownloadProblem::kNoSuchModel},
    {"PrivateWithoutToken",
     [](ServedHub& s, app::HubRequest&) { refuse(s.hub.files[s.revisionPath()], 401, "X-Error-Code: RepoNotFound\r\n"); },
     DownloadProblem::kNoSuchModel, "no token"},
    {"TokenThatIsNotAccepted",
     [](ServedHub& s, app::HubRequest& r) {
       r.place.token = "hf_old";
       refuse(s.hub.files[s.revisionPath()], 401);
     },
     DownloadProblem::kNoSuchModel, "not accepted"},
    {"GatedWithoutToken", [](ServedHub& s, app::HubRequest&) { refuse(s.resolved(), 401, "X-Error-Code: GatedRepo\r\n"); },
     DownloadProblem::kNeedsToken},
    {"GatedAndNotGranted",
     [](ServedHub& s, app::HubRequest& r) {
       r.place.token = "hf_mine";
       refuse(s.resolved(), 403, "X-Error-Code: GatedRepo\r\n");
     },
     DownloadProblem::kGated},
    {"ForbiddenWithoutACode", [](ServedHub& s, app::HubRequest&) { refuse(s.hub.files[s.revisionPath()], 403); }, DownloadProblem::kGated},
    {"AFileGoneMeanwhile", [](ServedHub& s, app::HubRequest&) { refuse(s.resolved(), 404, "X-Error-Code: EntryNotFound\r\n"); },
     DownloadProblem::kChanged},
    {"AskedToWaitTooLong", [](ServedHub& s, app::HubRequest&) { refuse(s.hub.files[s.revisionPath()], 429, "Retry-After: 3600\r\n"); },
     DownloadProblem::kTooManyRequests},
    {"AskedToWaitByRateLimit",
     [](ServedHub& s, app::HubRequest&) { refuse(s.hub.files[s.revisionPath()], 429, "RateLimit: \"api\";r=0;t=900\r\n"); },
     DownloadProblem::kTooManyRequests},
    {"AskedToWaitAgainAndAgain", [](ServedHub& s, app::HubRequest&) { refuse(s.stored(), 429); }, DownloadProblem::kTooManyRequests},
    {"BrokenInside", [](ServedHub& s, app::HubRequest&) { refuse(s.hub.files[s.revisionPath()], 500); }, DownloadProblem::kServerRefused,
     "500"},
    {"StorageBroken", [](ServedHub& s, app::HubRequest&) { refuse(s.stored(), 503); }, DownloadProblem::kServerRefused, "503"},
    {"StorageSignatureExpired", [](ServedHub& s, app::HubRequest&) { refuse(s.stored(), 400); }, DownloadProblem::kServerRefused, "400"},
    {"CaptivePortalInTheApi",
     [](ServedHub& s, app::HubRequest&) { s.hub.files[s.revisionPath()].body = "<!DOCTYPE html><html>Log in to Airport WiFi</html>"; },
     DownloadProblem::kOtherAnswer, "web page"},
    {"CaptivePortalInTheList", [](ServedHub& s, app::HubRequest&) { s.hub.files[s.treePath()].body = "\n<html></html>"; },
     DownloadProblem::kOtherAnswer, "web page"},
    {"CaptivePortalInTheFile",
     [](ServedHub& s, app::HubRequest&) {
       s.stored().body = "<html>Log in</html>";
       s.stored().headers = "Content-Type: text/html; charset=utf-8\r\n";
     },
     DownloadProblem::kOtherAnswer, "web page"},
    {"CaptivePortalByRedirect",
     [](ServedHub& s, app::HubRequest&) {
       s.hub.files[QStringLiteral("/login")].body = "<html>Log in</html>";
       s.hub.files[s.revisionPath()].status = 302;
       s.hub.files[s.revisionPath()].location = "/login";
     },
     DownloadProblem::kOtherAnswer, "web page"},
    {"EmptyAnswer", [](ServedHub& s, app::HubRequest&) { s.hub.files[s.revisionPath()].body.clear(); }, DownloadProblem::kOtherAnswer},
    {"JsonOfSomethingElse", [](ServedHub& s, app::HubRequest&) { s.hub.files[s.revisionPath()].body = R"({"error":"maintenance"})"; },
     DownloadProblem::kOtherAnswer},
    {"CommitThatIsNone", [](ServedHub& s, app::HubRequest&) { s.hub.files[s.revisionPath()].body = R"({"sha":"../../../../etc"})"; },
     DownloadProblem::kOtherAnswer, "not a commit"},
    {"JsonThatIsCutOff", [](ServedHub& s, app::HubRequest&) { s.hub.files[s.treePath()].body.chop(40); }, DownloadProblem::kOtherAnswer},
    {"JsonThatIsDeep", [](ServedHub& s, app::HubRequest&) { s.hub.files[s.treePath()].body = QByteArray(100'000, '['); },
     DownloadProblem::kOtherAnswer},
    {"ListThatIsNone", [](ServedHub& s, app::HubRequest&) { s.hub.files[s.treePath()].body = "{}"; }, DownloadProblem::kOtherAnswer,
     "list"},
    {"ListWithoutEnd",
     [](ServedHub& s, app::HubRequest&) {
       s.hub.files[s.treePath()].headers = "Link: <" + s.hub.address(s.treePath()).toLatin1() + ">; rel=\"next\"\r\n";
     },
     DownloadProblem::kOtherAnswer, "without end"},
    {"ListThatGoesOnElsewhere",
     [](ServedHub& s, app::HubRequest&) {
       s.hub.files[s.treePath()].headers = "Link: <" + s.storage.address(QStringLiteral("/more")).toLatin1() + ">; rel=\"next\"\r\n";
     },
     DownloadProblem::kOtherAnswer, "elsewhere"},
    {"PathThatLeadsOut",
     [](ServedHub& s, app::HubRequest&) {
       s.hub.files[s.treePath()].body = replaced(s.tree(), "Small-Q4_K_M.gguf", "../../../Small-Q4_K_M.gguf");
     },
     DownloadProblem::kNotReadable, "file name"},
    {"PathFromTheRoot",
     [](ServedHub& s, app::HubRequest&) { s.hub.files[s.treePath()].body = replaced(s.tree(), "\"Small-Q4_K_M", "\"/tmp/Small-Q4_K_M"); },
     DownloadProblem::kNotReadable, "file name"},
    {"PathWithAnEscape",
     [](ServedHub& s, app::HubRequest&) {
       s.hub.files[s.treePath()].body = replaced(s.tree(), "\"Small-Q4_K_M", "\"\\u001b[2JSmall-Q4_K_M");
     },
     DownloadProblem::kNotReadable, "file name"},
    {"HashThatIsAPath",
     [](ServedHub& s, app::HubRequest&) {
       s.hub.files[s.treePath()].body =
           replaced(s.tree(), ServedHub::hashOf(s.files[0]), "../../../../../../../../../../home/someone/.ssh/authorized_keys12345");
     },
     DownloadProblem::kNotReadable},
    {"SizeBelowZero",
     [](ServedHub& s, app::HubRequest&) { s.hub.files[s.treePath()].body = replaced(s.tree(), "\"size\":100004", "\"size\":-1"); },
     DownloadProblem::kNotReadable},
    {"SizeThatIsAText",
     [](ServedHub& s, app::HubRequest&) { s.hub.files[s.treePath()].body = replaced(s.tree(), "\"size\":100004", "\"size\":\"much\""); },
     DownloadProblem::kNotReadable, "lists a file that is none"},
    {"ARefusalWithoutEnd",
     [](ServedHub& s, app::HubRequest&) {
       s.stored().status = 404;
       s.stored().body = QByteArray(4 << 20, 'x');
       s.stored().cutAfter = 3 << 20;
       s.stored().hangs = true;
     },
     DownloadProblem::kChanged},
    {"AnotherFileUpstream",
     [](ServedHub& s, app::HubRequest&) {
       s.resolved().headers = replaced(s.resolved().headers, ServedHub::hashOf(s.files[0]), QByteArray(64, 'a'));
     },
     DownloadProblem::kChanged, "another hash"},
    {"AnotherLength", [](ServedHub& s, app::HubRequest&) { s.stored().body += "more"; }, DownloadProblem::kHashDiffers, "bytes"},
    {"OtherBytes", [](ServedHub& s, app::HubRequest&) { s.stored().body[5000] = 'X'; }, DownloadProblem::kHashDiffers, "hash"},
    {"OtherBytesOfASmallFile",
     [](ServedHub& s, app::HubRequest&) {
       s.files.push_back({QStringLiteral("mmproj-Small-BF16.gguf"), "GGUFsmall", false});
       s.files.erase(s.files.begin() + 2, s.files.begin() + 4);
       s.serve();
       s.resolved(3).body = "GGUFSMALL";
       s.files.erase(s.files.begin() + 3);
       s.files.push_back({QStringLiteral("mmproj-Small-F16.gguf"), "GGUF" + QByteArray(50'000, 'p')});
     },
     DownloadProblem::kHashDiffers, "hash"},
    {"BytesWithoutEnd",
     [](ServedHub& s, app::HubRequest&) {
       s.stored().body += QByteArray(4 << 20, 'x');
       s.stored().saysLength = false;
     },
     DownloadProblem::kHashDiffers, "more came"},
    {"AnotherRange",
     [](ServedHub& s, app::HubRequest&) {
       s.stored().status = 206;
       s.stored().headers = "Content-Range: bytes 500-1000/100004\r\n";
     },
     DownloadProblem::kServerRefused, "another part"},
    {"CutAtTheSamePlaceForEver",
     [](ServedHub& s, app::HubRequest&) {
       s.stored().cutAfter = 30'000;
       s.stored().ranges = false;
     },
     DownloadProblem::kNoNetwork},
    {"Silence",
     [](ServedHub& s, app::HubRequest&) {
       s.stored().cutAfter = 0;
       s.stored().hangs = true;
     },
     DownloadProblem::kNoNetwork, "nothing came"},
    {"Dripping", [](ServedHub& s, app::HubRequest&) { s.stored().dripMs = 20; }, DownloadProblem::kNoNetwork, "too slow"},
    {"AHeadWithoutEnd", [](ServedHub& s, app::HubRequest&) { s.hub.files[s.revisionPath()].endlessHead = true; },
     DownloadProblem::kNoNetwork, "head"},
    {"RedirectsInACircle", [](ServedHub& s, app::HubRequest&) { s.resolved().location = s.resolvePath(s.files[0].path).toLatin1(); },
     DownloadProblem::kServerRefused, "from one address to another"},
    {"RedirectToPlainHttp", [](ServedHub& s, app::HubRequest&) { s.resolved().location = "http://storage.invalid/file"; },
     DownloadProblem::kInsecure, "https"},
    {"RedirectToAFile", [](ServedHub& s, app::HubRequest&) { s.resolved().location = "file:///etc/passwd"; }, DownloadProblem::kInsecure,
     "https"},
    {"EndpointInPlainHttp", [](ServedHub&, app::HubRequest& r) { r.place.endpoint = QStringLiteral("http://mirror.invalid"); },
     DownloadProblem::kInsecure, "https"},
    {"NoRoom", [](ServedHub&, app::HubRequest& r) { r.source.freeBytes = [](const QString&) { return qint64{1} << 20; }; },
     DownloadProblem::kNoSpace, "are needed"},
    {"RoomThatIsGoneMeanwhile",
     [](ServedHub& s, app::HubRequest& r) {
       r.source.patienceMs = 30'000;
       s.stored().cutAfter = 1000;
       s.stored().hangs = true;
       r.source.freeBytes = [asked = std::make_shared<int>(0)](const QString&) { return ++*asked > 1 ? qint64{1000} : qint64{1} << 40; };
     },
     DownloadProblem::kNoSpace, "only"},
    {"ACacheThatCannotBeMade", [](ServedHub&, app::HubRequest& r) { r.place.cache = QStringLiteral("/proc/nowhere/hub"); },
     DownloadProblem::kUnwritable},
    {"OfflineAndNotHere", [](ServedHub&, app::HubRequest& r) { r.place.offline = true; }, DownloadProblem::kOffline},
    {"NobodyListens", [](ServedHub&, app::HubRequest& r) { r.place.endpoint = QStringLiteral("http://127.0.0.1:1"); },
     DownloadProblem::kNoNetwork},
};

INSTANTIATE_TEST_SUITE_P(Hub, HubRefuses, ::testing::ValuesIn(kMisbehaviours),
                         [](const ::testing::TestParamInfo<Misbehaviour>& info) { return std::string(info.param.name); });

TEST(HubMisbehaviours, AreAtLeastForty) { EXPECT_GE(std::size(kMisbehaviours), 40U); }

// What goes wrong for a while is waited for.
class HubRecovers : public HubRun {};

TEST_F(HubRecovers, FromACutConnectionByARange) {
  served.stored().cutAfter = 30'000;
  served.stored().cuts = 2;
  expectModel();
  qint64 asked = 0;
  for (const LoopbackServer::Request& each : served.storage.requests) asked += each.range.isEmpty() ? 0 : 1;
  EXPECT_EQ(asked, 2);
}

TEST_F(HubRecovers, FromAServerThatKnowsNoRanges) {
  served.stored().cutAfter = 30'000;
  served.stored().cuts = 1;
  served.stored().ranges = false;
  expectModel();
}

TEST_F(HubRecovers, FromAServerThatIsOverloadedForAMoment) {
  served.hub.files[served.revisionPath()].refusals = 2;
  served.stored().refusals = 2;
  expectModel();
}

TEST_F(HubRecovers, AfterTheTimeThatTheServerAsksFor) {
  ServedFile& revision = served.hub.files[served.revisionPath()];
  revision.refusals = 1;
  revision.refusal = 429;
  revision.refusalHeaders = "Retry-After: 1\r\n";
  expectModel();
  bool told = false;
  for (const app::DownloadProgress& each : progress) told = told || (each.stage == app::DownloadStage::kWaiting && each.total == 1);
  EXPECT_TRUE(told);
}

TEST_F(HubRecovers, WithoutLosingWhatHasComeToACaptivePortal) {
  write(incomplete(0), served.files[0].bytes.left(70'000));
  served.stored().body = "<html>Log in</html>";
  served.stored().ranges = false;
  served.stored().headers = "Content-Type: text/html\r\n";
  expectFault(DownloadProblem::kOtherAnswer, "web page");
  EXPECT_EQ(bytes(incomplete(0)), served.files[0].bytes.left(70'000));
}

TEST_F(HubRecovers, FromAWrongHashByFetchingAnew) {
  served.stored().body[5000] = 'X';
  expectFault(DownloadProblem::kHashDiffers, "hash");
  EXPECT_FALSE(QFileInfo::exists(incomplete(0))) << "taking it up again would not help";
  served.serve();
  expectModel();
}

// Whoever may write into the cache could put anything there under a model's name.
TEST_F(HubRecovers, FromAnythingElseUnderTheNameOfABlob) {
  QByteArray planted = served.files[0].bytes;
  planted[5000] = 'X';
  write(blob(0), planted);
  expectModel();
  EXPECT_EQ(bytes(path), served.files[0].bytes);
  const auto looks = [this] {
    return std::ranges::count_if(progress, [](const app::DownloadProgress& each) { return each.stage == app::DownloadStage::kChecking; });
  };
  expectModel();
  EXPECT_EQ(looks(), 0) << "what was checked is not hashed again";
  const QDateTime time = QFileInfo(blob(0)).lastModified();
  write(blob(0), planted);
  QFile file(blob(0));
  ASSERT_TRUE(file.open(QIODevice::ReadWrite) && file.setFileTime(time, QFileDevice::FileModificationTime));
  file.close();
  expectModel();
  EXPECT_EQ(bytes(path), served.files[0].bytes) << "with the old time, too";
}

TEST_F(HubRecovers, FromAnythingElseInThePlaceOfASnapshotsFile) {
  write(snapshot() + QStringLiteral("/Small-Q4_K_M.gguf"), QByteArray(served.files[0].bytes.size(), 'X'));
  expectModel();
  EXPECT_EQ(bytes(path), served.files[0].bytes);
}

TEST_F(HubRecovers, FromADamagedBlobOnlyWithTheNetwork) {
  expectModel();
  write(blob(0), QByteArray(served.files[0].bytes.size(), 'X'));
  request = served.request(cache());
  request->place.offline = true;
  begin();
  ASSERT_TRUE(ended());
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->problem, DownloadProblem::kHashDiffers);
  request.reset();
  expectModel();
  EXPECT_EQ(bytes(path), served.files[0].bytes);
}

TEST_F(HubRecovers, FromAPartThatIsLongerThanTheFile) {
  write(incomplete(0), served.files[0].bytes + "more");
  expectModel();
}

TEST_F(HubRecovers, OnceAnotherProgramHasLetGo) {
  QDir().mkpath(folder() + QStringLiteral("/blobs"));
  QDir().mkpath(cache() + QStringLiteral("/.locks/") + app::hubFolderName(served.repository));
  {
    const app::HubFile file{served.files[0].path, 0, app::BlobHash::kSha256, ServedHub::hashOf(served.files[0])};
    const app::HubLock other(app::HubCache(cache(), served.repository), file);
    expectFault(DownloadProblem::kBusy, "another program");
  }
  expectModel();
}

TEST_F(HubRecovers, FromALinkInThePlaceOfAPart) {
  const QString precious = QString::fromStdString(scratch.write("precious", "mine"));
  QDir().mkpath(folder() + QStringLiteral("/blobs"));
  ASSERT_TRUE(QFile::link(precious, incomplete(0)));
  expectFault(DownloadProblem::kUnwritable, "");
  EXPECT_EQ(bytes(precious), "mine");
  QFile::remove(incomplete(0));
  expectModel();
}

}  // namespace
}  // namespace winnow::test
