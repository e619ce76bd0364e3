import { posix } from "node:path"
import type { Finding, Guard, GuardLook, LookOptions } from "../../model/guard.ts"
import type { Touch } from "../../model/rule.ts"
import { openDisk, remembering } from "./disk.ts"
import { opaqueVariable } from "./environment.ts"
import { asks } from "./findings.ts"
import type { House, ShellMode } from "./house.ts"
import { judgeProved } from "./judge-proved.ts"
import { judgeUnproved } from "./judge-unproved.ts"
import { readList, type CommandLine } from "./lists.ts"
import { loadParsers, type Parsers } from "./parsers.ts"
import { prove } from "./prove.ts"

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

function lookAt(touch: Touch, house: House, parsers: Parsers, call: LookOptions): GuardLook {
  const folder = posix.resolve(house.workspace, touch.cwd ?? ".")
  const start = lookAtFolder(touch, house, call)
  const around = [...start.findings, ...asksAround(touch)]
  const disk = remembering(house.disk)
  const proof = prove(touch.what, parsers, { ...house, disk, folder })
  const look =
    "because" in proof
      ? judgeUnproved(touch, proof.because, folder, house, parsers, call)
      : judgeProved(proof, folder, house, parsers, call)
  const more = [...look.more, ...start.more]
  if (around.length === 0) return { ...look, more }
  return { ...look, more, findings: [...look.findings, ...around], covers: undefined }
}

/** The folder a command runs in counts as read, by its name and where that leads. */
function lookAtFolder({ cwd }: Touch, { paths }: House, call: LookOptions): Pick<GuardLook, "more" | "findings"> {
  if (cwd === undefined) return nothing
  const touch: Touch = { kind: "read", what: cwd }
  const { more, findings } = paths([touch], call)
  return { more: [touch, ...more], findings }
}

function asksAround({ environment, network }: Touch): Finding[] {
  const variable = environment === undefined ? undefined : opaqueVariable(environment)
  return [
    ...(variable === undefined
      ? []
      : [asks("commands", `The variable '${variable}' is given to the command and may change what it runs or reads.`)]),
    ...(network === true
      ? [
          asks(
            "commands",
            "The command may reach the network. Rules about hosts do not reach inside of it: it is all or nothing.",
          ),
        ]
      : []),
  ]
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
