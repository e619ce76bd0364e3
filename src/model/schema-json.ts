import { createRequire } from "node:module"
import type { Ajv, ErrorObject, Options, ValidateFunction } from "ajv"
import { expectedType, missing, notOneOf, otherwise, pathText, typeName, unknownParameter, valueAt } from "./problems.ts"
import type { Checked, JsonSchema, Schema } from "./schema.ts"

const require = createRequire(import.meta.url)

const limits = { characters: 256 * 1024, depth: 64, properties: 2000 }

/** Ajv judges foreign schemas; they reach the model unchanged. A pattern is matched in linear time. */
export function jsonSchemaSchema(json: JsonSchema, closed: boolean): Schema {
  refuseTooLarge(json)
  const judge = compile(json)
  const known = closed ? closedProperties(json) : undefined
  return {
    json,
    check(value): Checked {
      const copy = structuredClone(value)
      const problems = judge(copy) ? [] : (judge.errors ?? []).flatMap((error) => describe(error, value, json))
      if (known !== undefined && typeName(value) === "object") {
        for (const name of Object.keys(value as object)) {
          if (!known.includes(name)) problems.push(unknownParameter(name, known))
        }
      }
      return problems.length === 0 ? { ok: true, value: copy } : { ok: false, problems: [...new Set(problems)] }
    },
  }
}

/** The parameters of a schema that names some and says nothing about others: the rest is refused. */
function closedProperties(json: JsonSchema): string[] | undefined {
  const opening = ["additionalProperties", "unevaluatedProperties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf"]
  const properties = json["properties"]
  if (typeof properties !== "object" || properties === null) return undefined
  if ([...opening, "if", "dependentSchemas"].some((word) => word in json)) return undefined
  return Object.keys(properties)
}

function refuseTooLarge(json: JsonSchema): void {
  let properties = 0
  const walk = (node: unknown, depth: number): void => {
    if (typeof node !== "object" || node === null) return
    if (depth > limits.depth) throw new Error(`The schema is nested deeper than ${limits.depth} levels; flatten it.`)
    for (const value of Object.values(node)) {
      if (++properties > limits.properties * 10) throw new Error("The schema has too many parts; split the tool.")
      walk(value, depth + 1)
    }
  }
  walk(json, 0)
  if (JSON.stringify(json).length > limits.characters) {
    throw new Error(`The schema is longer than ${limits.characters} characters; split the tool.`)
  }
}

function compile(json: JsonSchema): ValidateFunction {
  const judge = judgeFor(json["$schema"])
  try {
    const { $id: _, ...nameless } = json
    return judge.compile(nameless)
  } catch (error) {
    throw new Error(`The JSON Schema cannot be used: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}

const judges = new Map<string, Ajv>()

function judgeFor(dialect: unknown): Ajv {
  const draft = draftOf(dialect)
  let judge = judges.get(draft)
  if (judge === undefined) {
    const options: Options = {
      allErrors: true,
      strict: false,
      ownProperties: true,
      useDefaults: true,
      addUsedSchema: false,
      logger: false,
      code: { regExp: linearRegExp() },
    }
    const { default: AjvClass } = require(draft === "draft-07" ? "ajv" : "ajv/dist/2020.js") as {
      default: new (options: Options) => Ajv
    }
    judge = new AjvClass(options)
    const { default: addFormats } = require("ajv-formats") as { default: (ajv: Ajv, options: { mode: "fast" }) => void }
    addFormats(judge, { mode: "fast" })
    judges.set(draft, judge)
  }
  return judge
}

function draftOf(dialect: unknown): "2020-12" | "draft-07" {
  if (dialect === undefined) return "2020-12"
  const address = String(dialect)
  if (address.includes("draft/2020-12")) return "2020-12"
  if (address.includes("draft-07")) return "draft-07"
  throw new Error(`JSON Schema '${address}' is not supported; write it for 2020-12 or draft-07.`)
}

/** Foreign patterns run on RE2, so none can hang the process. */
function linearRegExp(): NonNullable<NonNullable<Options["code"]>["regExp"]> {
  const { RE2JS } = require("re2js") as typeof import("re2js")
  const make = (pattern: string) => {
    const readable = pattern.replace(/\\u\{?([0-9a-fA-F]{4,6})\}?/g, "\\x{$1}")
    const compiled = RE2JS.compile(readable)
    return { test: (text: string) => compiled.matcher(text).find() }
  }
  return Object.assign(make, { code: "linearRegExp" }) as never
}

function describe(error: ErrorObject, value: unknown, json: JsonSchema): string[] {
  const path = steps(error.instancePath)
  const text = pathText(path)
  const got = valueAt(value, path)
  const { params } = error as { params: Record<string, unknown> }
  switch (error.keyword) {
    case "required":
      return [missing(pathText([...path, String(params["missingProperty"])]))]
    case "type":
      return [expectedType(text || "input", String(params["type"]), typeName(got))]
    case "enum":
      return [notOneOf(text || "input", params["allowedValues"] as unknown[])]
    case "const":
      return [notOneOf(text || "input", [params["allowedValue"]])]
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = String(params["additionalProperty"] ?? params["unevaluatedProperty"])
      const known = path.length === 0 ? Object.keys((json["properties"] as object) ?? {}) : []
      return [unknownParameter(pathText([...path, name]), known)]
    }
    default:
      return [otherwise(text, error.message ?? `breaks the rule '${error.keyword}'`)]
  }
}

function steps(pointer: string): (string | number)[] {
  if (pointer === "") return []
  return pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step))
}
