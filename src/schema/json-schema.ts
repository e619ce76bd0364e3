import { createRequire } from "node:module"
import type { Ajv, ErrorObject, Options, ValidateFunction } from "ajv"
import type { RE2JS } from "re2js"
import { runWithTimeLimit } from "../lib/run-with-time-limit.ts"
import { errorMessage } from "../lib/error-message.ts"
import {
  expectedType,
  manyUnknown,
  missingParameter,
  mostProblems,
  notOneOf,
  parameterProblem,
  pathText,
  typeName,
  unknownParameter,
  valueAtPath,
} from "./problems.ts"
import type { ValidationResult, JsonSchema, Schema } from "../core/schema.ts"

const require = createRequire(import.meta.url)

const limits = {
  characters: 256 * 1024,
  depth: 64,
  properties: 2000,
  problems: mostProblems,
  milliseconds: 1000,
  patternCharacters: 1000,
}
const tooLong = parameterProblem("", "takes too long to check against the schema; send less of it, nested less deeply")

/** Validates with Ajv. The schema reaches the model unchanged. Patterns are matched in linear time. */
export function compileJsonSchema(json: JsonSchema): Schema {
  refuseTooLarge(json)
  const validate = compile(json)
  const text = JSON.stringify(json)
  const takesLong = canTakeLong(text)
  const patterns = text.match(/"(?:pattern|patternProperties)"/g)?.length ?? 0
  const only = onlyProperties(json)
  return {
    json,
    check(value): ValidationResult {
      const unknown = only && manyUnknown(value, only)
      if (unknown !== undefined) return { ok: false, problems: unknown }
      const copied = copyOf(value)
      if (copied === undefined) return { ok: false, problems: [parameterProblem("", "must be JSON data")] }
      const { copy } = copied
      let isValid = false
      if (!takesLong && !isLongForPatterns(patterns, copy)) isValid = validate(copy)
      else if (!runWithTimeLimit(limits.milliseconds, () => () => void (isValid = validate(copy))))
        return { ok: false, problems: [tooLong] }
      const errors = isValid ? [] : (validate.errors ?? []).slice(0, limits.problems)
      const problems = errors.flatMap((error) => describe(error, value, json))
      return problems.length === 0 ? { ok: true, value: copy } : { ok: false, problems: [...new Set(problems)] }
    },
  }
}

/**
 * Reports whether validation may take more than linear time: through references, or by comparing all items with each
 * other.
 */
function canTakeLong(text: string): boolean {
  return /"(?:\$ref|\$dynamicRef|\$recursiveRef|uniqueItems)"/.test(text)
}

/** Patterns take time for each character, and for each count they are written with: little for short texts only. */
function isLongForPatterns(patterns: number, value: unknown): boolean {
  return patterns > 0 && (JSON.stringify(value)?.length ?? 0) * patterns > limits.patternCharacters
}

/** The only properties an object may have, whatever else the schema says. */
function onlyProperties({ additionalProperties, patternProperties, properties }: JsonSchema): string[] | undefined {
  if (additionalProperties !== false || patternProperties !== undefined) return undefined
  return Object.keys(properties ?? {})
}

/** A copy that takes the defaults. Undefined when the value cannot be JSON. */
function copyOf(value: unknown): { copy: unknown } | undefined {
  try {
    return { copy: structuredClone(value) }
  } catch {
    return undefined
  }
}

function refuseTooLarge(json: JsonSchema): void {
  let properties = 0
  const measure = (node: unknown, depth: number): void => {
    if (typeof node !== "object" || node === null) return
    if (depth > limits.depth) throw new Error(`The schema is nested deeper than ${limits.depth} levels; flatten it.`)
    for (const value of Object.values(node)) {
      if (++properties > limits.properties * 10) throw new Error("The schema has too many parts; split the tool.")
      measure(value, depth + 1)
    }
  }
  measure(json, 0)
  if (JSON.stringify(json).length > limits.characters) {
    throw new Error(`The schema is longer than ${limits.characters} characters; split the tool.`)
  }
}

function compile(json: JsonSchema): ValidateFunction {
  const draft = draftOf(json["$schema"])
  const { $schema: _, $async: __, $id, ...nameless } = json
  try {
    const text = JSON.stringify(nameless)
    const named = text.includes('"$id"') || (typeof $id === "string" && text.includes($id))
    const given = named && $id !== undefined ? { $id, ...nameless } : nameless
    let compiled: ValidateFunction | undefined
    const isDone = runWithTimeLimit(
      limits.milliseconds,
      () => {
        const ajv = named ? newAjv(draft) : sharedAjv(draft)
        return () => void (compiled = ajv.compile(given))
      },
      // An Ajv that was stopped in the middle of a schema must not be used again.
      () => shared.delete(draft),
    )
    if (!isDone || compiled === undefined) throw new Error("it takes too long to read; split the tool.")
    return compiled
  } catch (error) {
    throw new Error(`The JSON Schema cannot be used: ${errorMessage(error)}`, {
      cause: error,
    })
  }
}

