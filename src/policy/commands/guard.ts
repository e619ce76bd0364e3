import { posix } from "node:path"
import type { Finding, Guard, GuardLook, LookOptions } from "../../model/guard.ts"
import type { Reason } from "../../model/record.ts"
import type { Touch } from "../../model/rule.ts"
import { dangerOf, harmlessDevice, isForkBomb } from "./dangers.ts"
import { openDisk, placeIn, type Disk } from "./disk.ts"
import { opaqueVariable } from "./environment.ts"
import { readList, type CommandLine, type CommandList } from "./lists.ts"
import { loadParsers, type Parsers } from "./parsers.ts"
import { prove, shown, type ProvedSegment } from "./prove.ts"
import { search } from "./search.ts"
import type { Seen } from "./seen.ts"

export type ShellMode = "ask" | "allowlist" | "denylist"

export interface CommandGuardOptions {
  /** The real path of the workspace. */
  readonly workspace: string
  readonly mode: ShellMode
  readonly allow: readonly CommandLine[]
  readonly deny: readonly CommandLine[]
  /** The guard for paths; it is asked about every file a command names. */
  readonly paths: Guard["look"]
  readonly realpath?: (path: string) => string | undefined
}

export interface CommandGuard extends Guard {
  /** Loads the parsers; undefined when they are there. Until then nothing can be looked at. */
  ready(): Promise<void> | undefined
}

/**
 * Looks at scripts for the shell. What can be proved by plain words is judged by them: each segment is a touch of its own.
 * For all else a person is asked, unless something that is denied can be seen in it anywhere.
 */
export function commandGuard(options: CommandGuardOptions): CommandGuard {
  const { workspace, mode, paths } = options
  const house = {
    workspace,
    mode,
    paths,
    allow: readList(options.allow),
    deny: readList(options.deny),
    deniedNames: options.deny.map(({ text }) => text.trim().split(/\s+/)[0]!),
    disk: openDisk(options.realpath),
  }
  return {
    ready: () => (parsers === undefined ? load() : undefined),
    look(touches, call) {
      const commands = touches.filter(({ kind }) => kind === "command")
      if (commands.length === 0) return nothing
      if (parsers === undefined) throw new Error("The guard for commands was asked before it was ready.")
      const looks = commands.map((touch) => lookAt(touch, house, parsers!, call))
      return looks.length === 1 ? looks[0]! : together(looks)
    },
  }
}

const nothing: GuardLook = { more: [], proved: true, findings: [] }

let parsers: Parsers | undefined
let loading: Promise<void> | undefined

/** All guards of a process share one pair of parsers. */
function load(): Promise<void> {
  loading ??= loadParsers().then(
    (loaded) => {
      parsers = loaded
    },
    (error: unknown) => {
      loading = undefined
      throw error
    },
  )
  return loading
}

interface House {
  readonly workspace: string
  readonly mode: ShellMode
  readonly paths: Guard["look"]
  readonly allow: CommandList
  readonly deny: CommandList
  readonly deniedNames: readonly string[]
  readonly disk: Disk
}

function lookAt(touch: Touch, house: House, parsers: Parsers, call: LookOptions): GuardLook {
  const folder = posix.resolve(house.workspace, touch.cwd ?? ".")
  const around = [...cwdFindings(touch, house, call), ...asksAround(touch)]
  const proof = prove(touch.what, parsers, { ...house, folder })
  const look =
    "because" in proof
      ? judgeUnproved(touch, proof.because, folder, house, parsers, call)
      : judgeProved(proof, folder, house, call)
  if (around.length === 0) return look
  return { ...look, findings: [...look.findings, ...around], covers: undefined }
}

function cwdFindings({ cwd }: Touch, { paths }: House, call: LookOptions): readonly Finding[] {
  return cwd === undefined ? [] : paths([{ kind: "read", what: cwd }], call).findings
}

function asksAround({ environment, network }: Touch): Finding[] {
  const variable = environment === undefined ? undefined : opaqueVariable(environment)
  return [
    ...(variable === undefined
      ? []
      : [asks("commands", `The variable '${variable}' is given to the command and may change what it runs or reads.`)]),
    ...(network === true
      ? [asks("commands", "The command may reach the network. Rules about hosts do not reach inside of it: it is all or nothing.")]
      : []),
  ]
}

