# One folder = one library = one concept. Small helpers with named arguments; sources are listed, never globbed.
include_guard()

# Eight files together take a third of their time: headers and templates are what most of it goes into. What stands in anonymous namespaces
# of one target has names of its own therefore (tests/structure holds it), or the target is APART.
function(winnow_join target)
  if(WINNOW_JOIN_FILES)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# winnow_library(NAME engine_text SOURCES a.cpp b.cpp DEPS winnow::engine_base LINK pcre2 [TORCH] [APART])
#   Makes winnow_<NAME> (static) with alias winnow::<NAME>. DEPS are PUBLIC, LINK is PRIVATE. TORCH adds LibTorch and the shared
#   precompiled ATen header. Without SOURCES the library is header-only.
function(winnow_library)
  cmake_parse_arguments(A "TORCH;APART" "NAME" "SOURCES;DEPS;LINK" ${ARGN})
  set(target winnow_${A_NAME})
  if(A_SOURCES)
    add_library(${target} STATIC ${A_SOURCES})
    target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(${target} PUBLIC ${A_DEPS} PRIVATE ${A_LINK} winnow_warnings)
    if(NOT A_APART)
      winnow_join(${target})
    endif()
    if(A_TORCH)
      target_link_libraries(${target} PUBLIC LibTorch::cpu)
      winnow_use_torch_pch(${target})
    endif()
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${target} INTERFACE ${A_DEPS} ${A_LINK})
  endif()
  add_library(winnow::${A_NAME} ALIAS ${target})
endfunction()

# winnow_test(NAME engine_text_test SOURCES x_test.cpp DEPS winnow::engine_text [LABELS cpu] [TORCH] [THREADS] [APART] [ENV A=B])
#   APART: its files have names in common and cannot be compiled together.
#   One GoogleTest program = one CTest entry. Tests read files relative to source_folder() (tests/support/source_folder.h), and run beside
#   each other: libtorch on one thread each, except with THREADS, for tests whose claim is about threads or about the programs as they are.
function(winnow_test)
  cmake_parse_arguments(A "TORCH;THREADS;APART" "NAME" "SOURCES;DEPS;LABELS;ENV" ${ARGN})
  if(NOT WINNOW_TESTS)
    return()
  endif()
  add_executable(${A_NAME} ${A_SOURCES})
  target_link_libraries(${A_NAME} PRIVATE ${A_DEPS} winnow_test_support GTest::gtest GTest::gtest_main winnow_warnings)
  # What a release build optimises for is the product; tests are compiled far more often than they run long.
  target_compile_options(${A_NAME} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(NOT A_APART)
    winnow_join(${A_NAME})
  endif()
  if(A_TORCH)
    winnow_use_torch_pch(${A_NAME})
  endif()
  if(NOT A_LABELS)
    set(A_LABELS cpu)
  endif()
  # The same test on every machine: without the plug-in `--device auto` is the CPU.
  if(NOT gpu IN_LIST A_LABELS)
    list(APPEND A_ENV "WINNOW_CUDA_PLUGIN=none")
  endif()
  if(NOT A_THREADS)
    list(APPEND A_ENV "OMP_NUM_THREADS=1")
  endif()
  add_test(NAME ${A_NAME} COMMAND ${A_NAME})
  # The time limit is for what hangs, on a machine that is busy with other things. What takes longest begins first.
  set_tests_properties(${A_NAME} PROPERTIES LABELS "${A_LABELS}" TIMEOUT 1200 ENVIRONMENT "${A_ENV}")
  if(slow IN_LIST A_LABELS)
    set_tests_properties(${A_NAME} PROPERTIES COST 100)
  endif()
endfunction()

# ATen/ATen.h costs 6 s per translation unit; it is precompiled once and reused by every target that includes torch.
function(winnow_use_torch_pch target)
  if(NOT TARGET winnow_torch_pch)
    file(WRITE ${CMAKE_BINARY_DIR}/torch_pch.cpp "// Carrier of the precompiled ATen header.\n")
    add_library(winnow_torch_pch STATIC ${CMAKE_BINARY_DIR}/torch_pch.cpp)
    target_link_libraries(winnow_torch_pch PUBLIC LibTorch::cpu PRIVATE winnow_warnings)
    target_precompile_headers(winnow_torch_pch PRIVATE <ATen/ATen.h>)
  endif()
  # GCC takes a precompiled header only under the very flags it was made with, and programs would be compiled with -fPIE.
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM winnow_torch_pch)
endfunction()
