#include "probes/argument_words.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

namespace graphsan::probes {
namespace {

struct Arguments {
  const void* rows;
  std::uint64_t seed;
  float scale;
  std::int32_t length;
};

model::Work work_with(const Arguments& arguments) {
  model::Work work;
  model::KernelArgument argument;
  argument.bytes.resize(sizeof(arguments));
  std::memcpy(argument.bytes.data(), &arguments, sizeof(arguments));
  work.arguments.push_back(argument);
  const auto field = [&](const char* name, std::size_t offset, std::size_t size, bool pointer) {
    work.fields.push_back({name, static_cast<std::uint32_t>(offset),
                           static_cast<std::uint32_t>(size), pointer, false});
  };
  field("rows", offsetof(Arguments, rows), sizeof(Arguments::rows), true);
  field("seed", offsetof(Arguments, seed), sizeof(Arguments::seed), false);
  field("scale", offsetof(Arguments, scale), sizeof(Arguments::scale), false);
  field("length", offsetof(Arguments, length), sizeof(Arguments::length), false);
  field("beyond", sizeof(Arguments), sizeof(std::int32_t), false);
  return work;
}

TEST(ArgumentWords, AreReadOutOfDeclaredScalars) {
  const model::Work work = work_with({nullptr, 0x9e37'79b9'7f4a'7c15ULL, 0.125F, -1});
  EXPECT_EQ(word_text(word_of(work, "seed").value()), "0x9e3779b97f4a7c15");
  EXPECT_EQ(word_text(word_of(work, "scale").value()), "0.125");
  EXPECT_EQ(word_text(word_of(work, "length").value()), "-1");
}

TEST(ArgumentWords, AreNoPointersNorFieldsThatArgumentsDoNotReach) {
  const model::Work work = work_with({});
  EXPECT_FALSE(word_of(work, "rows"));
  EXPECT_FALSE(word_of(work, "beyond"));
  EXPECT_FALSE(word_of(work, "unheard of"));
}

TEST(ArgumentWords, LookLikeSeedsOnlyWhereTheyAreNothingElse) {
  EXPECT_TRUE(looks_like_seed({0x9e37'79b9'7f4a'7c15ULL, 8}));
  EXPECT_TRUE(looks_like_seed({0xbf58'476d'1ce4'e5b9ULL ^ 0x4000'0000'0000'0000ULL, 8}));
  EXPECT_FALSE(looks_like_seed({4096, 8}));
  EXPECT_FALSE(looks_like_seed({~std::uint64_t{0}, 8})) << "-1";
  EXPECT_FALSE(looks_like_seed({0x7f12'3456'7000ULL, 8})) << "an address";
  EXPECT_FALSE(looks_like_seed({std::bit_cast<std::uint64_t>(0.0883883), 8}));
  EXPECT_FALSE(looks_like_seed({std::bit_cast<std::uint64_t>(-1.5e6), 8}));
  EXPECT_FALSE(looks_like_seed({std::uint64_t{131072} << 32 | 7, 8})) << "two lengths";
  EXPECT_FALSE(looks_like_seed(
      {std::uint64_t{std::bit_cast<std::uint32_t>(0.1F)} << 32 | std::bit_cast<std::uint32_t>(2.5F),
       8}))
      << "two floats";
  EXPECT_FALSE(looks_like_seed({0xFFFF'FFFF'FFFF'0000ULL << 1, 8})) << "a mask";
  EXPECT_FALSE(looks_like_seed({0x8000'0000'0000'0000ULL, 8})) << "one bit";
  EXPECT_FALSE(looks_like_seed({0x9e37'79b9U, 4})) << "four bytes tell too little";
}

}  // namespace
}  // namespace graphsan::probes