function judgeProved(segments: readonly ProvedSegment[], folder: string, house: House, call: LookOptions): GuardLook {
  const { workspace, mode, allow, deny } = house
  const more = segments.flatMap(({ words, files }) => [
    commandTouch(words),
    ...files.map(({ kind, path }): Touch => ({ kind, what: fromWorkspace(path, workspace) })),
  ])
  const findings: Finding[] = []
  for (const { words, files } of segments) {
    const denied = denial([words], { workspace, cwd: folder }, deny)
    if (denied !== undefined) findings.push(denied)
    findings.push(...fileFindings(words, files, house, call))
  }
  const denials = findings.filter(({ says }) => says === "deny")
  if (denials.length > 0) return { more, proved: true, findings: denials }
  const lines = segments.map(({ words }) => (words[0] === "cd" ? insideCd : allow.naming(words)))
  const missing = lines.indexOf(undefined)
  if (missing !== -1 && mode === "allowlist") findings.push(notAllowed(segments[missing]!.words))
  const isCovered = findings.length === 0 && (missing === -1 || mode === "denylist")
  return { more, proved: true, findings, covers: isCovered ? coveredBy(segments, lines, mode) : undefined }
}

const insideCd: CommandLine = { text: "cd", source: "commands" }

function coveredBy(
  segments: readonly ProvedSegment[],
  lines: readonly (CommandLine | undefined)[],
  mode: ShellMode,
): Reason {
  const sources = [...new Set(lines.map((line) => line?.source ?? "tools.shell.mode"))]
  const source = sources.length > 1 ? sources.filter((one) => one !== "commands").join(", ") : sources[0]!
  const text = segments.map(({ words }) => `'${shown(words)}'`).join(", ")
  const sentence = lines.includes(undefined)
    ? `No part of it is denied, and in the mode '${mode}' that is enough: ${text}.`
    : `Every part of it is allowed by ${source}: ${text}.`
  return { voice: "guard", source, sentence }
}

/** What the guard for paths says about the files of a segment. About a guess it may only ask. */
function fileFindings(
  words: readonly string[],
  files: ProvedSegment["files"],
  { paths }: House,
  call: LookOptions,
): Finding[] {
  return files.flatMap(({ kind, path, guessed }) => {
    const network = networkDenial(path, words)
    if (network !== undefined) return [network]
    const findings = paths([{ kind, what: path }], call).findings.filter(({ says }) => says !== "allow")
    if (guessed !== true) return findings.map((finding) => within(finding, words))
    return findings.map(({ reason }) => asks(reason.source, `'${shown(words)}' may use a file: ${reason.sentence}`))
  })
}

function within(finding: Finding, words: readonly string[]): Finding {
  const { reason } = finding
  return { ...finding, reason: { ...reason, sentence: `${reason.sentence} It is named by '${shown(words)}'.` } }
}

