import { failure } from "../../core/ending.ts"
import type { BackgroundCommand, CommandOutput, CommandOwner } from "./process-access.ts"
import { toolRef, dialectText } from "../../core/dialect-text.ts"
import type { RunningCommand } from "./launch-command.ts"
import { BoundedText } from "./bounded-text.ts"

/** Limits of one agent's commands: running at once, and ended ones that are remembered. */
const maxPerAgent = 32
/** Characters to keep of each stream until they are read; the oldest are dropped first. */
const maxKept = 1024 * 1024

interface Entry {
  readonly id: string
  readonly command: string
  readonly owner: CommandOwner
  readonly startedAt: number
  status: BackgroundCommand["status"]
  exitCode: number | null
  exceeded?: string
  texts: { stdout: BoundedText; stderr: BoundedText }
  /** Resolves to undefined if the command could not be started. */
  readonly begun: Promise<RunningCommand | undefined>
}

/** Commands in the background. An agent sees only those of its own task. */
export class BackgroundCommands {
  readonly #entries = new Map<string, Entry>()
  #count = 0

  /** Reserves a place before the command starts, so that the limit holds. Refuses if the agent has too many. */
  reserve(
    command: string,
    owner: CommandOwner,
  ): {
    id: string
    add(stream: "stdout" | "stderr", text: string): void
    begin(running: RunningCommand): BackgroundCommand
    cancel(): void
  } {
    const theirs = [...this.#entries.values()].filter((entry) => entry.owner.agentId === owner.agentId)
    if (theirs.filter(({ status }) => status === "running").length >= maxPerAgent) {
      throw failure(
        dialectText`${maxPerAgent} commands of this agent are already running in the background. End one with ${toolRef("command_stop")} first.`,
        {
          toolCode: "too_many_commands",
        },
      )
    }
    const ended = theirs.filter(({ status }) => status !== "running")
    for (const { id } of ended.slice(0, Math.max(0, ended.length - maxPerAgent + 1))) this.#entries.delete(id)
    const id = `command-${++this.#count}`
    let begin!: (running: RunningCommand | undefined) => void
    const begun = new Promise<RunningCommand | undefined>((resolve) => (begin = resolve))
    const entry: Entry = {
      id,
      command,
      owner,
      startedAt: Date.now(),
      status: "running",
      exitCode: null,
      texts: emptyTexts(),
      begun,
    }
    this.#entries.set(id, entry)
    return {
      id,
      add: (stream, text) => entry.texts[stream].add(text),
      begin: (running) => {
        begin(running)
        void running.ended.then(({ exitCode, exceeded }) => {
          entry.exitCode = exitCode
          if (exceeded !== undefined) {
            entry.exceeded = exceeded.sentence
            entry.texts.stderr.add(`[${exceeded.sentence}]\n`)
          }
          if (entry.status === "running")
            entry.status = exitCode === 0 && exceeded === undefined ? "completed" : "failed"
        })
        return shown(entry)
      },
      cancel: () => {
        begin(undefined)
        this.#entries.delete(id)
      },
    }
  }

  output(id: string, owner: CommandOwner): BackgroundCommand & CommandOutput {
    const entry = this.#find(id, owner)
    const { stdout, stderr } = entry.texts
    entry.texts = emptyTexts()
    const printed = { stdout: stdout.text(), stderr: stderr.text() }
    return { ...shown(entry), ...printed, dropped: stdout.dropped + stderr.dropped }
  }

  async stop(id: string, owner: CommandOwner): Promise<BackgroundCommand> {
    const entry = this.#find(id, owner)
    await endEntry(entry)
    return shown(entry)
  }

  list(owner: CommandOwner): BackgroundCommand[] {
    return [...this.#entries.values()].filter((entry) => isOf(entry, owner)).map(shown)
  }

  async endAll(isTheirs: (agentId: string) => boolean = () => true): Promise<void> {
    const theirs = [...this.#entries.values()].filter(({ owner }) => isTheirs(owner.agentId))
    await Promise.all(theirs.map(endEntry))
  }

  #find(id: string, owner: CommandOwner): Entry {
    const entry = this.#entries.get(id)
    if (entry !== undefined && isOf(entry, owner)) return entry
    const ids = this.list(owner).map((command) => command.id)
    const hint = ids.length === 0 ? "No command is in the background." : `There are: ${ids.join(", ")}.`
    throw failure(`There is no command '${id}' here. ${hint}`, { toolCode: "command_not_found" })
  }
}

/** Also ends one that is still starting. */
async function endEntry(entry: Entry): Promise<void> {
  if (entry.status !== "running") return
  entry.status = "killed"
  await (await entry.begun)?.end()
}

const isOf = ({ owner }: Entry, asking: CommandOwner) =>
  owner.agentId === asking.agentId && owner.taskId === asking.taskId

const emptyTexts = () => ({
  stdout: new BoundedText({ first: 0, last: maxKept }),
  stderr: new BoundedText({ first: 0, last: maxKept }),
})

const shown = ({ id, command, startedAt, status, exitCode, exceeded }: Entry): BackgroundCommand => ({
  id,
  command,
  startedAt,
  status,
  exitCode,
  ...(exceeded === undefined ? {} : { exceeded }),
})
