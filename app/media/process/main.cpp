// winnow-media: reads media for the program that started it (media_server.h). Descriptor 3 is the channel.
#include <utility>

#include "app/ground/worker/worker_process.h"
#include "app/media/process/media_server.h"

int main() {
  using namespace winnow::app;
  OpenFile channel = channelOfThisWorker("winnow-media");
  return channel ? serveMedia(std::move(channel)) : 2;
}
