import { join } from "node:path"
import { hookSeconds, type ClientName } from "./clients.ts"
import { isObject } from "../lib/is-object.ts"
import { shellWord } from "../lib/shell-word.ts"
import { readJsonc, type Jsonc } from "./jsonc.ts"

/** The command that a client's hooks start, without a shell where the client can. */
export interface HookCommand {
  command: string
  args: readonly string[]
}

/** The place of a client's hooks, and the way to add and remove ours. */
interface HookPlace {
  file(cwd: string): string
  /** The events, and whether each has a matcher. */
  events: readonly string[]
  path: readonly string[]
  /** One hook, as the client writes it. */
  item(event: string, hook: HookCommand): Record<string, unknown>
  /** Other values that the file must have. */
  also?: readonly [path: readonly string[], value: unknown][]
}

const line = ({ command, args }: HookCommand) => [command, ...args].map(shellWord).join(" ")

/**
 * These agents start hooks by a shell, and go on when a hook is missing or killed: the shell makes a no of that. With cmd
 * on Windows the plain command is all there is.
 */
const closed = (text: string) =>
  process.platform === "win32"
    ? text
    : `${text} || { echo 'NOT EXECUTED. The hook of Quartermaster failed.' >&2; exit 2; }`

const byShell =
  (timeout: number, more: object = {}) =>
  (event: string, hook: HookCommand) => ({
    matcher: "*",
    hooks: [{ type: "command", command: isBefore(event) ? closed(line(hook)) : line(hook), timeout, ...more }],
  })

const isBefore = (event: string) => /^(pre|before)/i.test(event)

const places: Partial<Record<ClientName, HookPlace>> = {
  claude: {
    file: (cwd) => join(cwd, ".claude", "settings.json"),
    events: ["PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionEnd"],
    path: ["hooks"],
    item: (event, { command, args }) => ({
      ...(event === "SessionEnd" ? {} : { matcher: "*" }),
      hooks: [
        {
          type: "command",
          command,
          args,
          timeout: hookSeconds,
          ...(event === "PreToolUse" ? { onFailure: "block" } : {}),
        },
      ],
    }),
  },
  codex: {
    file: (cwd) => join(cwd, ".codex", "hooks.json"),
    events: ["PreToolUse", "PostToolUse", "Stop"],
    path: ["hooks"],
    item: (event, hook) =>
      event === "Stop"
        ? { hooks: [{ type: "command", command: line(hook), timeout: hookSeconds }] }
        : { ...byShell(hookSeconds)(event, hook), matcher: ".*" },
  },
  gemini: {
    file: (cwd) => join(cwd, ".gemini", "settings.json"),
    events: ["BeforeTool", "AfterTool", "SessionEnd"],
    path: ["hooks"],
    item: byShell(hookSeconds * 1000, { name: "quartermaster" }),
  },
  qwen: {
    file: (cwd) => join(cwd, ".qwen", "settings.json"),
    events: ["PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionEnd"],
    path: ["hooks"],
    item: byShell(hookSeconds * 1000, { name: "quartermaster" }),
  },
  cursor: {
    file: (cwd) => join(cwd, ".cursor", "hooks.json"),
    events: ["preToolUse", "postToolUse", "postToolUseFailure", "sessionEnd"],
    path: ["hooks"],
    also: [[["version"], 1]],
    item: (event, hook) => ({
      command: isBefore(event) ? closed(line(hook)) : line(hook),
      timeout: hookSeconds,
      ...(event === "preToolUse" ? { failClosed: true } : {}),
    }),
  },
  copilot: {
    file: (cwd) => join(cwd, ".github", "hooks", "quartermaster.json"),
    events: ["preToolUse", "postToolUse", "sessionEnd"],
    path: ["hooks"],
    also: [[["version"], 1]],
    // Its payload does not say which event it is.
    item(event, hook) {
      const text = `${line(hook)} --event ${event}`
      return { type: "command", bash: isBefore(event) ? closed(text) : text, timeoutSec: hookSeconds }
    },
  },
}

/** A file of a client, and the change to it. */
export interface FileEdit {
  file: string
  edit(before: string): string
}

/** Puts our hooks into the client's file, in place of those that are there already. Undefined for a client without hooks. */
export function addHooks(client: ClientName, hook: HookCommand, cwd: string): FileEdit | undefined {
  if (client === "opencode") return { file: pluginFile(cwd), edit: () => opencodePlugin(hook) }
  const place = places[client]
  return (
    place && {
      file: place.file(cwd),
      edit: (before) => withHooks(place, withoutOurs(place, client, before), hook),
    }
  )
}

/** A whole file with our hooks and these settings. */
export function hooksText(client: ClientName, hook: HookCommand, settings: object): string {
  const place = places[client]
  const start = `${JSON.stringify(settings, null, 2)}\n`
  return place === undefined ? start : withHooks(place, start, hook)
}

