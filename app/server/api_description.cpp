#include "app/server/api_description.h"

namespace winnow::app {
namespace {

constexpr std::string_view kVersionMark = "\"@\"";
constexpr std::string_view kDescription = R"json({
 "openapi": "3.1.0", "info": {"title": "Winnow", "version": "@"}, "security": [{}, {"key": []}],
 "paths": {
  "/v1/chat/completions": {
   "post": {
    "summary": "an answer to a thread of messages",
    "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ChatRequest"}}}},
    "responses": {
     "200": {
      "description": "the answer, whole or as a stream",
      "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Answer"}}, "text/event-stream": {}}
     },
     "400": {"$ref": "#/components/responses/Refused"}, "401": {"$ref": "#/components/responses/Refused"},
     "403": {"$ref": "#/components/responses/Refused"}, "404": {"$ref": "#/components/responses/Refused"},
     "413": {"$ref": "#/components/responses/Refused"}, "429": {"$ref": "#/components/responses/Refused"},
     "503": {"$ref": "#/components/responses/Refused"}
    }
   }
  },
  "/v1/completions": {
   "post": {
    "summary": "how a text goes on",
    "requestBody": {
     "required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/CompletionRequest"}}}
    },
    "responses": {
     "200": {
      "description": "the answer, whole or as a stream",
      "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Answer"}}, "text/event-stream": {}}
     },
     "400": {"$ref": "#/components/responses/Refused"}, "401": {"$ref": "#/components/responses/Refused"},
     "403": {"$ref": "#/components/responses/Refused"}, "404": {"$ref": "#/components/responses/Refused"},
     "413": {"$ref": "#/components/responses/Refused"}, "429": {"$ref": "#/components/responses/Refused"},
     "503": {"$ref": "#/components/responses/Refused"}
    }
   }
  },
  "/winnow/plan": {
   "post": {
    "summary": "what an answer would take",
    "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ChatRequest"}}}},
    "responses": {
     "200": {
      "description": "tokens, bytes and times",
      "content": {"application/json": {"schema": {"type": "object", "required": ["tokens"]}}}
     },
     "400": {"$ref": "#/components/responses/Refused"}, "401": {"$ref": "#/components/responses/Refused"},
     "403": {"$ref": "#/components/responses/Refused"}, "404": {"$ref": "#/components/responses/Refused"},
     "413": {"$ref": "#/components/responses/Refused"}, "429": {"$ref": "#/components/responses/Refused"},
     "503": {"$ref": "#/components/responses/Refused"}
    }
   }
  },
  "/tokenize": {
   "post": {
    "summary": "the tokens of a text",
    "requestBody": {
     "required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/TokenizeRequest"}}}
    },
    "responses": {
     "200": {"description": "tokens", "content": {"application/json": {"schema": {"type": "object", "required": ["tokens"]}}}},
     "400": {"$ref": "#/components/responses/Refused"}, "401": {"$ref": "#/components/responses/Refused"},
     "403": {"$ref": "#/components/responses/Refused"}, "404": {"$ref": "#/components/responses/Refused"},
     "413": {"$ref": "#/components/responses/Refused"}, "429": {"$ref": "#/components/responses/Refused"},
     "503": {"$ref": "#/components/responses/Refused"}
    }
   }
  },
  "/detokenize": {
   "post": {
    "summary": "the text of tokens",
    "requestBody": {
     "required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/DetokenizeRequest"}}}
    },
    "responses": {
     "200": {
      "description": "text", "content": {"application/json": {"schema": {"type": "object", "required": ["content", "prompt"]}}}
     },
     "400": {"$ref": "#/components/responses/Refused"}, "401": {"$ref": "#/components/responses/Refused"},
     "403": {"$ref": "#/components/responses/Refused"}, "404": {"$ref": "#/components/responses/Refused"},
     "413": {"$ref": "#/components/responses/Refused"}, "429": {"$ref": "#/components/responses/Refused"},
     "503": {"$ref": "#/components/responses/Refused"}
    }
   }
  },
  "/v1/models": {
   "get": {
    "summary": "the model that is loaded",
    "responses": {
     "200": {
      "description": "a list",
      "content": {
       "application/json": {
        "schema": {
         "type": "object", "required": ["object", "data"],
         "properties": {"object": {"const": "list"}, "data": {"type": "array", "items": {"$ref": "#/components/schemas/Model"}}}
        }
       }
      }
     },
     "400": {"$ref": "#/components/responses/Refused"}, "401": {"$ref": "#/components/responses/Refused"},
     "403": {"$ref": "#/components/responses/Refused"}
    }
   }
  },
  "/v1/models/{name}": {
   "get": {
    "summary": "one model",
    "responses": {
     "200": {"description": "the model", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Model"}}}},
     "400": {"$ref": "#/components/responses/Refused"}, "401": {"$ref": "#/components/responses/Refused"},
     "403": {"$ref": "#/components/responses/Refused"}, "404": {"$ref": "#/components/responses/Refused"},
     "503": {"$ref": "#/components/responses/Refused"}
    },
    "parameters": [{"name": "name", "in": "path", "required": true, "schema": {"type": "string"}}]
   }
  },
  "/health": {
   "get": {
    "summary": "whether a model is loaded",
    "responses": {
     "200": {"description": "it is", "content": {"application/json": {"schema": {"type": "object", "required": ["status"]}}}},
     "400": {"$ref": "#/components/responses/Refused"}, "401": {"$ref": "#/components/responses/Refused"},
     "403": {"$ref": "#/components/responses/Refused"}, "503": {"$ref": "#/components/responses/Refused"}
    }
   }
  },
  "/props": {
   "get": {
    "summary": "what the model can do",
    "responses": {
     "200": {"description": "properties", "content": {"application/json": {"schema": {"type": "object"}}}},
     "400": {"$ref": "#/components/responses/Refused"}, "401": {"$ref": "#/components/responses/Refused"},
     "403": {"$ref": "#/components/responses/Refused"}, "503": {"$ref": "#/components/responses/Refused"}
    }
   }
  },
  "/metrics": {
   "get": {
    "summary": "counters for Prometheus",
    "responses": {
     "200": {"description": "counters", "content": {"text/plain": {}}}, "400": {"$ref": "#/components/responses/Refused"},
     "401": {"$ref": "#/components/responses/Refused"}, "403": {"$ref": "#/components/responses/Refused"}
    }
   }
  },
  "/openapi.json": {
   "get": {
    "summary": "this description",
    "responses": {
     "200": {"description": "this description", "content": {"application/json": {"schema": {"type": "object"}}}},
     "400": {"$ref": "#/components/responses/Refused"}, "401": {"$ref": "#/components/responses/Refused"},
     "403": {"$ref": "#/components/responses/Refused"}
    }
   }
  }
 },
 "components": {
  "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
  "responses": {
   "Refused": {"description": "why not", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
  },
  "schemas": {
   "AnswerSettings": {
    "type": "object",
    "properties": {
     "model": {"type": ["string", "null"], "description": "what /v1/models lists, or \"default\""},
     "stream": {"type": ["boolean", "null"]},
     "stream_options": {"type": ["object", "null"], "properties": {"include_usage": {"type": ["boolean", "null"]}}},
     "temperature": {"type": ["number", "null"], "minimum": 0, "maximum": 100},
     "top_p": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
     "min_p": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
     "top_k": {"type": ["integer", "null"], "minimum": -1, "maximum": 1048576},
     "repetition_penalty": {"type": ["number", "null"], "minimum": 0.01, "maximum": 1000000.0},
     "repeat_penalty": {"type": ["number", "null"], "minimum": 0.01, "maximum": 1000000.0},
     "seed": {"type": ["integer", "null"], "minimum": -9223372036854775808, "maximum": 9223372036854775807},
     "max_tokens": {"type": ["integer", "null"], "minimum": 1, "maximum": 1048576},
     "max_completion_tokens": {"type": ["integer", "null"], "minimum": 1, "maximum": 1048576},
     "stop": {
      "oneOf": [
       {"type": ["string", "null"], "minLength": 1},
       {"type": "array", "maxItems": 16, "items": {"type": "string", "minLength": 1}}
      ]
     },
     "n": {"enum": [1, null]}, "winnow": {"$ref": "#/components/schemas/Winnow"}
    }
   },
   "ChatRequest": {
    "allOf": [
     {"$ref": "#/components/schemas/AnswerSettings"},
     {
      "type": "object", "required": ["messages"],
      "properties": {
       "messages": {"type": "array", "minItems": 1, "maxItems": 4096, "items": {"$ref": "#/components/schemas/Message"}},
       "logprobs": {"type": ["boolean", "null"]}, "top_logprobs": {"type": ["integer", "null"], "minimum": 0, "maximum": 20},
       "reasoning_effort": {"enum": ["none", "minimal", "low", "medium", "high", "xhigh", null]},
       "chat_template_kwargs": {"type": ["object", "null"], "properties": {"enable_thinking": {"type": ["boolean", "null"]}}},
       "media_io_kwargs": {"type": ["object", "null"], "properties": {"video": {"$ref": "#/components/schemas/Frames"}}},
       "mm_processor_kwargs": {
        "allOf": [
         {"$ref": "#/components/schemas/Frames"},
         {
          "properties": {
           "max_pixels": {"type": ["integer", "null"], "minimum": 1, "maximum": 67108864},
           "size": {
            "type": ["object", "null"], "required": ["longest_edge"], "additionalProperties": false,
            "properties": {"longest_edge": {"type": "integer", "minimum": 1, "maximum": 67108864}}
           },
           "max_soft_tokens": {"type": ["integer", "null"], "minimum": 1, "maximum": 16384}
          }
         }
        ]
       },
       "response_format": {"type": ["object", "null"], "required": ["type"], "properties": {"type": {"const": "text"}}},
       "tool_choice": {"enum": ["none", "auto", null]}
      }
     }
    ]
   },
   "CompletionRequest": {
    "allOf": [
     {"$ref": "#/components/schemas/AnswerSettings"},
     {
      "type": "object", "required": ["prompt"],
      "properties": {
       "prompt": {"oneOf": [{"type": "string"}, {"type": "array", "minItems": 1, "maxItems": 1, "items": {"type": "string"}}]},
       "echo": {"type": ["boolean", "null"]}, "logprobs": {"type": ["integer", "null"], "minimum": 0, "maximum": 20},
       "best_of": {"enum": [0, 1, null]}
      }
     }
    ]
   },
   "TokenizeRequest": {
    "anyOf": [
     {
      "type": "object", "required": ["content"],
      "properties": {
       "model": {"type": ["string", "null"]}, "content": {"type": "string"}, "add_special": {"type": ["boolean", "null"]},
       "with_pieces": {"type": ["boolean", "null"]}, "parse_special": {"enum": [true, null]}
      }
     },
     {
      "type": "object", "required": ["prompt"],
      "properties": {
       "model": {"type": ["string", "null"]}, "prompt": {"type": "string"}, "add_special_tokens": {"type": ["boolean", "null"]},
       "return_token_strs": {"type": ["boolean", "null"]}
      }
     },
     {
      "type": "object", "required": ["messages"],
      "properties": {
       "model": {"type": ["string", "null"]},
       "messages": {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Message"}},
       "return_token_strs": {"type": ["boolean", "null"]}, "add_generation_prompt": {"enum": [true, null]},
       "continue_final_message": {"enum": [false, null]}
      }
     }
    ]
   },
   "DetokenizeRequest": {
    "type": "object", "required": ["tokens"],
    "properties": {
     "model": {"type": ["string", "null"]}, "tokens": {"type": "array", "maxItems": 1048576, "items": {"type": "integer"}}
    }
   },
   "Message": {
    "type": "object", "required": ["role"],
    "properties": {
     "role": {"enum": ["system", "developer", "user", "assistant"]},
     "content": {
      "oneOf": [{"type": ["string", "null"]}, {"type": "array", "maxItems": 4096, "items": {"$ref": "#/components/schemas/Part"}}]
     },
     "reasoning": {"type": ["string", "null"]}, "reasoning_content": {"type": ["string", "null"]},
     "tool_calls": {"enum": [null, [], false, 0, "", {}]}
    }
   },
   "Part": {
    "oneOf": [
     {
      "type": "object", "required": ["type", "text"],
      "properties": {"type": {"enum": ["text", "input_text"]}, "text": {"type": "string"}}
     },
     {
      "type": "object", "required": ["type", "image_url"],
      "properties": {
       "type": {"enum": ["image_url"]},
       "image_url": {
        "allOf": [
         {"$ref": "#/components/schemas/Address"},
         {"properties": {"detail": {"enum": ["auto", "low", "medium", "high", null]}}}
        ]
       }
      }
     },
     {
      "type": "object", "required": ["type", "video_url"],
      "properties": {
       "type": {"enum": ["video_url"]},
       "video_url": {"$ref": "#/components/schemas/Address"}
      }
     },
     {
      "type": "object", "required": ["type"],
      "properties": {
       "type": {"enum": ["input_video"]},
       "input_video": {
        "type": ["object", "null"], "properties": {"data": {"type": ["string", "null"]}, "url": {"type": ["string", "null"]}}
       }
      }
     },
     {
      "type": "object", "required": ["type", "file"],
      "properties": {
       "type": {"enum": ["file"]},
       "file": {
        "type": "object", "required": ["file_data"],
        "properties": {"file_data": {"type": "string"}, "filename": {"type": ["string", "null"]}}
       }
      }
     }
    ]
   },
   "Address": {
    "oneOf": [{"type": "string"}, {"type": "object", "required": ["url"], "properties": {"url": {"type": "string"}}}]
   },
   "Frames": {
    "type": ["object", "null"],
    "properties": {
     "num_frames": {"type": ["integer", "null"], "minimum": -1, "maximum": 4096},
     "fps": {"type": ["number", "null"], "minimum": -1, "maximum": 1000}
    }
   },
   "Winnow": {
    "type": ["object", "null"], "additionalProperties": false,
    "properties": {
     "method": {"type": ["string", "null"]}, "retention": {"type": ["number", "null"], "exclusiveMinimum": 0, "maximum": 1},
     "budget": {"type": ["integer", "null"], "minimum": 1, "maximum": 16777216}, "options": {"type": ["object", "null"]},
     "guard": {"enum": ["keep", "prefill", "ram", "alone", null]},
     "pins": {
      "type": ["array", "null"], "maxItems": 4096,
      "items": {
       "type": "object",
       "properties": {
        "media": {"type": ["integer", "null"], "minimum": 0, "maximum": 2147483647},
        "from_s": {"type": ["number", "null"], "minimum": 0, "maximum": 1000000000.0},
        "to_s": {"type": ["number", "null"], "minimum": 0, "maximum": 1000000000.0}
       }
      }
     }
    }
   },
   "Answer": {
    "type": "object", "required": ["id", "object", "created", "model", "choices", "usage"],
    "properties": {
     "id": {"type": "string"}, "object": {"enum": ["chat.completion", "text_completion"]}, "created": {"type": "integer"},
     "model": {"type": "string"}, "seed": {"type": "integer"},
     "choices": {"type": "array", "minItems": 1, "maxItems": 1, "items": {"$ref": "#/components/schemas/Choice"}},
     "usage": {"$ref": "#/components/schemas/Usage"}
    }
   },
   "Choice": {
    "type": "object", "required": ["index", "logprobs", "finish_reason"],
    "properties": {"index": {"const": 0}, "finish_reason": {"enum": ["stop", "length", null]}}
   },
   "Usage": {
    "type": "object", "required": ["prompt_tokens", "completion_tokens", "total_tokens", "winnow"],
    "properties": {
     "prompt_tokens": {"type": "integer"}, "completion_tokens": {"type": "integer"}, "total_tokens": {"type": "integer"},
     "winnow": {"type": "object"}
    }
   },
   "Model": {
    "type": "object", "required": ["id", "object", "created", "owned_by"],
    "properties": {
     "id": {"type": "string"}, "object": {"const": "model"}, "created": {"type": "integer"}, "owned_by": {"type": "string"},
     "max_model_len": {"type": "integer"}
    }
   },
   "Error": {
    "type": "object", "required": ["error"],
    "properties": {
     "error": {
      "type": "object", "required": ["message", "type", "param", "code"],
      "properties": {
       "message": {"type": "string"}, "type": {"type": "string"}, "param": {"type": ["string", "null"]},
       "code": {"type": ["string", "null"]}
      }
     }
    }
   }
  }
 }
})json";

}  // namespace

std::string apiDescription(std::string_view version) {
  std::string text(kDescription);
  const std::size_t mark = text.find(kVersionMark);
  return text.replace(mark, kVersionMark.size(), '"' + std::string(version) + '"');
}

}  // namespace winnow::app
