#!/bin/sh
# The environment of make_real_model_golden.py and measure_real_model.py: a virtual environment with torch, transformers and llama.cpp,
# which is compiled here for this processor (some 20 minutes on two cores).
#
# usage: real_model_environment.sh FOLDER, then FOLDER/bin/python tests/golden/make/make_real_model_golden.py ...
set -eu
[ $# = 1 ] || { sed -n 2,5p "$0" >&2; exit 2; }
python3 -m venv "$1"
"$1/bin/pip" install torch==2.11.0 transformers==5.2.0 tokenizers==0.22.2 safetensors==0.8.0 gguf==0.19.0 numpy==2.4.6
# From its source alone: the wheels are made for processors of ten years ago.
CMAKE_ARGS="-DGGML_NATIVE=ON -DLLAVA_BUILD=OFF" "$1/bin/pip" install --no-binary llama-cpp-python llama-cpp-python==0.3.36