type Draft = "2020-12" | "draft-07"

const shared = new Map<Draft, { ajv: Ajv; left: number }>()
const schemasPerAjv = 256

/**
 * One Ajv for many schemas. Schemas with an `$id` get their own, so that ids of different tools cannot clash. An Ajv
 * never forgets a schema, so it is replaced after a while.
 */
function sharedAjv(draft: Draft): Ajv {
  let known = shared.get(draft)
  if (known === undefined || known.left === 0) {
    shared.set(draft, (known = { ajv: newAjv(draft), left: schemasPerAjv }))
  }
  known.left -= 1
  return known.ajv
}

function newAjv(draft: Draft): Ajv {
  const options: Options = {
    allErrors: true,
    strict: false,
    strictNumbers: true,
    ownProperties: true,
    useDefaults: true,
    addUsedSchema: false,
    logger: false,
    code: { regExp: linearRegExp() },
  }
  const { default: AjvClass } = require(draft === "draft-07" ? "ajv" : "ajv/dist/2020.js") as {
    default: new (options: Options) => Ajv
  }
  const ajv = new AjvClass(options)
  const { default: addFormats } = require("ajv-formats") as { default: (ajv: Ajv, options: { mode: "fast" }) => void }
  addFormats(ajv, { mode: "fast" })
  return ajv
}

function draftOf(dialect: unknown): Draft {
  if (dialect === undefined) return "2020-12"
  const address = typeof dialect === "string" ? dialect : JSON.stringify(dialect)
  if (address.includes("draft/2020-12")) return "2020-12"
  if (address.includes("draft-07")) return "draft-07"
  throw new Error(`JSON Schema '${address}' is not supported; write it for 2020-12 or draft-07.`)
}

/** Foreign patterns run on RE2, so none can hang the process. Ajv tells patterns apart by their `toString`. */
function linearRegExp(): NonNullable<NonNullable<Options["code"]>["regExp"]> {
  const { RE2JS } = require("re2js") as typeof import("re2js")
  const make = (pattern: string) => {
    const compiled = compilePattern(RE2JS, pattern)
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => pattern }
  }
  return Object.assign(make, { code: "linearRegExp" })
}

function compilePattern(engine: typeof RE2JS, pattern: string): RE2JS {
  try {
    return engine.compile(engine.translateRegExp(joinSurrogates(pattern)))
  } catch (error) {
    const why = errorMessage(error)
    const advice = "Write it without look-around, back references and counts above 1000."
    throw new Error(`the pattern '${pattern}' cannot be matched in linear time (${why}). ${advice}`, { cause: error })
  }
}

/** Two escapes that spell one character become one. Other escapes are stepped over, so `\\\\ud83d` stays text. */
function joinSurrogates(pattern: string): string {
  return pattern.replace(
    /\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\[^]/gi,
    (escape, high?: string, low?: string) => {
      if (high === undefined || low === undefined) return escape
      const character = String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16))
      return `\\u{${character.codePointAt(0)!.toString(16)}}`
    },
  )
}

function describe(error: ErrorObject, value: unknown, json: JsonSchema): string[] {
  const path = steps(error.instancePath)
  const text = pathText(path)
  const got = valueAtPath(value, path)
  const { params } = error as { params: Record<string, unknown> }
  switch (error.keyword) {
    case "required":
      return [missingParameter(pathText([...path, String(params["missingProperty"])]))]
    case "type":
      return [expectedType(text || "input", [params["type"]].flat().join(" or "), typeName(got))]
    case "enum":
      return [notOneOf(text || "input", params["allowedValues"] as unknown[])]
    case "const":
      return [notOneOf(text || "input", [params["allowedValue"]])]
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = String(params["additionalProperty"] ?? params["unevaluatedProperty"])
      return [unknownParameter([...path, name], namesBeside(error, json))]
    }
    default:
      return [parameterProblem(text, error.message ?? `breaks the rule '${error.keyword}'`)]
  }
}

/** The property names beside the keyword that failed. Undefined when it is in another schema. */
function namesBeside({ schemaPath }: ErrorObject, json: JsonSchema): string[] | undefined {
  const place = steps(decodeURIComponent(schemaPath.slice(1))).slice(0, -1)
  const schema = schemaPath.startsWith("#") ? valueAtPath(json, place) : undefined
  if (typeof schema !== "object" || schema === null) return undefined
  return Object.keys((schema as JsonSchema)["properties"] ?? {})
}

function steps(pointer: string): (string | number)[] {
  if (pointer === "") return []
  return pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step))
}
