# Finds libtorch inside an installed `torch` wheel and defines LibTorch::cpu (libtorch_cpu + libc10 only).
#
# Looks, in this order, at LIBTORCH_SITE_PACKAGES (a folder that holds torch/), at .deps/site-packages of the source tree (filled by the
# launcher), and at the torch of the Python on PATH. Never links libtorch.so, which would pull in the CUDA libraries.
# Also sets LibTorch_LIBRARY_DIR, LibTorch_VERSION and, where libtorch_cuda.so is present, LibTorch_CUDA_LIBRARY and LibTorch_CUDA_MAJOR.
set(LIBTORCH_SITE_PACKAGES "" CACHE PATH "Folder that contains torch/ (an unpacked torch wheel); empty: find it")

set(_candidates "${LIBTORCH_SITE_PACKAGES}" "${CMAKE_SOURCE_DIR}/.deps/site-packages")
find_program(_python NAMES python3 python)
if(_python AND NOT EXISTS "${LIBTORCH_SITE_PACKAGES}/torch" AND NOT EXISTS "${CMAKE_SOURCE_DIR}/.deps/site-packages/torch")
  execute_process(
    COMMAND ${_python} -c "import importlib.util,os;s=importlib.util.find_spec('torch');print(os.path.dirname(os.path.dirname(s.origin)) if s else '')"
    OUTPUT_VARIABLE _from_python OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  list(APPEND _candidates "${_from_python}")
endif()

foreach(_site IN LISTS _candidates)
  if(_site AND EXISTS "${_site}/torch/lib/libtorch_cpu.so")
    set(LibTorch_ROOT_DIR "${_site}/torch")
    break()
  endif()
endforeach()

if(LibTorch_ROOT_DIR)
  set(LibTorch_LIBRARY_DIR "${LibTorch_ROOT_DIR}/lib")
  if(EXISTS "${LibTorch_ROOT_DIR}/version.py")
    file(STRINGS "${LibTorch_ROOT_DIR}/version.py" _version_line REGEX "^__version__ *=")
    string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" LibTorch_VERSION "${_version_line}")
  endif()
  if(EXISTS "${LibTorch_LIBRARY_DIR}/libtorch_cuda.so")
    set(LibTorch_CUDA_LIBRARY "${LibTorch_LIBRARY_DIR}/libtorch_cuda.so")
    file(STRINGS "${LibTorch_ROOT_DIR}/version.py" _cuda_line REGEX "^cuda.*=")
    string(REGEX MATCH "'([0-9]+)\\." _cuda_version "${_cuda_line}")
    set(LibTorch_CUDA_MAJOR "${CMAKE_MATCH_1}")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch REQUIRED_VARS LibTorch_ROOT_DIR LibTorch_LIBRARY_DIR VERSION_VAR LibTorch_VERSION)

if(LibTorch_FOUND AND NOT TARGET LibTorch::cpu)
  add_library(LibTorch::cpu INTERFACE IMPORTED)
  target_include_directories(LibTorch::cpu SYSTEM INTERFACE
    "${LibTorch_ROOT_DIR}/include" "${LibTorch_ROOT_DIR}/include/torch/csrc/api/include")
  target_link_libraries(LibTorch::cpu INTERFACE
    "${LibTorch_LIBRARY_DIR}/libtorch_cpu.so" "${LibTorch_LIBRARY_DIR}/libc10.so")
  # libtorch_cpu needs libraries that its own RPATH finds at run time; the linker need not see them.
  target_link_options(LibTorch::cpu INTERFACE "LINKER:--allow-shlib-undefined")
  # All programs lie in one folder: with torch inside the checkout, the whole can be moved. CMake's own entry would be the absolute folder; and
  # what stands in a file goes through no shell, which would take $ORIGIN for a variable.
  set(_rpath "${LibTorch_LIBRARY_DIR}")
  cmake_path(IS_PREFIX CMAKE_SOURCE_DIR "${LibTorch_LIBRARY_DIR}" NORMALIZE _inside)
  if(_inside)
    file(RELATIVE_PATH _rpath "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}" "${LibTorch_LIBRARY_DIR}")
    string(PREPEND _rpath "$ORIGIN/")
  endif()
  set(CMAKE_SKIP_BUILD_RPATH ON)
  set(LibTorch_BUILD_RPATH "${_rpath}")  # an installation has its own (packaging/CMakeLists.txt)
  file(WRITE "${CMAKE_BINARY_DIR}/torch_rpath" "-rpath \"${_rpath}\"\n")
  target_link_options(LibTorch::cpu INTERFACE "LINKER:@${CMAKE_BINARY_DIR}/torch_rpath")
endif()
