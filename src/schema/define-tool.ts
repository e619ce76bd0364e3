import { effects, fillPermission, permissionMistake } from "../core/permission.ts"
import { nearestName } from "../lib/nearest-name.ts"
import { compileSchema, type UnknownProperties } from "./compile-schema.ts"
import type { Schema, SchemaSource } from "../core/schema.ts"
import type { ResultOf, Tool, ToolSpec, ToolTraits, TypedTool } from "../core/tool.ts"

const kinds = ["plain", "composite", "interactive"]
const fields = [
  "name", "description", "describe", "group", "title", "category", "effect", "kind", "exposedAs", "questionTool", "wireName", "quarantine", "mcp", "namedPaths", "input", "output", "permission", "version", "author",
  "tags", "timeoutMs", "idempotent", "destructive", "exclusive", "fallback", "dependsOn", "cache", "durability", "touches", "secretFields", "onlyReads", "preview", "question", "execute",
] // prettier-ignore

const namePattern = /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/

/** A tool of ours. A schema in a function is made when it is first used, once for all apps of the process. */
interface OwnToolSpec<Input, Given, Output, Returned> extends ToolTraits<Input, Returned> {
  input: SchemaSource<Input, Given> | (() => SchemaSource<Input, Given>)
  output?: SchemaSource<Output> | (() => SchemaSource<Output>)
}

/** Makes a tool of ours; see `ToolSpec` for an example. Throws a sentence when the definition has a mistake. */
export function defineTool<Input, Given = Input, Output = unknown, Returned = unknown>(
  spec: OwnToolSpec<Input, Given, Output, Returned>,
): TypedTool<Given, ResultOf<Output, Returned>> {
  return make(spec, "refuse")
}

/**
 * Makes a tool; see `ToolSpec` for an example. Throws a sentence when the definition has a mistake. Parameters that
 * `z.object` does not name are dropped, as Zod does; `z.strictObject` refuses them.
 */
export function defineHostTool<Input, Given = Input, Output = unknown, Returned = unknown>(
  spec: ToolSpec<Input, Given, Output, Returned>,
): TypedTool<Given, ResultOf<Output, Returned>> {
  return make(spec, "drop")
}

type Source = SchemaSource<never> | (() => SchemaSource<never>)

/** Schemas that were given as functions, by tool and part. */
const made = new Map<string, Schema>()

function sharedSchema(key: string, source: Source, unknown: UnknownProperties): Schema {
  if (typeof source !== "function") return compileSchema(source, unknown)
  const schema = () => {
    const known = made.get(key) ?? compileSchema(source(), unknown)
    made.set(key, known)
    return known
  }
  return {
    get json() {
      return schema().json
    },
    check: (value) => schema().check(value),
  }
}

function make<Input, Given = Input, Output = unknown, Returned = unknown>(
  spec: OwnToolSpec<Input, Given, Output, Returned>,
  unknown: UnknownProperties,
): TypedTool<Given, ResultOf<Output, Returned>> {
  refuseMistakes(spec as ToolSpec)
  const schemaOf = (part: string, source: Source, properties: UnknownProperties) =>
    unknown === "refuse"
      ? sharedSchema(`${spec.name} ${part}`, source, properties)
      : compileSchema(source as SchemaSource<never>, properties)
  const { input, output, permission, execute, preview, touches, secretFields, onlyReads, question, ...more } = spec
  const { describe, fallback, ...rest } = more
  // The description may be a getter, so it is read each time and not copied.
  const { description: _description, ...named } = rest
  return {
    ...named,
    get description() {
      return describe === undefined ? spec.description : `${spec.description} ${describe.call(spec)}`
    },
    ...(describe === undefined ? {} : { definition: spec.description }),
    category: spec.category ?? "custom",
    kind: spec.kind ?? "plain",
    version: spec.version ?? "1.0.0",
    author: spec.author ?? "",
    tags: spec.tags ?? [],
    idempotent: spec.idempotent ?? false,
    exclusive: spec.exclusive ?? false,
    permission: fillPermission(permission, spec.effect),
    ...(fallback === undefined
      ? {}
      : { fallback: fallback.map((one) => (typeof one === "string" ? { tool: one } : one)) }),
    input: schemaOf("input", input as Source, unknown),
    ...(output === undefined ? {} : { output: schemaOf("output", output as Source, "output") }),
    ...(preview === undefined ? {} : { preview: preview.bind(spec) as Tool["preview"] & {} }),
    ...(onlyReads === undefined ? {} : { onlyReads: onlyReads.bind(spec) as Tool["onlyReads"] & {} }),
    ...(touches === undefined ? {} : { touches: touches.bind(spec) as Tool["touches"] & {} }),
    ...(secretFields === undefined ? {} : { secretFields: secretFields.bind(spec) as Tool["secretFields"] & {} }),
    ...(question === undefined ? {} : { question: question.bind(spec) as Tool["question"] & {} }),
    execute: execute.bind(spec) as Tool["execute"],
  }
}

function refuseMistakes(spec: ToolSpec): void {
  const refuse = (sentence: string): never => {
    throw new TypeError(`The tool ${JSON.stringify(spec?.name ?? "")} cannot be defined: ${sentence}`)
  }
  if (typeof spec?.name !== "string" || !namePattern.test(spec.name)) {
    refuse("its name must start with a letter or _ and have only letters, digits, _ - . : after it, 128 at most.")
  }
  for (const field of Object.keys(spec)) {
    if (fields.includes(field)) continue
    const guess = nearestName(field, fields)
    refuse(
      `a tool has no field '${field}'${guess === undefined ? "" : `; did you mean '${guess}'?`}${guess === undefined ? "." : ""}`,
    )
  }
  if (typeof spec.description !== "string" || spec.description.trim() === "")
    refuse("it needs a description for the model.")
  if (typeof spec.group !== "string" || spec.group === "") refuse("it needs a group, so that a role can be given it.")
  if (typeof spec.execute !== "function") refuse("it needs an execute function.")
  if (spec.input === undefined || spec.input === null) refuse("it needs an input schema; z.object({}) means no input.")
  if (spec.effect !== undefined && !effects.includes(spec.effect))
    refuse(`its effect must be one of: ${effects.join(", ")}.`)
  if (spec.kind !== undefined && !kinds.includes(spec.kind)) refuse(`its kind must be one of: ${kinds.join(", ")}.`)
  const mistake = permissionMistake(spec.permission ?? {})
  if (mistake !== undefined) refuse(mistake)
  const { timeoutMs } = spec
  if (timeoutMs !== undefined && timeoutMs !== null && !(Number.isFinite(timeoutMs) && timeoutMs > 0)) {
    refuse("timeoutMs must be a positive number of milliseconds, or null for no limit.")
  }
  if (spec.version !== undefined && !/^[0-9A-Za-z][0-9A-Za-z.+-]*$/.test(spec.version)) {
    refuse("its version must be made of letters, digits, dots, + and -.")
  }
}
