// The door between two starts: one answers, the other hands over and is done, whoever else knocks.
#include "app/ground/process/instance_door.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <thread>

#include "tests/support/read_only_folder.h"
#include "tests/support/wait_until.h"

namespace winnow::app {
namespace {

using Entry = InstanceDoor::Entry;

class InstanceDoorTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(m_home.isValid()); }
  QString folder() const { return m_home.path(); }
  QByteArray socketPath() const { return QFile::encodeName(m_home.filePath(QStringLiteral("winnow.socket"))); }

  void openFirst() {
    m_first = std::make_unique<InstanceDoor>(folder());
    QObject::connect(m_first.get(), &InstanceDoor::knocked, [this](const StartRequest& request) { m_requests << request; });
    ASSERT_EQ(m_first->enter({}), Entry::kFirst);
  }
  // A start in another process has another thread here.
  Entry secondEnters(const StartRequest& request, int patienceMs = 20'000) {
    Entry entry = Entry::kAlone;
    std::atomic<bool> done = false;
    std::thread second([&] {
      InstanceDoor door(folder());
      entry = door.enter(request, patienceMs);
      done = true;
    });
    EXPECT_TRUE(test::waitUntil([&] { return done.load(); }));
    second.join();
    return entry;
  }
  // What a visitor with these bytes is answered; the line stays open unless `ends`.
  QByteArray answerTo(const QByteArray& bytes, bool ends) {
    QByteArray answer;
    std::atomic<bool> done = false;
    std::thread visitor([&] {
      const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      std::strcpy(address.sun_path, socketPath().constData());
      EXPECT_EQ(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
      for (qsizetype sent = 0; sent < bytes.size();) {
        const ssize_t now = ::send(socket, bytes.constData() + sent, static_cast<std::size_t>(bytes.size() - sent), MSG_NOSIGNAL);
        if (now <= 0) break;  // it was sent away
        sent += now;
      }
      if (ends) ::shutdown(socket, SHUT_WR);
      char buffer[64];
      for (ssize_t now = 1; now > 0;) {
        now = ::recv(socket, buffer, sizeof(buffer), 0);
        if (now > 0) answer.append(buffer, now);
      }
      ::close(socket);
      done = true;
    });
    EXPECT_TRUE(test::waitUntil([&] { return done.load(); }));
    visitor.join();
    return answer;
  }

  QTemporaryDir m_home;
  std::unique_ptr<InstanceDoor> m_first;
  QList<StartRequest> m_requests;
};

TEST_F(InstanceDoorTest, TheSecondHandsOverWhatItWasAskedFor) {
  openFirst();
  const StartRequest request{
      {"/clips/\xff odd.mp4", "/clips/second.png"}, QStringLiteral("Wie viele Würfel?"), QStringLiteral("/models/x"), "token"};
  EXPECT_EQ(secondEnters(request), Entry::kHandedOver);
  ASSERT_EQ(m_requests.size(), 1);
  EXPECT_EQ(m_requests[0].files, request.files);
  EXPECT_EQ(m_requests[0].question, request.question);
  EXPECT_EQ(m_requests[0].modelFolder, request.modelFolder);
  EXPECT_EQ(m_requests[0].activationToken, request.activationToken);
  EXPECT_EQ(secondEnters({}), Entry::kHandedOver) << "a start without a wish raises the window too";
  EXPECT_EQ(m_requests.size(), 2);
}

TEST_F(InstanceDoorTest, TheNextOneIsFirstWhenTheFirstHasGone) {
  openFirst();
  m_first.reset();
  EXPECT_EQ(secondEnters({}), Entry::kFirst);
}

TEST_F(InstanceDoorTest, WaitsForOneThatIsLeaving) {
  openFirst();
  std::thread leaving;
  Entry entry = Entry::kAlone;
  std::atomic<bool> begun = false;
  std::thread second([&] {
    InstanceDoor door(folder());
    begun = true;
    entry = door.enter({}, 20'000);
  });
  while (!begun) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // no event loop: nobody answers any more
  m_first.reset();
  second.join();
  EXPECT_EQ(entry, Entry::kFirst);
}

TEST_F(InstanceDoorTest, OneThatDoesNotAnswerIsNotWaitedForWithoutEnd) {
  openFirst();
  InstanceDoor second(folder());
  EXPECT_EQ(second.enter({{"/a.mp4"}, {}, {}, {}}, 300), Entry::kAlone);  // this thread is the one that would answer
}

TEST_F(InstanceDoorTest, ASocketLeftBehindByAKillIsInNobodysWay) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, socketPath().constData());
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ::close(socket);
  openFirst();
  EXPECT_EQ(secondEnters({}), Entry::kHandedOver);
}

TEST_F(InstanceDoorTest, OnlyTheUserMayKnock) {
  openFirst();
  struct stat status {};
  ASSERT_EQ(::stat(socketPath().constData(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(InstanceDoorTest, WhatIsNoMessageOpensNothing) {
  openFirst();
  for (const QByteArray& bytes :
       {QByteArray(), QByteArray("hello"), QByteArray("[1, 2]"), QByteArray("{\"files\": [\"") + QByteArray("clip.mp4").toBase64() + "\"]}",
        "{\"files\": [\"" + QByteArray("/a\0b.mp4", 8).toBase64() + "\"]}", QByteArray("{\"model_folder\": \"models\"}"),
        QByteArray("{\"question\": \"\xff\xfe"), "{\"question\": \"" + QByteArray(InstanceDoor::kMaxMessageBytes, 'x') + "\"}",
        QByteArray(1'000'000, '[')}) {
    EXPECT_EQ(answerTo(bytes, true), QByteArray()) << bytes.left(40).toStdString();
  }
  EXPECT_TRUE(m_requests.isEmpty());
  EXPECT_EQ(answerTo("{}", true), QByteArray("taken\n"));
  EXPECT_EQ(m_requests.size(), 1);
}

TEST_F(InstanceDoorTest, OneThatNeverEndsIsSentAway) {
  openFirst();
  EXPECT_EQ(answerTo("{\"question\":", false), QByteArray());
  EXPECT_TRUE(m_requests.isEmpty());
  EXPECT_EQ(secondEnters({}), Entry::kHandedOver);
}

TEST_F(InstanceDoorTest, WithoutAPlaceForADoorOneIsAlone) {
  {
    const test::ReadOnlyFolder locked(folder());
    if (locked.holds()) {
      EXPECT_EQ(InstanceDoor(folder()).enter({}), Entry::kAlone);
    }
  }
  const QString longer = m_home.filePath(QString(120, QLatin1Char('x')));
  EXPECT_EQ(InstanceDoor(longer).enter({}), Entry::kAlone) << "a socket's name has 107 bytes";
}

}  // namespace
}  // namespace winnow::app
