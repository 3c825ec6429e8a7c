#include "app/ground/diagnostics/system_report.h"

#include <gtest/gtest.h>

namespace winnow::app {
namespace {

TEST(SystemReport, NamesMachineVersionsAndWhatIsHandedIn) {
  const QString report = systemReport({{QStringLiteral("libtorch"), QStringLiteral("2.11.0")}});
  for (const char* name : {"Winnow: ", "System: ", "CPU: ", "CPU features: ", "Memory: ", "Qt: 6.", "SQLite: 3.", "libtorch: 2.11.0"})
    EXPECT_TRUE(report.contains(QString::fromLatin1(name))) << name;
}

#ifdef Q_OS_LINUX
TEST(SystemReport, ReadsTheMachine) {
  const SystemFacts facts = readSystemFacts();
  EXPECT_GT(facts.memoryBytes, qint64{256} << 20);
  EXPECT_EQ(memoryBytes(), facts.memoryBytes);
  EXPECT_LE(facts.memoryAvailableBytes, facts.memoryBytes);
  EXPECT_GE(facts.cpuThreads, 1);
  EXPECT_FALSE(facts.cpu.isEmpty());
}

TEST(SystemReport, SaysNothingAboutTheUser) {
  const QString user = qEnvironmentVariable("HOME", QStringLiteral("/home/nobody"));
  EXPECT_FALSE(systemReport({}).contains(user + QLatin1Char('/')));
}
#endif

}  // namespace
}  // namespace winnow::app
