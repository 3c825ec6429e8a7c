#include "app/chats/settings/speed_file.h"

#include <gtest/gtest.h>

#include "tests/support/scratch_folder.h"

namespace winnow::app {
namespace {

MachineSpeed someSpeed() {
  return {.prefill_ms_per_token = {{6, 1.5}, {11, 2.25}}, .ms_per_frame = 12.0, .encoder_share = 0.75, .ms_per_generated_token = 30.5};
}

TEST(SpeedFile, KeepsEveryModelsFiguresApart) {
  const test::ScratchFolder scratch;
  const QString folder = QString::fromStdString(scratch.file("cache"));  // is made
  MachineSpeed other{.ms_per_image_token = 0.25};
  SpeedFile(folder).keep("demo 8 fp32 cpu", someSpeed());
  SpeedFile(folder).keep("big \"x\" bf16 cuda", other);
  EXPECT_EQ(SpeedFile(folder).recall("demo 8 fp32 cpu"), someSpeed());
  EXPECT_EQ(SpeedFile(folder).recall("big \"x\" bf16 cuda"), other);
  EXPECT_EQ(SpeedFile(folder).recall("unknown"), MachineSpeed{});
}

TEST(SpeedFile, DamageCountsAsNothingMeasured) {
  const test::ScratchFolder scratch;
  SpeedFile file(QString::fromStdString(scratch.path()));
  for (const char* text :
       {"", "{", "[1]", R"({"m": 3})", R"({"m": {"prefill_ms_per_token": [[-1, 2], [99, 2], [3], "x", [4, -1]], "ms_per_frame": "x"}})",
        R"({"m": {"ms_per_frame": -5}})"}) {
    scratch.write("speed.json", text);
    EXPECT_EQ(file.recall("m"), MachineSpeed{}) << text;
  }
  file.keep("m", someSpeed());
  EXPECT_EQ(file.recall("m"), someSpeed());
  SpeedFile nowhere(QStringLiteral("/proc/nowhere"));
  nowhere.keep("m", someSpeed());
  EXPECT_EQ(nowhere.recall("m"), MachineSpeed{});
}

}  // namespace
}  // namespace winnow::app
