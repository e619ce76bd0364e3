import type { Tool } from "../../core/tool.ts"
import { base64Decode } from "./base64-decode.ts"
import { base64Encode } from "./base64-encode.ts"
import { jsonParse } from "./json-parse.ts"
import { jsonStringify } from "./json-stringify.ts"

export const dataTools = (): Tool[] => [jsonParse(), jsonStringify(), base64Encode(), base64Decode()]
