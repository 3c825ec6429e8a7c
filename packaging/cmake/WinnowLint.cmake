# cmake --preset lint && cmake --build --preset lint: clang-tidy (.clang-tidy) and cppcheck (packaging/lint/cppcheck.txt) over the product's
# sources. Compiles nothing. Both fail on any finding. clang-tidy 14 cannot read the ranges of g++ 12.
find_program(WINNOW_RUN_CLANG_TIDY NAMES run-clang-tidy-16 run-clang-tidy-19 run-clang-tidy REQUIRED)
find_program(WINNOW_CPPCHECK cppcheck REQUIRED)
include(ProcessorCount)
ProcessorCount(processors)

# Joined files are read eight at a time, as they are compiled; what AUTOMOC writes is not ours, and the names in packaging/libtorch
# are NVIDIA's. Boost 1.74 does not see that clang has coroutines.
add_custom_target(lint_clang_tidy
  COMMAND ${WINNOW_RUN_CLANG_TIDY} -quiet -p ${CMAKE_BINARY_DIR} -j ${processors}
          -extra-arg=-DBOOST_ASIO_HAS_CO_AWAIT -extra-arg=-DBOOST_ASIO_HAS_STD_COROUTINE "^(?!.*(_autogen/|/torch_pch\\.cpp|/packaging/libtorch/))"
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} USES_TERMINAL VERBATIM)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/cppcheck)
add_custom_target(lint_cppcheck
  COMMAND ${WINNOW_CPPCHECK} --quiet --error-exitcode=1 -j ${processors} --enable=warning,performance,portability --std=c++20 --language=c++
          "-DQ_DECLARE_METATYPE(type)=" --cppcheck-build-dir=${CMAKE_BINARY_DIR}/cppcheck --suppressions-list=packaging/lint/cppcheck.txt
          -I ${CMAKE_SOURCE_DIR} app engine kernels ui
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} USES_TERMINAL VERBATIM)
add_custom_target(lint DEPENDS lint_cppcheck lint_clang_tidy)
