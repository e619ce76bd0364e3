import { effects, fillPermission, permissionMistake } from "./permission.ts"
import { nearest } from "./nearest.ts"
import { compileSchema } from "./schema.ts"
import type { Tool, ToolSpec } from "./tool.ts"

const kinds = ["plain", "composite", "interactive"]
const fields = [
  "name", "description", "describe", "group", "title", "category", "effect", "kind", "offered", "asks", "wireName", "quarantine", "mcp", "input", "output", "permission", "version", "author",
  "tags", "timeoutMs", "idempotent", "exclusive", "fallback", "dependsOn", "cache", "durability", "touches", "onlyReads", "preview", "question", "execute",
] // prettier-ignore

const namePattern = /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/

/** Makes a tool. Mistakes in the definition are thrown here, at once, as sentences. */
export function defineTool<Input>(spec: ToolSpec<Input>): Tool {
  refuseMistakes(spec as ToolSpec)
  const { input, output, permission, execute, preview, touches, onlyReads, question, describe, fallback, ...rest } =
    spec
  // A description may be a getter that tells what is there now.
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
    input: compileSchema(input as never, true),
    ...(output === undefined ? {} : { output: compileSchema(output as never, false) }),
    ...(preview === undefined ? {} : { preview: preview.bind(spec) as Tool["preview"] & {} }),
    ...(onlyReads === undefined ? {} : { onlyReads: onlyReads.bind(spec) as Tool["onlyReads"] & {} }),
    ...(touches === undefined ? {} : { touches: touches.bind(spec) as Tool["touches"] & {} }),
    ...(question === undefined ? {} : { question: question.bind(spec) as Tool["question"] & {} }),
    execute: execute.bind(spec) as Tool["execute"],
  }
}

function refuseMistakes(spec: ToolSpec): void {
  const say = (sentence: string): never => {
    throw new TypeError(`The tool ${JSON.stringify(spec?.name ?? "")} cannot be defined: ${sentence}`)
  }
  if (typeof spec?.name !== "string" || !namePattern.test(spec.name)) {
    say("its name must start with a letter or _ and have only letters, digits, _ - . : after it, 128 at most.")
  }
  for (const field of Object.keys(spec)) {
    if (fields.includes(field)) continue
    const guess = nearest(field, fields)
    say(
      `it has no field '${field}'${guess === undefined ? "" : `; did you mean '${guess}'?`}${guess === undefined ? "." : ""}`,
    )
  }
  if (typeof spec.description !== "string" || spec.description.trim() === "")
    say("it needs a description for the model.")
  if (typeof spec.group !== "string" || spec.group === "") say("it needs a group, so that a role can be given it.")
  if (typeof spec.execute !== "function") say("it needs an execute function.")
  if (spec.input === undefined || spec.input === null) say("it needs an input schema; z.object({}) means no input.")
  if (spec.effect !== undefined && !effects.includes(spec.effect))
    say(`its effect must be one of: ${effects.join(", ")}.`)
  if (spec.kind !== undefined && !kinds.includes(spec.kind)) say(`its kind must be one of: ${kinds.join(", ")}.`)
  const mistake = permissionMistake(spec.permission ?? {})
  if (mistake !== undefined) say(mistake)
  const { timeoutMs } = spec
  if (timeoutMs !== undefined && timeoutMs !== null && !(Number.isFinite(timeoutMs) && timeoutMs > 0)) {
    say("timeoutMs must be a positive number of milliseconds, or null for no limit.")
  }
  if (spec.version !== undefined && !/^[0-9A-Za-z][0-9A-Za-z.+-]*$/.test(spec.version)) {
    say("its version must be made of letters, digits, dots, + and -.")
  }
}
