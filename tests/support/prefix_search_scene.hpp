#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>

#include "device/buffer.hpp"
#include "diagnose/prefix_search.hpp"

namespace graphsan::test {

/// A graph of 1,000 fills, one of which writes the watched byte last: it is found in at most
/// 2 log2(1000) + 2 replays. Prints what that and a sweep over all prefixes take.
inline void find_the_writer_among_a_thousand(device::Device& device) {
  constexpr std::size_t kNodes = 1000;
  constexpr std::size_t kWriter = 637;
  const device::Buffer memory{device, kNodes};
  auto* bytes = memory.as<std::byte>();
  const device::Stream stream = device.create_stream();
  device.begin_capture(stream.get(), device::CaptureMode::kThreadLocal);
  for (std::size_t i = 0; i < kNodes; ++i) {
    // An earlier node writes the watched byte too, with another value.
    const bool writes = i == kWriter || i == kWriter / 2;
    device.fill(stream.get(), bytes + (writes ? 0 : i % (kNodes - 1) + 1),
                static_cast<std::uint8_t>(i == kWriter ? 0xAB : 0x11), 1);
  }
  const device::Graph graph = device.end_capture(stream.get());
  diagnose::PrefixExec exec{device, graph.get()};
  ASSERT_EQ(exec.nodes(), kNodes);
  const auto shows = [&](std::size_t prefix) {
    device.fill(stream.get(), bytes, 0, 1);
    device.launch(exec.with_prefix(prefix), stream.get());
    std::uint8_t found = 0;
    device.copy(stream.get(), &found, bytes, 1);
    device.synchronize(stream.get());
    return found == 0xAB;
  };
  const auto timed = [](const auto& run) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
  };
  diagnose::PrefixSearch search;
  const double bisected = timed([&] { search = diagnose::search_prefixes(kNodes, shows); });
  ASSERT_TRUE(search.index.has_value());
  EXPECT_EQ(*search.index, kWriter);
  EXPECT_LE(search.replays, 22);
  const double swept = timed([&] {
    for (std::size_t prefix = 0; !shows(prefix); ++prefix) continue;
  });
  std::cout << "prefix search over " << kNodes << " nodes: " << search.replays << " replays, "
            << bisected << " ms; a sweep up to node " << kWriter << ": " << swept << " ms\n";
}

}  // namespace graphsan::test
