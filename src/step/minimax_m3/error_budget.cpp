#include "step/minimax_m3/error_budget.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <stdexcept>
#include <vector>

#include "step/minimax_m3/bf16_convert.hpp"
#include "step/minimax_m3/fp8_convert.hpp"
#include "step/minimax_m3/op_args.hpp"

namespace graphsan::step::minimax_m3 {
namespace {

constexpr std::size_t kRoundTripSamples = 200'000;
constexpr std::size_t kQueries = 16;
constexpr std::size_t kKeys = 16 * kBlockSize;
constexpr std::size_t kHistogramBins = 16;
constexpr double kHistogramEnd = 0.25;

/// Standard normal numbers by the Box-Muller transform of SplitMix64.
class NormalSource {
 public:
  explicit NormalSource(std::uint64_t seed) : state_{seed} {}

  void fill(std::span<float> out) {
    for (std::size_t i = 0; i + 1 < out.size(); i += 2) {
      const double radius = std::sqrt(-2.0 * std::log(uniform()));
      const double angle = 2.0 * std::numbers::pi * uniform();
      out[i] = static_cast<float>(radius * std::cos(angle));
      out[i + 1] = static_cast<float>(radius * std::sin(angle));
    }
  }

 private:
  double uniform() {  // in (0, 1]
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t word = state_;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ULL;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBULL;
    word ^= word >> 31;
    return static_cast<double>((word >> 11) + 1) * 0x1p-53;
  }

  std::uint64_t state_;
};

float round_trip(model::DType dtype, float value) {
  if (dtype == model::DType::kFp8E4M3) return decode_fp8<E4M3>(encode_fp8<E4M3>(value));
  if (dtype == model::DType::kFp8E5M2) return decode_fp8<E5M2>(encode_fp8<E5M2>(value));
  return bf16_to_float(float_to_bf16(value));
}

std::vector<float> quantized(model::DType dtype, std::span<const float> values) {
  std::vector<float> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(),
                 [dtype](float value) { return round_trip(dtype, value); });
  return result;
}

double expected_round_trip(model::DType dtype) {
  if (dtype == model::DType::kBf16) return kRoundTripBf16;
  if (dtype == model::DType::kFp8E4M3) return kRoundTripE4M3;
  if (dtype == model::DType::kFp8E5M2) return kRoundTripE5M2;
  throw std::invalid_argument{"error budget: the cache dtype must be bf16, fp8_e4m3 or fp8_e5m2"};
}

void measure_round_trip(model::DType dtype, NormalSource& source, model::ErrorBudget& budget) {
  std::vector<float> values(kRoundTripSamples);
  source.fill(values);
  budget.histogram.assign(kHistogramBins, 0);
  double total = 0;
  for (const float value : values) {
    const double exact = value;
    const double error = std::abs((round_trip(dtype, value) - exact) / exact);
    total += error;
    const auto bin = static_cast<std::size_t>(error / kHistogramEnd * kHistogramBins);
    ++budget.histogram[std::min(bin, kHistogramBins - 1)];
  }
  budget.round_trip_mean_rel = total / static_cast<double>(values.size());
}

float dot(const float* a, const float* b) {
  std::array<float, 8> sums{};
  for (std::size_t d = 0; d < kHeadDim; d += sums.size()) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += a[d + i] * b[d + i];
  }
  double total = 0;
  for (const float sum : sums) total += sum;
  return static_cast<float>(total);
}

/// softmax(query · keys / sqrt(128)) · values.
std::array<double, kHeadDim> attend(const float* query, std::span<const float> keys,
                                    std::span<const float> values) {
  std::vector<double> weights(kKeys);
  const double scale = 1.0 / std::sqrt(static_cast<double>(kHeadDim));
  for (std::size_t key = 0; key < kKeys; ++key) {
    weights[key] = scale * dot(query, &keys[key * kHeadDim]);
  }
  const double largest = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (double& weight : weights) sum += weight = std::exp(weight - largest);
  std::array<double, kHeadDim> out{};
  for (std::size_t key = 0; key < kKeys; ++key) {
    const double weight = weights[key] / sum;
    for (std::size_t d = 0; d < kHeadDim; ++d) out[d] += weight * values[key * kHeadDim + d];
  }
  return out;
}

double attention_error(model::DType dtype, double spread, NormalSource& source) {
  std::vector<float> keys(kKeys * kHeadDim);
  std::vector<float> values(kKeys * kHeadDim);
  std::vector<float> queries(kQueries * kHeadDim);
  source.fill(keys);
  source.fill(values);
  source.fill(queries);
  for (float& element : queries) element *= static_cast<float>(spread);
  const std::vector<float> stored_keys = quantized(dtype, keys);
  const std::vector<float> stored_values = quantized(dtype, values);
  double error = 0;
  double magnitude = 0;
  for (std::size_t query = 0; query < kQueries; ++query) {
    const float* row = &queries[query * kHeadDim];
    const auto exact = attend(row, keys, values);
    const auto measured = attend(row, stored_keys, stored_values);
    for (std::size_t d = 0; d < kHeadDim; ++d) {
      error += std::abs(measured[d] - exact[d]);
      magnitude += std::abs(exact[d]);
    }
  }
  return error / magnitude;
}

}  // namespace

model::ErrorBudget measure_error_budget(model::DType dtype, double spread, std::uint64_t seed) {
  model::ErrorBudget budget;
  budget.dtype = dtype;
  budget.spread = spread;
  budget.round_trip_expected = expected_round_trip(dtype);
  NormalSource source{seed};
  measure_round_trip(dtype, source, budget);
  budget.attention_mean_rel = attention_error(dtype, spread, source);
  const double tolerance =
      dtype == model::DType::kBf16 ? budget.round_trip_expected / 10 : kRoundTripTolerance;
  budget.normal = std::abs(budget.round_trip_mean_rel - budget.round_trip_expected) <= tolerance;
  return budget;
}

}  // namespace graphsan::step::minimax_m3
