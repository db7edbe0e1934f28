# The program is no library, so its options are compiled again.
if(TARGET graphsan)
  graphsan_test(unseen_second_test LABEL cpu
    SOURCES
      second.cpp
      second_capture.cpp
      second_excused.cpp
      second_order.cpp
      second_padding.cpp
      second_test.cpp
      second_values.cpp
      two_mechanisms.cpp
      ../../src/cli/check_options.cpp
      ../../src/cli/words.cpp
    LIBRARIES graphsan::check graphsan::faults CLI11::CLI11 fmt::fmt)
endif()