/** Takes our hooks out again. What is left empty by that goes too. */
export function removeHooks(client: ClientName, cwd: string): FileEdit | undefined {
  if (client === "opencode")
    return { file: pluginFile(cwd), edit: (before) => (before.startsWith(pluginStart) ? "" : before) }
  const place = places[client]
  return place && { file: place.file(cwd), edit: (before) => withoutOurs(place, client, before) }
}

/** The commands of our hooks in the client's file, for the event before a call. */
export function findHook(client: ClientName, cwd: string, read: (file: string) => string): FoundHook | undefined {
  if (client === "opencode") {
    const text = read(pluginFile(cwd))
    const words = /^const command = (\[.*\])$/m.exec(text)?.[1]
    return words === undefined ? undefined : { file: pluginFile(cwd), words: JSON.parse(words) as string[] }
  }
  const place = places[client]
  if (place === undefined) return undefined
  const [event = ""] = place.events
  const file = place.file(cwd)
  const items = itemsAt(readJsonc(read(file)), [...place.path, event])
  const own = items.find((item) => isOurs(item, client))
  return own === undefined ? undefined : { file, ...startOf(own) }
}

/** A hook of the file and its start: by its words, or as a line for the shell. */
export type FoundHook = { file: string } & ({ words: string[]; line?: undefined } | { line: string; words?: undefined })

function startOf(item: unknown): { words: string[] } | { line: string } {
  const found = isObject(item) && Array.isArray(item["hooks"]) ? (item["hooks"][0] as unknown) : item
  const { command, args, bash } = (isObject(found) ? found : {}) as { command?: string; args?: string[]; bash?: string }
  return Array.isArray(args) ? { words: [command ?? "", ...args] } : { line: bash ?? command ?? "" }
}

function withHooks(place: HookPlace, before: string, hook: HookCommand): string {
  let text = before
  for (const [path, value] of place.also ?? []) text = readJsonc(text).with(path, value)
  for (const event of place.events) {
    const path = [...place.path, event]
    text = readJsonc(text).withItem(path, place.item(event, hook))
  }
  return text
}

function withoutOurs(place: HookPlace, client: ClientName, before: string): string {
  if (before.trim() === "") return before
  let text = before
  for (const event of place.events) {
    const path = [...place.path, event]
    for (;;) {
      const json = readJsonc(text)
      const items = itemsAt(json, path)
      const at = items.findIndex((item) => isOurs(item, client))
      if (at === -1) break
      text = items.length === 1 ? json.without(path) : json.withoutItem(path, at)
    }
  }
  const hooks = valueAt(readJsonc(text).value, place.path)
  return isObject(hooks) && Object.keys(hooks).length === 0 ? readJsonc(text).without(place.path) : text
}

function itemsAt(json: Jsonc, path: readonly string[]): unknown[] {
  const found = valueAt(json.value, path)
  return Array.isArray(found) ? found : []
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((at: unknown, step) => (isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined), value)
}

/** A hook that starts `qm hook <client>`, however the program is started. */
function isOurs(item: unknown, client: string): boolean {
  const start = startOf(item)
  const text = "words" in start ? start.words.join(" ") : start.line
  return new RegExp(`(^|[\\s/\\\\'"])(qm|qm\\.js|quartermaster)'? hook ${client}( |$)`).test(text)
}

const pluginFile = (cwd: string) => join(cwd, ".opencode", "plugin", "quartermaster.js")
const pluginStart = "// Written by 'qm install opencode'."

/** opencode has no command hooks but plugins: this one does what its hook process says, and throws where it says nothing. */
function opencodePlugin({ command, args }: HookCommand): string {
  return `${pluginStart} It asks Quartermaster about every tool call; 'qm install opencode --uninstall' removes it.
import { spawn } from "node:child_process"

const command = ${JSON.stringify([command, ...args])}

function ask(payload, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command[0], command.slice(1), { cwd, stdio: ["pipe", "pipe", "pipe"] })
    let out = ""
    let errors = ""
    child.stdout.on("data", (chunk) => (out += chunk))
    child.stderr.on("data", (chunk) => (errors += chunk))
    child.stdin.on("error", () => {})
    child.on("error", reject)
    child.on("close", (code) => (code === 0 ? resolve(out === "" ? {} : JSON.parse(out)) : reject(new Error(errors || "The hook of Quartermaster failed."))))
    child.stdin.end(JSON.stringify(payload))
  })
}

export const Quartermaster = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const reply = await ask({ event: "before", ...input, args: output.args, cwd: directory }, directory)
    // Calls that are neither allowed nor our own server's are refused.
    if (reply.decision === "deny") throw new Error(reply.reason)
    if (reply.args) Object.assign(output.args, reply.args)
  },
  "tool.execute.after": async (input, output) => {
    const reply = await ask({ event: "after", ...input, output: { title: output.title, output: output.output }, cwd: directory }, directory)
    if (reply.output !== undefined) output.output = reply.output
  },
  event: async ({ event }) => {
    if (event.type !== "session.deleted") return
    await ask({ event: "end", sessionID: event.properties.info.id, cwd: directory }, directory).catch(() => {})
  },
})
`
}
