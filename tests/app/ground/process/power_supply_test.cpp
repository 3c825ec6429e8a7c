// Mains or battery, from folders as the kernel has them.
#include "app/ground/process/power_supply.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <QCoreApplication>
#include <QObject>
#include <QThreadPool>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

class PowerSupply : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  void supply(const std::string& name, const std::string& type, const std::string& status, const std::string& scope = "") {
    fs::create_directories(folder_ / name);
    std::ofstream(folder_ / name / "type") << type << "\n";
    if (!status.empty()) std::ofstream(folder_ / name / "status") << status << "\n";
    if (!scope.empty()) std::ofstream(folder_ / name / "scope") << scope << "\n";
  }
  const fs::path folder_ = fs::temp_directory_path() / ("winnow-power-" + std::to_string(::getpid()));
};

TEST_F(PowerSupply, AMachineWithoutABatteryIsOnMains) {
  EXPECT_TRUE(onMains(folder_.string()));
  EXPECT_TRUE(onMains((folder_ / "none").string()));
  supply("AC", "Mains", "");
  EXPECT_TRUE(onMains(folder_.string()));
}

TEST_F(PowerSupply, ABatteryThatIsUsedUpIsNot) {
  supply("AC", "Mains", "");
  supply("BAT0", "Battery", "Charging");
  EXPECT_TRUE(onMains(folder_.string()));
  supply("BAT0", "Battery", "Not charging");
  EXPECT_TRUE(onMains(folder_.string()));
  supply("BAT0", "Battery", "Discharging");
  EXPECT_FALSE(onMains(folder_.string()));
}

TEST_F(PowerSupply, TheBatteryOfAMouseDoesNotCount) {
  supply("hidpp_battery_0", "Battery", "Discharging", "Device");
  EXPECT_TRUE(onMains(folder_.string()));
}

TEST(TellMains, IsToldOnTheReceiversThreadAndNotWithoutOne) {
  QObject receiver;
  std::optional<bool> told;
  tellMains(&receiver, [&](bool mains) { told = mains; });
  QThreadPool::globalInstance()->waitForDone();
  EXPECT_FALSE(told) << "only when events are handled here";
  QCoreApplication::processEvents();
  EXPECT_EQ(told, onMains());
  told.reset();
  auto gone = std::make_unique<QObject>();
  tellMains(gone.get(), [&](bool mains) { told = mains; });
  QThreadPool::globalInstance()->waitForDone();
  gone.reset();
  QCoreApplication::processEvents();
  EXPECT_FALSE(told);
}

}  // namespace
}  // namespace winnow::app
