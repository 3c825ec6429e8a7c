#include "app/chats/settings/app_folders.h"

#include <gtest/gtest.h>

#include "app/ground/process/process_start.h"

namespace winnow::app {
namespace {

TEST(AppFolders, WinnowHomeOverridesEverything) {
  qputenv("WINNOW_HOME", "/portable/winnow/");
  const AppFolders folders = AppFolders::standard();
  qunsetenv("WINNOW_HOME");
  EXPECT_EQ(folders.data, QStringLiteral("/portable/winnow/data"));
  EXPECT_EQ(folders.cache, QStringLiteral("/portable/winnow/cache"));
  EXPECT_EQ(folders.state, QStringLiteral("/portable/winnow/state"));
}

#ifdef Q_OS_LINUX
TEST(AppFolders, FollowTheXdgVariables) {
  qunsetenv("WINNOW_HOME");
  qputenv("XDG_DATA_HOME", "/xdg/data");
  qputenv("XDG_CACHE_HOME", "/xdg/cache");
  qputenv("XDG_STATE_HOME", "/xdg/state");
  AppFolders folders = AppFolders::standard();
  EXPECT_EQ(folders.data, QStringLiteral("/xdg/data/winnow"));
  EXPECT_EQ(folders.cache, QStringLiteral("/xdg/cache/winnow"));
  EXPECT_EQ(folders.state, QStringLiteral("/xdg/state/winnow"));
  qputenv("XDG_STATE_HOME", "relative");  // to be ignored, says the specification
  EXPECT_TRUE(AppFolders::standard().state.endsWith(QStringLiteral("/.local/state/winnow")));
  for (const char* name : {"XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"}) qunsetenv(name);
}

// Chats would lie in whichever folder the program was started in.
TEST(AppFolders, OfAProgramIgnoreRelativeXdgVariables) {
  qunsetenv("WINNOW_HOME");
  const AppFolders expected = AppFolders::standard();
  for (const char* name : {"XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"}) qputenv(name, "relative");
  qputenv("XDG_CONFIG_HOME", "/absolute");
  beginProcess();
  const AppFolders folders = AppFolders::standard();
  EXPECT_EQ(folders.data, expected.data);
  EXPECT_EQ(folders.cache, expected.cache);
  EXPECT_EQ(folders.state, expected.state);
  EXPECT_EQ(qEnvironmentVariable("XDG_CONFIG_HOME"), QStringLiteral("/absolute"));
  qunsetenv("XDG_CONFIG_HOME");
}
#endif

}  // namespace
}  // namespace winnow::app
