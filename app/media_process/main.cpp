// winnow-media: reads media for the program that started it (media_server.h). Descriptor 3 is the channel.
#include <utility>

#include "app/media_process/media_server.h"
#include "app/worker/worker_process.h"

int main() {
  using namespace winnow::app;
  OpenFile channel = channelOfThisWorker("winnow-media");
  return channel ? serveMedia(std::move(channel)) : 2;
}
