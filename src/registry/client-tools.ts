import type { CallRequest, Elsewhere } from "../core/call.ts"
import type { AgentView } from "../core/organisation.ts"
import { mcpName } from "../core/mcp.ts"
import { fillPermission, type Effect } from "../core/permission.ts"
import type { Preview } from "../core/preview.ts"
import type { Schema } from "../core/schema.ts"
import type { RegisteredTool, Tool } from "../core/tool.ts"
import { isObject } from "../lib/is-object.ts"
import {
  otherFields,
  readFields,
  unknownFields,
  writeFields,
  type ClientTool,
  type Fields,
  type LikeOurs,
} from "./dialects/client-tool.ts"
import { clientTool } from "./dialects/client-tables.ts"
import { withRegistration } from "./registered-tool.ts"
import type { Tools } from "./tools.ts"

/** The group of the tools that only coding agents have. */
export const clientGroup = "clients"

type Known = Pick<Tools, "resolve">

/**
 * The tool that a coding agent's call means, and its input. It has the name, rules and permissions of our tool that it is
 * like, where there is one, but it is not that tool: an approval of one counts for the other nowhere, and what it touches is
 * never held by our sandbox, because the agent runs it.
 */
export function toolElsewhere(
  { tool: name, input }: Pick<CallRequest, "tool" | "input">,
  { client, cwd }: Elsewhere,
  who: AgentView | undefined,
  tools: Known,
): { tool: RegisteredTool; input: unknown; intent?: string } {
  const known = clientTool(client, name)
  const ours = known?.like === undefined ? undefined : tools.resolve(known.like, who)
  if (known?.like !== undefined && ours !== undefined)
    return { tool: derived(ours, client, known), ...readFields(known, isObject(input) ? input : {}, cwd) }
  const called = nameOf(client, name)
  const server = called.startsWith("mcp:") ? tools.resolve(called, who) : undefined
  if (server !== undefined) return { tool: derived(server, client, undefined), input }
  return { tool: ownTool(called, known?.like === undefined ? known?.effect : undefined, who), input }
}

/** The agent's input with what a person changed in ours. Undefined where the agent has no field for the change. */
export function inputElsewhere(
  { tool: name, input }: Pick<CallRequest, "tool" | "input">,
  { client, cwd }: Pick<Elsewhere, "client" | "cwd">,
  edited: unknown,
): unknown {
  const known = clientTool(client, name)
  if (known?.like === undefined) return edited
  if (!isObject(input) || !isObject(edited)) return undefined
  return writeFields(known, edited, input, cwd)
}

const derivedTools = new WeakMap<RegisteredTool, Map<string, { from: ClientTool | undefined; tool: RegisteredTool }>>()

/** The same object each time, so that the rules about it are looked up once. */
function derived(ours: RegisteredTool, client: string, from: LikeOurs | undefined): RegisteredTool {
  let known = derivedTools.get(ours)
  if (known === undefined) derivedTools.set(ours, (known = new Map()))
  const key = `${client} ${from === undefined ? "" : Object.keys(from.fields).join()}`
  const found = known.get(key)
  if (found?.from === from && found !== undefined) return found.tool
  const tool = deriveTool(ours, client, from)
  known.set(key, { from, tool })
  return tool
}

function deriveTool(ours: RegisteredTool, client: string, from: LikeOurs | undefined): RegisteredTool {
  const { touches = ours.touches, preview = ours.preview } = from ?? {}
  const { cache: _cache, fallback: _fallback, question: _question, onlyReads: _onlyReads, ...rest } = ours
  const tool: RegisteredTool = {
    ...rest,
    get description() {
      return ours.description
    },
    // Approvals are bound to it.
    definitionHash: `${ours.definitionHash} elsewhere ${client}`,
    execute: neverHere,
    input: from === undefined ? ours.input : withOtherFields(ours.input, from),
    ...(preview === undefined
      ? {}
      : { preview: async (input, session) => runBy(client, await preview(withoutOthers(input), session)) }),
    ...(touches === undefined
      ? {}
      : {
          touches: (input, session) => {
            const unknown = from === undefined ? [] : unknownFields(from, input as Fields)
            // The effect of an unknown field is not known either.
            if (unknown.length > 0) throw new Error(`It is not known what ${unknown.join(", ")} does.`)
            return touches(withoutOthers(input), session).map(({ sandboxed: _held, ...touch }) => touch)
          },
        }),
  }
  return tool
}

/** Corrects a preview: our sandbox and limits do not hold this command. */
function runBy(client: string, preview: string | Preview): string | Preview {
  if (typeof preview === "string" || preview.kind !== "command") return preview
  const text = `${client} runs it itself: no sandbox and no time limit of Quartermaster holds it.`
  return { ...preview, details: [{ code: "detail_runs_elsewhere", params: { client }, text }] }
}

function withoutOthers(input: unknown): Fields {
  if (!isObject(input)) return {}
  const { [otherFields]: _others, ...own } = input
  return own
}

/** Our schema, and beside it the fields of the agent that have no name here. */
function withOtherFields(schema: Schema, from: LikeOurs): Schema {
  return {
    get json() {
      return schema.json
    },
    check(value) {
      if (!isObject(value)) return schema.check(value)
      const { [otherFields]: others, ...own } = value
      if (from.problem !== undefined) {
        const problem = from.problem(own)
        return problem === undefined ? { ok: true, value } : { ok: false, problems: [problem] }
      }
      const checked = schema.check(own)
      if (!checked.ok || others === undefined) return checked
      return { ok: true, value: { ...(checked.value as Fields), [otherFields]: others } }
    },
  }
}

/** A tool that is like none of ours, by a name that rules can use. */
function ownTool(name: string, effect: Effect | undefined, who: AgentView | undefined): RegisteredTool {
  const key = `${who?.agent.id} ${name}`
  const known = ownTools.get(key)
  if (known !== undefined) return known
  // Names may come from a model: they must not fill the memory.
  if (ownTools.size >= 1000) ownTools.clear()
  const tool: Tool = {
    name,
    description: `A tool that the agent's own program runs: ${name}.`,
    group: clientGroup,
    category: "custom",
    kind: "plain",
    version: "1.0.0",
    author: "",
    tags: [],
    idempotent: false,
    exclusive: false,
    effect,
    permission: fillPermission(undefined, effect),
    input: anyObject,
    execute: neverHere,
  }
  const layer = `agent:${who?.agent.id ?? ""}` as const
  const id = `${layer}:${name}@1.0.0`
  const made = withRegistration(tool, { id, type: "custom", layer, enabled: true, permission: tool.permission })
  ownTools.set(key, made)
  return made
}

const ownTools = new Map<string, RegisteredTool>()

const anyObject: Schema = {
  json: { type: "object" },
  check: (value) => (isObject(value) ? { ok: true, value } : { ok: false, problems: ["The input must be an object"] }),
}

function neverHere(): never {
  throw new Error("The program that made this call runs the tool itself.")
}

/** `mcp__github__create_issue` is called `mcp:github:create_issue`, and other tools `claude:Skill`. */
function nameOf(client: string, name: string): string {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/s.exec(name) ?? []
  const called = server === undefined || tool === undefined ? `${client}:${name}` : mcpName(server, tool)
  return called.replaceAll(/[^A-Za-z0-9_.:-]/g, "_").slice(0, 128)
}
