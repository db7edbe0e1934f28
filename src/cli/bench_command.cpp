#include <fmt/format.h>

#include <ostream>

#include "check/device_choice.hpp"
#include "cli/command.hpp"
#include "cli/words.hpp"
#include "kvcache/hash_bench.hpp"

namespace graphsan::cli {

namespace {

struct BenchCommand {
  std::string what;
  std::string device = "auto";
  double gib = 0;
  int repeats = 9;

  int run(Context& context) const;
};

void print(Context& context, const model::Environment& environment,
           const kvcache::HashBenchResult& result) {
  context.out << fmt::format("{} ({}), {:.2f} GiB a pass\n\n", environment.device_name,
                             environment.device, static_cast<double>(result.bytes) / (1 << 30));
  context.out << fmt::format("{:<34} {:>9}  {}\n", "what", "GB/s", "of the plain read");
  context.out << fmt::format("{:<34} {:>9.1f}  {:.3f}\n", result.plain_read,
                             result.plain_read_gigabytes_per_second, 1.0);
  for (const kvcache::HashRate& rate : result.rates) {
    context.out << fmt::format(
        "{:<34} {:>9.1f}  {:.3f}\n",
        fmt::format("XXH3-64 of rows of {} B, {}", rate.row_bytes, rate.layout),
        rate.gigabytes_per_second, rate.of_plain_read);
  }
  const kvcache::IncrementalTime& incremental = result.incremental;
  context.out << fmt::format(
      "\nincremental: {} tokens x {} caches, rows of {} B: {:.1f} us, an empty launch {:.1f} us: "
      "{:.2f} x\n",
      incremental.tokens, incremental.caches, incremental.row_bytes, incremental.microseconds,
      incremental.empty_launch_microseconds, incremental.of_empty_launch);
  context.out << "counted: row bytes read and 8 B written a row; medians by the device's events\n";
}

int BenchCommand::run(Context& context) const {
  if (what != "hash") {
    throw BadUsage{fmt::format("bench: unknown benchmark '{}'; there is: hash", what)};
  }
  if (!(gib >= 0)) throw BadUsage{"--gib must not be negative"};
  if (repeats < 1) throw BadUsage{"--repeats must be at least 1"};
  const std::unique_ptr<device::Device> opened = check::open_device(parse_device(device), 1);
  const model::Environment environment = check::describe_environment(*opened);
  const double free_gib = static_cast<double>(opened->free_memory()) / (1 << 30);
  if (gib > free_gib) {
    throw BadUsage{
        fmt::format("--gib {}: the device has {:.1f} GiB free; ask for less, and leave "
                    "room for the digests",
                    gib, free_gib)};
  }
  const kvcache::HashBenchResult result = kvcache::bench_hash(
      *opened, {.bytes = static_cast<std::int64_t>(gib * (1 << 30)), .repeats = repeats});
  print(context, environment, result);
  double lowest = result.rates.empty() ? 0 : result.rates.front().of_plain_read;
  for (const kvcache::HashRate& rate : result.rates) {
    lowest = std::min(lowest, rate.of_plain_read);
  }
  context.out << fmt::format(
                     "SUMMARY: graphsan: bench hash: lowest {:.3f} of a plain read at {:.1f} GB/s "
                     "on {}",
                     lowest, result.plain_read_gigabytes_per_second, environment.device_name)
              << std::endl;
  return 0;
}

}  // namespace

void add_bench_command(CLI::App& app, Registration& chosen) {
  auto command = std::make_shared<BenchCommand>();
  CLI::App* bench =
      app.add_subcommand("bench", "measure hashing against this machine's own limits");
  bench->add_option("what", command->what, "hash")->required();
  bench->add_option("--device", command->device, "auto, cuda, host")->capture_default_str();
  bench->add_option("--gib", command->gib,
                    "size of the caches in GiB (default: 4 on a GPU, 1/16 on the host device)");
  bench->add_option("--repeats", command->repeats, "timed runs of each measurement")
      ->capture_default_str();
  bench->callback([command, &chosen] {
    chosen.action = [command](Context& context) { return command->run(context); };
    chosen.summary = Summary::kStandardOutput;
  });
}

}  // namespace graphsan::cli