function judgeUnproved(
  touch: Touch,
  because: string,
  folder: string,
  house: House,
  parsers: Parsers,
  call: LookOptions,
): GuardLook {
  const seen = search(touch.what, parsers)
  const commands = seen.commands.map(({ words }) => words)
  const more = [touch, ...uniqueTouches(commands.map(commandTouch))]
  const ground = { workspace: house.workspace, cwd: folder }
  const denied = isForkBomb(touch.what)
    ? dangerous("a part of it starts itself over and over", [touch.what])
    : (denial(commands, ground, house.deny) ?? writeDenial(seen, folder, house, call))
  if (denied !== undefined) return { more, proved: false, findings: [denied] }
  if (house.mode === "allowlist") {
    const missing = commands.find((words) => !/[$`*?{[]/.test(words[0]!) && words[0] !== "cd" && !house.allow.naming(words))
    if (missing !== undefined) return { more, proved: false, findings: [notAllowed(missing)] }
  }
  const word = deniedWord(touch.what, house)
  const highlight = word === undefined ? "" : ` Look at '${word}' in it, which is denied as a command.`
  const sentence = `It cannot be said for certain what this command runs, because ${because}.${highlight}`
  return { more, proved: false, findings: [asks("commands", sentence)] }
}

function denial(
  commands: readonly (readonly string[])[],
  ground: { workspace: string; cwd: string },
  deny: CommandList,
): Finding | undefined {
  for (const words of commands) {
    const danger = dangerOf(words, ground)
    if (danger !== undefined) return dangerous(danger, words)
    const line = deny.meaning(words)
    if (line !== undefined) {
      const sentence = `Command '${line.text}' is denied by ${line.source}; it is in the part '${shown(words)}'. Leave that part out, or use another tool for it.`
      return denies(line.source, sentence)
    }
  }
  return undefined
}

function dangerous(because: string, words: readonly string[]): Finding {
  const sentence = `Dangerous command detected and blocked: '${shown(words)}', because ${because}. No configuration allows it.`
  return denies("always denied", sentence)
}

/** A write to where nobody may write is denied also when the rest of the line cannot be told. */
function writeDenial({ redirects, commands }: Seen, folder: string, house: House, call: LookOptions): Finding | undefined {
  const targets = redirects.filter(({ operator }) => operator.includes(">")).map(({ target }) => target)
  for (const { words } of commands)
    if (/(?:^|\/)tee$/.test(words[0]!)) targets.push(...words.slice(1).filter((word) => !word.startsWith("-")))
  const all = [...targets, ...redirects.map(({ target }) => target)]
  for (const target of all) {
    const network = networkDenial(target, [target])
    if (network !== undefined) return network
  }
  const folders = [folder]
  for (const { words } of commands)
    if (words[0] === "cd" && words[1] !== undefined && !/[$`~]/.test(words[1])) folders.push(posix.resolve(folder, words[1]))
  for (const target of new Set(targets)) {
    const path = target.replace(/^(?:\$HOME|\$\{HOME\})(?=\/|$)/, "~")
    if (/[$`*?]/.test(path) || /^\d$|^-$/.test(path) || harmlessDevice.test(path)) continue
    for (const base of path.startsWith("~") ? [""] : folders) {
      const what = base === "" ? path : placeIn(base, path, house.disk)
      const finding = house.paths([{ kind: "write", what }], call).findings.find(({ says }) => says === "deny")
      if (finding !== undefined) return within(finding, [`> ${target}`])
    }
  }
  return undefined
}

function networkDenial(path: string, words: readonly string[]): Finding | undefined {
  if (!/^\/dev\/(?:tcp|udp)\//.test(posix.normalize(path))) return undefined
  return denies("always denied", `'${shown(words)}' opens a connection through '${path}'. Use a tool for the network.`)
}

function deniedWord(script: string, { deniedNames }: House): string | undefined {
  const plain = script.slice(0, 100_000).replace(/\\\n/g, "").replace(/["'\\]/g, "")
  return deniedNames.find((name) => {
    const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
    return new RegExp(`(?<![\\w-])${escaped}(?![\\w-])`, "i").test(plain)
  })
}

function notAllowed(words: readonly string[]): Finding {
  const sentence = `Command '${words[0]!}' is not allowed; it is in the part '${shown(words)}'. Only what tools.shell.allow names may run.`
  return denies("tools.shell.mode", sentence)
}

function denies(source: string, sentence: string): Finding {
  return { says: "deny", code: "command_denied", reason: { voice: "guard", source, sentence } }
}

function asks(source: string, sentence: string): Finding {
  return { says: "ask", reason: { voice: "guard", source, sentence, binding: true } }
}

function commandTouch(words: readonly string[]): Touch {
  return { kind: "command", what: words.join(" ") }
}

function uniqueTouches(touches: readonly Touch[]): Touch[] {
  return [...new Map(touches.slice(0, 1000).map((touch) => [touch.what, touch])).values()]
}

function fromWorkspace(path: string, workspace: string): string {
  if (path === workspace) return "."
  return path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path
}

function together(looks: readonly GuardLook[]): GuardLook {
  const covers = looks.map((look) => look.covers)
  return {
    more: looks.flatMap(({ more }) => more),
    proved: looks.every(({ proved }) => proved),
    findings: looks.flatMap(({ findings }) => findings),
    covers: covers.includes(undefined) ? undefined : covers[0],
  }
}
